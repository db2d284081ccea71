"""A slot's variables become the content of a draft: text, answer, choices, gold, fields."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal

from pydantic import JsonValue

from stages.draft.slots import Variables
from stages.draft.templates import NothingToFillError, as_figure, as_text, fill
from taxpraben.records.content import Content
from taxpraben.records.field import Field
from taxpraben.tasks.spec import LETTERS, TaskSpec

_NUMBER = re.compile(
    r"([-－+]?\d+(?:[,，]\d{3})*(?:\.\d+)?)\s*"
    r"([%％‰]|[万亿]?元|[万亿]|倍|年|个月|月|天|人|户|次|平方米|吨)?"
)
_LONGEST_NUMBER = 30  # characters; a longer row of digits is a code, and a text
_LETTERS = re.compile(r"[A-Z](?:[,、;.]*[A-Z])*")
_ARTICLE = re.compile(
    r"(?P<law>.*)(?P<number>第[〇零一二两三四五六七八九十百千\d]+条)(?P<insert>之[一二三四五六七八九十]+)?"
)


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

    Width and white space do not count. An article (``第…条`` alone or behind a law's name) matches the option that has
    it of the same law, an article alone that of any law; with its ``之一``, or without where no option has it so.

    Args:
        value: letters (``"AC"``, ``"A,C"``), an option's whole text, or a list of such; in a list, articles that are
            no option are passed over.
        choices: option texts in order.

    Raises:
        UnusableError: a letter or text belongs to no option, or a text to several; of a list of articles, none
            belongs to one.
    """
    found: set[int] = set()
    for element in value if isinstance(value, list) else [value]:
        text = as_text(element)
        places = _places(text, choices)
        # A verdict cites many articles, and only those among the options are asked for.
        passed_over = isinstance(value, list) and _ARTICLE.fullmatch(_narrow(text))
        if not places and not passed_over:
            raise UnusableError(f"the answer {text!r} is none of the {len(choices)} options")
        found.update(places)
    if not found:
        raise UnusableError(f"none of {as_text(value)} is among the {len(choices)} options")
    return sorted(found)


def _places(text: str, choices: list[str]) -> list[int]:
    """Where the text's options are; none where one of its letters has no option."""
    if text in choices:
        return [choices.index(text)]
    narrow = _narrow(text)
    options = [_narrow(choice) for choice in choices]
    if _LETTERS.fullmatch(narrow) and narrow not in options:
        letters = {LETTERS.index(letter) for letter in narrow if letter in LETTERS}
        return list(letters) if max(letters) < len(choices) else []
    places = [place for place, option in enumerate(options) if option == narrow] or _articles(narrow, options)
    if len(places) > 1:
        raise UnusableError(f"the answer {text!r} is {len(places)} of the {len(choices)} options")
    return places


def _narrow(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split())


def _articles(text: str, options: list[str]) -> list[int]:
    article = _ARTICLE.fullmatch(text)
    if not article:
        return []
    for insert in (article["insert"], None):
        places = [
            place
            for place, option in enumerate(options)
            if (other := _ARTICLE.fullmatch(option))
            and (other["number"], other["insert"]) == (article["number"], insert)
            and _law(article["law"]) in ("", _law(other["law"]))
        ]
        if places:
            return places
    return []


def _law(name: str) -> str:
    return name.removeprefix("《").removesuffix("》").removeprefix("中华人民共和国")


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

    A unit behind the number goes into the field, a percent sign too (the prompt asks for bare numbers). Numbers keep
    all their digits in the answer and have no exponent.

    Raises:
        UnusableError: nothing is left.
    """
    fields: list[Field] = []
    answer: list[str] = []
    for name, value in found.items():
        text = as_text(value)
        if not text:
            continue
        number = _NUMBER.fullmatch(text)
        if number and len(number[1]) <= _LONGEST_NUMBER:
            written = as_figure(Decimal(number[1].replace(",", "").replace("，", "").replace("－", "-")))
            fields.append(Field(name=name, kind="number", unit=(number[2] or "").replace("％", "%")))
        else:
            written = json.dumps(text, ensure_ascii=False)
            fields.append(Field(name=name, kind="text"))
        # By hand, since json.dumps would make floats of numbers with many digits.
        answer.append(f"{json.dumps(name, ensure_ascii=False)}: {written}")
    if not fields:
        raise UnusableError("the reply has no field with a value")
    return fields, f"{{{', '.join(answer)}}}"
