"""What a content must satisfy to become an item of its task.

One set of rules, for the form that people fill in and for the release that is built of what they ruled.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Literal

from taxpraben.records.base import JsonObject
from taxpraben.records.content import Content
from taxpraben.records.field import Field
from taxpraben.tasks.spec import LETTERS, TaskSpec

Rule = Literal[
    "empty", "number", "label", "span", "labels", "options", "same_options", "gold", "letters", "no_fields",
    "same_fields", "json", "extra",
]  # fmt: skip

_PLAIN = re.compile(r"-?\d+(\.\d+)?", re.ASCII)
_FULL_WIDTH = str.maketrans("０１２３４５６７８９．－，", "0123456789.-,")


@dataclass(frozen=True)
class Fault:
    """One broken rule.

    Attributes:
        place: where: ``text``, ``answer``, ``choices``, ``choice_0``…, ``gold``, ``fields`` or ``field_0``… (the
            content's fields in the order of ``TaskSpec.fields_of``).
        rule: which rule.
        sentence: the same in words.
        values: the limits of the rule, where it has some.
    """

    place: str
    rule: Rule
    sentence: str
    values: Mapping[str, object] = field(default_factory=dict)


def broken_rules(content: Content, spec: TaskSpec) -> list[str]:
    """Every rule of the task that the content breaks, as sentences; empty where it may become an item."""
    return [fault.sentence for fault in faults_of(content, spec)]


def faults_of(content: Content, spec: TaskSpec) -> list[Fault]:
    """Every rule of the task that the content breaks, in reading order; empty where it may become an item."""
    faults = [] if content.text.strip() else [Fault("text", "empty", "the text is empty")]
    if spec.form in ("single", "set"):
        return [*faults, *_choice_faults(content, spec)]
    if spec.form == "fields":
        return [*faults, *_field_faults(content, spec)]
    if not content.answer.strip():
        return [*faults, Fault("answer", "empty", "the answer is empty")]
    if spec.form == "number" and plain_number(content.answer) != content.answer:
        return [*faults, Fault("answer", "number", f"the answer {content.answer!r} is not a plain number")]
    if spec.form == "span" and content.answer.strip() not in content.text:
        return [*faults, Fault("answer", "span", "the answer does not stand word for word in the text")]
    return faults


def plain_number(text: str) -> str | None:
    """A number as plain decimal text (full-width digits and thousands marks taken out), or None where it is none."""
    plain = text.strip().translate(_FULL_WIDTH).replace(",", "")
    return plain if _PLAIN.fullmatch(plain) else None


def answer_object(content: Content) -> JsonObject:
    """The answer of a task with fields, by field name; empty where it is no JSON object."""
    try:
        answer = json.loads(content.answer)
    except json.JSONDecodeError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _choice_faults(content: Content, spec: TaskSpec) -> Iterator[Fault]:
    if spec.labels and content.choices != spec.labels:
        yield Fault("choices", "labels", "the choices are not the task's labels")
    if spec.options and len(content.choices) != spec.options:
        yield Fault("choices", "options", f"{len(content.choices)} options instead of {spec.options}")
    normal = [choice.strip() for choice in content.choices]
    for place, choice in enumerate(normal):
        if not choice:
            yield Fault(f"choice_{place}", "empty", f"option {LETTERS[place % len(LETTERS)]} is empty")
        elif choice in normal[:place]:
            yield Fault(f"choice_{place}", "same_options", f"two options have the same text {choice!r}")
    low, high = spec.gold_size
    if not low <= len(content.gold) <= high:
        sentence = f"{len(content.gold)} right options instead of {low} to {high}"
        yield Fault("gold", "gold", sentence, {"low": low, "high": high})
    if any(not 0 <= index < len(content.choices) for index in content.gold):
        yield Fault("gold", "letters", f"gold {content.gold} points outside the {len(content.choices)} options")
    elif content.answer != "".join(LETTERS[index] for index in content.gold):
        yield Fault("gold", "letters", f"the answer {content.answer!r} is not the letters of gold {content.gold}")
    if content.gold != sorted(set(content.gold)):
        yield Fault("gold", "letters", f"gold {content.gold} is not ascending without repeats")


def _field_faults(content: Content, spec: TaskSpec) -> Iterator[Fault]:
    fields = spec.fields_of(content.fields)
    names = [each.name for each in fields]
    if not fields:
        yield Fault("fields", "no_fields", "the item brings no fields")
        return
    try:
        answer = json.loads(content.answer)
    except json.JSONDecodeError as error:
        yield Fault("answer", "json", f"the answer is not JSON ({error.msg})")
        return
    if not isinstance(answer, dict):
        yield Fault("answer", "json", "the answer is not a JSON object")
        return
    for place, each in enumerate(fields):
        if each.name in names[:place]:
            yield Fault(f"field_{place}", "same_fields", f"two fields are called {each.name!r}")
        elif (fault := _field_fault(answer.get(each.name), each)) is not None:
            rule, words = fault
            yield Fault(f"field_{place}", rule, f"field {each.name!r}: {words}")
    for name in answer:
        if name not in names:
            yield Fault("answer", "extra", f"field {name!r} is not asked for")


def _field_fault(value: object, of: Field) -> tuple[Rule, str] | None:
    if value is None or not str(value).strip():
        return "empty", "empty"
    if of.kind == "number" and not _is_number(value):
        return "number", f"{value!r} is not a plain number"
    if of.kind == "label" and value not in of.labels:
        return "label", f"{value!r} is not one of its labels"
    return None


def _is_number(value: object) -> bool:
    if isinstance(value, str):
        return plain_number(value) == value
    try:
        # A JSON number may be written with an exponent; what it says is a number all the same.
        return not isinstance(value, bool) and Decimal(str(value)).is_finite()
    except InvalidOperation:
        return False
