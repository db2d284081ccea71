"""Whether a reference answer has the form that its task asks for."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation

from taxpraben.records.field import Field
from taxpraben.records.item import Item
from taxpraben.tasks.spec import LETTERS, TaskSpec


def answer_problem(item: Item, spec: TaskSpec) -> str:
    """Says how the answer misses its form: the letters of gold, a plain number, an object with the right fields."""
    if spec.form in ("single", "set"):
        letters = "".join(LETTERS[index] for index in item.gold if 0 <= index < len(LETTERS))
        return "" if item.answer == letters else f"{item.answer!r} is not the letters of gold, {letters!r}"
    if spec.form == "number":
        return "" if is_number(item.answer) else f"{item.answer!r} is not a plain number"
    return fields_problem(item.answer, spec.fields_of(item.fields)) if spec.form == "fields" else ""


def fields_problem(answer: str, fields: list[Field]) -> str:
    """Says which field of a structured answer is missing, empty, too much, or not of its kind."""
    try:
        found = json.loads(answer)
    except json.JSONDecodeError as error:
        return f"not JSON: {error.msg}"
    if not isinstance(found, dict):
        return "not a JSON object"
    if not fields:
        return "no fields are stated"
    names = [field.name for field in fields]
    if set(found) != set(names):
        return f"fields {list(found)} instead of {names}"
    for field in fields:
        value = str(found[field.name] if found[field.name] is not None else "").strip()
        if not value:
            return f"field {field.name!r} is empty"
        if field.kind == "number" and not is_number(value):
            return f"field {field.name!r}: {value!r} is not a plain number"
        if field.kind == "label" and value not in field.labels:
            return f"field {field.name!r}: {value!r} is not one of its labels"
    return ""


def is_number(text: str) -> bool:
    """Whether the text is a plain, finite decimal (``-72.75``)."""
    try:
        return Decimal(text.strip()).is_finite()
    except InvalidOperation:
        return False
