"""The release as the paper prints it (Table 5, appendix C.4): one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable

from taxpraben.records.item import Item
from taxpraben.tasks.spec import LETTERS, TaskSpec


def paper_row(item: Item, spec: TaskSpec) -> dict[str, object]:
    """``id``, ``query`` (the prompt), ``text``, ``answer``; for choices also ``choices`` (letters) and ``gold``.

    ``gold`` is an index where one option is right by the task's form, and a list of indices where several may be:
    the paper's single integer cannot hold a gold of two articles (TaxCrime). ``id`` is the item's stable id.
    """
    row: dict[str, object] = {"id": item.item_id, "query": item.query, "text": item.text, "answer": item.answer}
    if spec.form in ("single", "set"):
        row["choices"] = list(LETTERS[: len(item.choices)])
        row["gold"] = item.gold[0] if spec.form == "single" and len(item.gold) == 1 else item.gold
    return row


def json_lines(rows: Iterable[dict[str, object]]) -> bytes:
    """Rows as JSON lines, UTF-8 without a byte-order mark, keys in the given order."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
