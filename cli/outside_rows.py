"""Outputs from anywhere: rows with a gold answer, raw or already read, into pairs that metrics can score."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError, field_validator

from taxpraben.metrics import Pair
from taxpraben.metrics.base import Compared
from taxpraben.reading import Form, read_answer
from taxpraben.records.answer import AnswerStatus
from taxpraben.records.field import Field
from taxpraben.records.reading import ReadingStatus
from taxpraben.records.score import Protocol
from taxpraben.tasks.spec import LETTERS

DEFAULT_METRICS: dict[Form, tuple[str, ...]] = {
    "single": ("accuracy", "weighted_f1", "macro_f1", "mcc"),
    "set": ("exact_match", "weighted_f1", "macro_f1"),
    "number": ("exact_match",),
    "span": ("exact_match",),
    "text": ("rouge_l", "chrf"),
    "fields": ("exact_match", "rouge_l"),
}
"""What is computed where nothing is chosen; for fields: numbers and labels by the first, texts by the second."""
_COMPARED: dict[Form, Compared] = {
    "single": "letters", "set": "letters", "number": "number", "span": "span", "text": "text",
}  # fmt: skip


class OutsideRowsError(ValueError):
    """A file of outputs that cannot be scored; the message names the file, the line and the remedy."""


class OutsideRow(BaseModel):
    """One output of another harness with its gold answer; other keys are passed over.

    Attributes:
        id: names the item; with several runs of it, ``run`` tells them apart.
        task: rows of one task are counted together; without it, rows of one form are.
        form: single, set, number, span, text or fields; taken from the gold where it is missing.
        options: letters (``"ABCD"``) or option texts by letter.
        fields: the fields of a structured answer.
        unit, question: see ``read_answer``.
        text: the raw answer; read first, unless the row has a ``value`` already.
        status, value, method: what ``taxpraben read`` gave; of a raw one, ``status`` is the call's (``length``).
        gold: letters (text or list), a number, a text, or an object of field name to value.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    run: int = 0
    task: str = ""
    form: Form | None = None
    options: str | dict[str, str] = ""
    fields: list[Field] = []
    unit: str = ""
    question: str = ""
    text: str | None = None
    status: str = ""
    value: JsonValue = None
    method: str | None = None
    gold: JsonValue

    @field_validator("id", mode="before")
    @classmethod
    def _id_as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int) else value

    @field_validator("fields", mode="before")
    @classmethod
    def _fields_with_a_kind(cls, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        named = [{"name": one} if isinstance(one, str) else one for one in value]
        return [{"kind": "text", **one} if isinstance(one, dict) else one for one in named]


@dataclass(frozen=True)
class Said:
    """A row after reading.

    Attributes:
        line: where it stands in the file.
        group: its task, or its form where no task is named.
        pairs: by protocol, what is compared: field name (empty for a whole answer) and pair. Protocol ``strict`` is
            missing where the rows do not say how they were read.
    """

    line: int
    item: str
    group: str
    form: Form
    letters: str
    status: ReadingStatus
    pairs: Mapping[Protocol, Sequence[tuple[str, Pair]]]


def read_rows(path: Path, golds: Path | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a file with their line numbers; a byte-order mark and blank lines are passed over.

    Args:
        path: the outputs.
        golds: a second file whose keys (gold, form, options, …) complete the rows by ``id``.

    Raises:
        OutsideRowsError: a file is missing, a line is no object, or a row's id is not among the golds.
    """
    known = {} if golds is None else {str(row.get("id")): row for _, row in _objects(golds)}
    for line, row in _objects(path):
        if golds is None:
            yield line, row
        elif str(row.get("id")) in known:
            yield line, {**known[str(row["id"])], **row}
        else:
            raise OutsideRowsError(f"{path}, line {line}: id {row.get('id')!r} is not in {golds}; add its gold there")


def _objects(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    if not path.is_file():
        raise OutsideRowsError(f"{path}: no such file; give a file of JSON lines")
    for line, text in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if not text.strip():
            continue
        try:
            # Figures as written: equality is judged at the precision that the gold shows.
            row = json.loads(text, parse_float=Decimal)
        except ValueError as error:
            raise OutsideRowsError(f"{path}, line {line}: not JSON ({error}); mend or remove the line") from error
        if not isinstance(row, dict):
            raise OutsideRowsError(f"{path}, line {line}: not a JSON object; each line is one row")
        yield line, _figures_as_text(row)


def _figures_as_text(value: Any) -> Any:
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, dict):
        return {key: _figures_as_text(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_figures_as_text(one) for one in value]
    return value


def read_outside(rows: Iterable[tuple[int, dict[str, Any]]], path: Path) -> list[Said]:
    """Rows after reading, in their order.

    Args:
        rows: line numbers and JSON objects.
        path: their file, for messages.

    Raises:
        OutsideRowsError: a row lacks its gold, has a malformed one, or occurs twice.
    """
    found: list[Said] = []
    seen: dict[tuple[str, str, int], int] = {}
    for line, raw in rows:
        if "gold" not in raw:
            raise OutsideRowsError(f"{path}, line {line}: no 'gold'; add it to the row, or give a file with --gold")
        try:
            row = OutsideRow.model_validate(raw)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(step) for step in first["loc"])
            raise OutsideRowsError(f"{path}, line {line}: {where!r}: {first['msg']}") from error
        said = _said(row, line, path)
        key = (said.group, row.id, row.run)
        if key in seen:
            raise OutsideRowsError(
                f"{path}, line {line}: id {row.id!r} stands on line {seen[key]} already; give repeated runs a 'run'"
            )
        seen[key] = line
        found.append(said)
    return found


def _said(row: OutsideRow, line: int, path: Path) -> Said:
    is_read = "value" in row.model_fields_set
    if not is_read and row.text is None:
        raise OutsideRowsError(f"{path}, line {line}: has neither 'text' (a raw answer) nor 'value' (a read one)")
    form = row.form or _form_of(row)
    letters = "".join(row.options) if form in ("single", "set") else ""
    values: dict[Protocol, JsonValue] = {}
    if is_read:
        known: dict[str, ReadingStatus] = {name: name for name in get_args(ReadingStatus)}
        status = known.get(row.status, "unread" if row.value is None else "read")
        value = row.value if status == "read" else None
        if row.method is not None:
            values["strict"] = value if row.method == "strict" else None
        values["aligned"] = value
    else:
        calls: dict[str, AnswerStatus] = {name: name for name in get_args(AnswerStatus)}
        choices = tuple(row.options.values()) if isinstance(row.options, dict) else ()
        result = read_answer(
            form, row.text or "", letters=letters or LETTERS, choices=choices, fields=row.fields, unit=row.unit,
            question=row.question, status=calls.get(row.status, "ok"),
        )  # fmt: skip
        status = result.status
        values = {"strict": result.strict_value, "aligned": result.value}
    try:
        pairs = {protocol: list(_pairs(row, form, letters, value)) for protocol, value in values.items()}
    except OutsideRowsError as error:
        raise OutsideRowsError(f"{path}, line {line}: {error}") from error
    return Said(line, row.id, row.task or form, form, letters, status, pairs)


def _form_of(row: OutsideRow) -> Form:
    """The form that the gold has, for rows that do not say."""
    if isinstance(row.gold, dict):
        return "fields"
    if isinstance(row.gold, list):
        return "set"
    gold = _text(row.gold) or ""
    if row.options or (gold and all(letter in LETTERS for letter in gold) and list(gold) == sorted(set(gold))):
        return "single" if len(gold) == 1 else "set"
    return "number" if _is_number(gold) else "span"


def _pairs(row: OutsideRow, form: Form, letters: str, value: JsonValue) -> Iterator[tuple[str, Pair]]:
    if form != "fields":
        yield "", _pair(form, letters, row.gold, value)
        return
    if not isinstance(row.gold, dict):
        raise OutsideRowsError("the gold of form 'fields' is an object of field name to value")
    values = value if isinstance(value, dict) else {}
    kinds = {field.name: field.kind for field in row.fields}
    for name, gold in row.gold.items():
        wanted = _text(gold)
        if not wanted:
            continue
        kind: Compared = kinds.get(name) or ("number" if _is_number(wanted) else "text")
        yield name, Pair(reference=wanted, candidate=_text(values.get(name)), compared=kind)


def _pair(form: Form, letters: str, gold: JsonValue, value: JsonValue) -> Pair:
    if form in ("single", "set"):
        right = _letters(gold)
        if not right or (letters and not set(right) <= set(letters)):
            raise OutsideRowsError(f"gold {gold!r} is none of the letters {letters or LETTERS}")
        picked = _letters(value)
        # A letter that is no option is no answer, and never a class of its own.
        legal = picked if picked and (not letters or set(picked) <= set(letters)) else None
        return Pair(reference=right, candidate=legal, compared="letters")
    wanted = _text(gold)
    if not wanted:
        raise OutsideRowsError(f"gold {gold!r} is empty or no single value")
    return Pair(reference=wanted, candidate=_text(value), compared=_COMPARED[form])


def _letters(value: JsonValue) -> str:
    """Sorted letters of ``"AC"``, ``"A,C"`` or ``["A", "C"]``; empty where it is none of these."""
    parts = value if isinstance(value, list) else [value]
    said = "".join(part for part in parts if isinstance(part, str))
    for mark in ",、， ;；":
        said = said.replace(mark, "")
    return "".join(sorted(set(said))) if said and all(letter in LETTERS for letter in said) else ""


def _text(value: JsonValue) -> str | None:
    if isinstance(value, bool) or value is None or isinstance(value, list | dict):
        return None
    return str(value).strip()


def _is_number(text: str) -> bool:
    try:
        return Decimal(text.replace(",", "")).is_finite()
    except InvalidOperation:
        return False
