"""What a content must satisfy to become an item of its task; a broken rule is said in words."""

from __future__ import annotations

import json
from decimal import Decimal, InvalidOperation

from taxpraben.records.content import Content
from taxpraben.records.field import Field
from taxpraben.tasks.spec import LETTERS, TaskSpec


def broken_rules(content: Content, spec: TaskSpec) -> list[str]:
    """Every rule of the task that the content breaks, as sentences; empty where it may become an item."""
    faults = []
    if not content.text.strip():
        faults.append("the text is empty")
    if spec.form in ("single", "set"):
        faults += _choice_faults(content, spec)
    elif spec.form == "fields":
        faults += _field_faults(content, spec)
    elif not content.answer.strip():
        faults.append("the answer is empty")
    elif spec.form == "number" and not _is_number(content.answer):
        faults.append(f"the answer {content.answer!r} is not a plain number")
    return faults


def _choice_faults(content: Content, spec: TaskSpec) -> list[str]:
    faults = []
    if spec.labels and content.choices != spec.labels:
        faults.append("the choices are not the task's labels")
    if spec.options and len(content.choices) != spec.options:
        faults.append(f"{len(content.choices)} options instead of {spec.options}")
    normal = [choice.strip() for choice in content.choices]
    equal = sorted({choice for choice in normal if normal.count(choice) > 1})
    if equal:
        faults.append(f"two options have the same text {equal[0]!r}")
    low, high = spec.gold_size
    if not low <= len(content.gold) <= high:
        faults.append(f"{len(content.gold)} right options instead of {low} to {high}")
    if any(not 0 <= index < len(content.choices) for index in content.gold):
        faults.append(f"gold {content.gold} points outside the {len(content.choices)} options")
    elif content.answer != "".join(LETTERS[index] for index in content.gold):
        faults.append(f"the answer {content.answer!r} is not the letters of gold {content.gold}")
    if content.gold != sorted(set(content.gold)):
        faults.append(f"gold {content.gold} is not ascending without repeats")
    return faults


def _field_faults(content: Content, spec: TaskSpec) -> list[str]:
    fields = spec.fields_of(content.fields)
    if not fields:
        return ["the item brings no fields"]
    try:
        answer = json.loads(content.answer)
    except json.JSONDecodeError as error:
        return [f"the answer is not JSON ({error.msg})"]
    if not isinstance(answer, dict):
        return ["the answer is not a JSON object"]
    faults = [f"field {field.name!r}: {fault}" for field in fields if (fault := _field_fault(answer, field))]
    extra = [name for name in answer if name not in {field.name for field in fields}]
    return faults + [f"field {name!r} is not asked for" for name in extra]


def _field_fault(answer: dict[str, object], field: Field) -> str:
    value = answer.get(field.name)
    if value is None or not str(value).strip():
        return "empty"
    if field.kind == "number" and not _is_number(str(value)):
        return f"{value!r} is not a plain number"
    if field.kind == "label" and value not in field.labels:
        return f"{value!r} is not one of its labels"
    return ""


def _is_number(text: str) -> bool:
    try:
        return Decimal(text).is_finite()
    except InvalidOperation:
        return False
