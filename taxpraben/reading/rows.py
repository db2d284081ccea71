"""Rows of another harness's outputs: what a line has to say so that its answer can be read, and what is said of it.

A row is ``{"id", "form", "options", "fields", "unit", "question", "text"}``; only ``id``, ``form``, ``text`` and what
the form needs must be there. Any other key (``gold``, ``model``) is passed over: a reader never sees it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError, field_validator, model_validator

from taxpraben.reading.asked import Asked, ReadResult
from taxpraben.records.answer import AnswerStatus
from taxpraben.records.field import Field

ROW = '{"id": "q1", "form": "single", "options": "ABCD", "text": "答案：B"}'


class RowField(Field):
    """A field of a row: ``name`` is enough; ``kind`` is text where it is not said."""

    kind: Literal["text", "number", "label"] = "text"


class OutputRow(BaseModel):
    """One answer of any model to any question, as a line of JSON.

    Attributes:
        id: given back as it is; several rows may share one.
        form: single, set, number, span or fields.
        options: ``"ABCD"``, or letters with their texts (then a text instead of a letter can be read).
        fields: name, kind, unit, aliases, labels of each field.
        unit: the unit of a number.
        question: the question, without gold; tells restated figures and questions for what is wrong.
        prompt: all that was sent, where it is known; tells an echo from an answer.
        text: the answer, raw.
        status: the answer's own status, where it is known (``length`` for a cut one).
    """

    model_config = ConfigDict(frozen=True, extra="ignore", coerce_numbers_to_str=False)

    id: str | int
    form: Literal["single", "set", "number", "span", "fields"]
    options: str | dict[str, str] = ""
    fields: list[RowField] = []
    unit: str = ""
    question: str = ""
    prompt: str = ""
    text: str
    status: AnswerStatus = "ok"

    @field_validator("text", "unit", "question", "prompt", mode="before")
    @classmethod
    def _null_is_empty(cls, value: Any) -> Any:
        return "" if value is None else value

    @field_validator("options", mode="after")
    @classmethod
    def _letters(cls, options: str | dict[str, str]) -> str | dict[str, str]:
        letters = [letter.strip().upper() for letter in options]
        wrong = [letter for letter in letters if len(letter) != 1 or not "A" <= letter <= "Z"]
        if wrong or len(set(letters)) < len(letters):
            raise ValueError(f'must be letters such as "ABCD", or {{"A": "text", …}}, each once, not {options!r}')
        return "".join(letters) if isinstance(options, str) else dict(zip(letters, options.values(), strict=True))

    @model_validator(mode="after")
    def _has_what_its_form_needs(self) -> OutputRow:
        if self.form in ("single", "set") and not self.options:
            raise ValueError(f'the form {self.form} needs options, such as "ABCD"')
        if self.form == "fields" and not self.fields:
            raise ValueError('the form fields needs fields, such as [{"name": "税额", "kind": "number", "unit": "元"}]')
        return self

    @property
    def asked(self) -> Asked:
        """What the row asks its answer to be read as."""
        letters = "".join(sorted(self.options))
        texts = self.options if isinstance(self.options, dict) else {}
        return Asked(
            form=self.form,
            letters=letters,
            choices=tuple(texts[letter] for letter in letters) if texts else (),
            fields=tuple(self.fields),
            unit=self.unit,
            question=self.question,
            prompt=self.prompt or self.question,
        )


@dataclass(frozen=True)
class BadRow:
    """A line that is no row.

    Attributes:
        number: its place in the file, from 1.
        id: its id where it has one.
        problem: file, row, what is wrong and the remedy.
    """

    number: int
    id: str | int | None
    problem: str


def iter_rows(path: Path) -> Iterator[OutputRow | BadRow]:
    """The rows of a file of JSON lines, in order; a byte-order mark and blank lines are passed over.

    Raises:
        OSError: the file cannot be opened.
    """
    with path.open(encoding="utf-8-sig", errors="replace", newline="\n") as stream:
        for number, line in enumerate(stream, start=1):
            if line.strip():
                yield _row(path, number, line)


def _row(path: Path, number: int, line: str) -> OutputRow | BadRow:
    where = f"{path}, row {number}"
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError) as error:
        return BadRow(number, None, f"{where}: no JSON ({error}); write one object a line, such as {ROW}")
    if not isinstance(raw, dict):
        return BadRow(number, None, f"{where}: {type(raw).__name__} instead of an object; write for example {ROW}")
    try:
        return OutputRow.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(step) for step in first["loc"] if step not in ("str", "int", "dict[str,str]"))
        said = first["msg"].removeprefix("Value error, ")
        remedy = f"; add {key!r}, as in {ROW}" if first["type"] == "missing" else ""
        found = raw.get("id")
        return BadRow(
            number,
            found if isinstance(found, str | int) else None,
            f"{where}: {key + ': ' if key else ''}{said}{remedy}",
        )


def reading_row(row: OutputRow | BadRow, result: ReadResult | None) -> dict[str, Any]:
    """The line that goes out for a row: id, status, value, method, evidence, flags, reason.

    ``value`` is a string of sorted letters, a number, a text, or an object of field name to text or number; null where
    nothing was read. A bad row has the status ``reader_error`` and its problem as the reason.
    """
    if result is None or isinstance(row, BadRow):
        problem = row.problem if isinstance(row, BadRow) else "it was not read"
        return _line(row.id, "reader_error", None, "", "", ["bad_row"], problem)
    value: JsonValue = result.value
    if row.form == "number":
        value = _number(value)
    elif isinstance(value, dict):
        numbers = {field.name for field in row.fields if field.kind == "number"}
        value = {name: _number(each) if name in numbers else each for name, each in value.items()}
    return _line(row.id, result.status, value, result.method, result.evidence, list(result.flags), result.reason)


def _line(
    key: str | int | None, status: str, value: JsonValue, method: str, evidence: str, flags: list[str], reason: str
) -> dict[str, Any]:
    return {
        "id": key,
        "status": status,
        "value": value,
        "method": method,
        "evidence": evidence,
        "flags": flags,
        "reason": reason,
    }


def _number(value: JsonValue) -> JsonValue:
    if not isinstance(value, str):
        return value
    number = Decimal(value)
    return int(number) if number == number.to_integral_value() else float(number)
