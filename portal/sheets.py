"""CSV that no spreadsheet program takes for formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from taxpraben.records.decision import Decision
from taxpraben.tasks.rules import plain_number

_STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")

DECISION_COLUMNS = (
    "task",
    "draft_id",
    "verdict",
    "text",
    "choices",
    "answer",
    "unit",
    "reason",
    "annotator",
    "checker",
    "round",
    "decided_at",
)


def safe_cell(text: str) -> str:
    """A text that stays text: what begins like a formula gets an apostrophe before it; plain numbers do not."""
    return f"'{text}" if text.lstrip().startswith(_STARTS) and plain_number(text) != text else text


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A table as CSV in UTF-8 with a byte-order mark, without which Excel takes Chinese for something else."""
    written = io.StringIO(newline="")
    writer = csv.writer(written)
    writer.writerow(columns)
    for row in rows:
        writer.writerow([safe_cell(str(cell)) for cell in row])
    return written.getvalue().encode("utf-8-sig")


def decisions_as_csv(decisions: Iterable[Decision]) -> bytes:
    """Decisions, a row each, in the order given; options on lines of their own within their cell."""
    return as_csv(DECISION_COLUMNS, (_row(decision) for decision in decisions))


def _row(decision: Decision) -> list[object]:
    content = decision.content
    return [
        decision.task,
        decision.draft_id,
        decision.verdict,
        content.text if content else "",
        "\n".join(content.choices) if content else "",
        content.answer if content else "",
        content.unit if content else "",
        decision.reason,
        decision.annotator,
        decision.checker,
        decision.round,
        decision.decided_at,
    ]
