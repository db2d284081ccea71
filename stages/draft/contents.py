"""A slot's variables become the content of a draft: text, answer, choices, gold, fields."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from pydantic import JsonValue

from stages.draft.slots import Variables
from stages.draft.templates import NothingToFillError, as_text, fill
from taxpraben.records.content import Content
from taxpraben.records.field import Field
from taxpraben.tasks.spec import LETTERS, TaskSpec

_NUMBER = re.compile(
    r"([-－+]?\d+(?:[,，]\d{3})*(?:\.\d+)?)\s*"
    r"([%％‰]|[万亿]?元|[万亿]|倍|年|个月|月|天|人|户|次|平方米|吨)?"
)
_LETTERS = re.compile(r"[A-Z](?:[\s,，、;；.]*[A-Z])*")
_SUFFIX = re.compile(r"之[一二三四五六七八九十]+$")


class UnusableError(ValueError):
    """Variables that make no valid content; the message says which."""


def make_content(spec: TaskSpec, variables: Variables) -> Content:
    """The content that a task's templates make of the variables.

    Raises:
        NothingToFillError: the source does not give what a template needs.
        UnusableError: gold is none of the options, or fields are missing.
    """
    drafting = spec.drafting
    text = fill(drafting.text, variables)
    if spec.form == "fields":
        fields, answer = _fields(spec, variables)
        return Content(text=text, answer=answer, fields=fields)
    if drafting.gold:
        choices = _choices(spec, variables)
        gold = find_gold(_needed(drafting.gold, variables), choices)
        return Content(text=text, answer="".join(LETTERS[place] for place in gold), choices=choices, gold=gold)
    unit = as_text(variables.get(drafting.unit_of)) if drafting.unit_of else ""
    return Content(text=text, answer=fill(drafting.answer, variables), unit=unit)


def find_gold(value: JsonValue, choices: list[str]) -> list[int]:
    """The places of the right options, ascending.

    Args:
        value: letters (``"AC"``, ``"A,C"``), an option's text, or a list of such, of which those that are no option
            are passed over; an article of the law also matches the option that has its number without ``之一``.
        choices: option texts in order.

    Raises:
        UnusableError: a letter or text belongs to no option; of a list, none does.
    """
    if isinstance(value, list):
        # A verdict cites many articles, and only those among the options are asked for.
        found = {place for element in value for place in _places(element, choices)}
        if not found:
            raise UnusableError(f"none of {', '.join(map(as_text, value))} is among the {len(choices)} options")
        return sorted(found)
    places = _places(value, choices)
    if not places:
        raise UnusableError(f"the answer {as_text(value)!r} is none of the {len(choices)} options")
    return places


def _places(value: JsonValue, choices: list[str]) -> list[int]:
    text = as_text(value)
    if text in choices:
        return [choices.index(text)]
    if _LETTERS.fullmatch(text):
        places = {LETTERS.find(letter) for letter in text if letter in LETTERS}
        if all(place < len(choices) for place in places):
            return sorted(places)
    bare = _SUFFIX.sub("", text)
    for place, choice in enumerate(choices):
        if bare and (choice.endswith(bare) or bare.endswith(choice)):
            return [place]
    return []


def _choices(spec: TaskSpec, variables: Variables) -> list[str]:
    if spec.drafting.choices == "labels":
        return list(spec.labels)
    options = _needed(spec.drafting.choices, variables)
    if not isinstance(options, list):
        raise UnusableError(f"{spec.drafting.choices!r} is no list of options")
    return [as_text(option) for option in options]


def _needed(name: str, variables: Variables) -> JsonValue:
    value = variables.get(name)
    if not as_text(value):
        raise NothingToFillError(name)
    return value


def _fields(spec: TaskSpec, variables: Variables) -> tuple[list[Field], str]:
    """The item's own fields (empty where the task states them) and the answer as JSON, in field order."""
    if not spec.fields_from_item:
        answer = {field.name: as_text(variables.get(field.name)) for field in spec.fields}
        missing = [name for name, value in answer.items() if not value]
        if missing:
            raise UnusableError(f"no value for {', '.join(missing)}")
        return [], json.dumps(answer, ensure_ascii=False)
    found = _needed(spec.drafting.fields, variables)
    if not isinstance(found, dict):
        raise UnusableError(f"{spec.drafting.fields!r} is no object")
    return own_fields(found)


def own_fields(found: Mapping[str, JsonValue]) -> tuple[list[Field], str]:
    """Fields and answer of an object whose keys are the fields: a value that is a number makes a number field.

    A unit behind the number goes into the field, a percent sign too (the prompt asks for bare numbers).

    Raises:
        UnusableError: nothing is left.
    """
    fields: list[Field] = []
    answer: dict[str, str | int | float] = {}
    for name, value in found.items():
        text = as_text(value)
        if not text:
            continue
        number = _NUMBER.fullmatch(text)
        if number:
            digits = number[1].replace(",", "").replace("，", "").replace("－", "-").removeprefix("+")
            answer[name] = float(digits) if "." in digits else int(digits)
            fields.append(Field(name=name, kind="number", unit=(number[2] or "").replace("％", "%")))
        else:
            answer[name] = text
            fields.append(Field(name=name, kind="text"))
    if not fields:
        raise UnusableError("the reply has no field with a value")
    return fields, json.dumps(answer, ensure_ascii=False)
