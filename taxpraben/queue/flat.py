"""A content as a few plain texts, as sheets and other tools show it, and back."""

from __future__ import annotations

import json
import string
from collections.abc import Mapping

from pydantic import TypeAdapter, ValidationError

from taxpraben.queue.states import QueueError
from taxpraben.records.content import Content
from taxpraben.records.field import Field

PARTS = ("text", "answer", "choices", "gold", "unit", "fields")
"""The parts of a content, as columns."""

_FIELDS = TypeAdapter(list[Field])


def flatten(content: Content) -> dict[str, str]:
    """The parts as texts: choices one a line, gold as letters, fields as JSON; what is not there is empty."""
    plain = all("\n" not in choice and choice.strip() == choice and choice for choice in content.choices)
    lists = plain and not (content.choices and content.choices[0].startswith("["))
    return {
        "text": content.text,
        "answer": content.answer,
        "choices": "\n".join(content.choices) if lists else json.dumps(content.choices, ensure_ascii=False),
        "gold": "".join(string.ascii_uppercase[index] for index in content.gold),
        "unit": content.unit,
        "fields": json.dumps([field.model_dump(mode="json") for field in content.fields], ensure_ascii=False)
        if content.fields
        else "",
    }


def rebuild(parts: Mapping[str, str], base: Content | None) -> Content:
    """A content from texts; an empty or missing one is as in ``base``.

    Raises:
        QueueError: text or answer is missing, a gold letter has no choice, or the fields are no JSON of fields.
    """
    given = {**(flatten(base) if base is not None else {}), **{name: text for name, text in parts.items() if text}}
    text, answer = given.get("text", ""), given.get("answer", "")
    if not text.strip() or not answer.strip():
        raise QueueError("a fix needs a text and an answer")
    choices = _choices(given.get("choices", ""))
    return Content(
        text=text,
        answer=answer,
        choices=choices,
        gold=_gold(given.get("gold", ""), len(choices)),
        fields=_fields(given.get("fields", "")),
        unit=given.get("unit", ""),
    )


def _choices(text: str) -> list[str]:
    if text.startswith("["):
        try:
            listed = json.loads(text)
        except json.JSONDecodeError:
            listed = None
        if isinstance(listed, list) and all(isinstance(choice, str) for choice in listed):
            return listed
    return [line.strip() for line in text.split("\n") if line.strip()]


def _gold(text: str, choices: int) -> list[int]:
    letters = [letter for letter in text.upper() if letter not in " ,，、;；"]
    found = sorted({string.ascii_uppercase.find(letter) for letter in letters})
    if any(not 0 <= index < choices for index in found):
        raise QueueError(f"gold {text!r} names a choice that is not there ({choices} choices)")
    return found


def _fields(text: str) -> list[Field]:
    if not text:
        return []
    try:
        return _FIELDS.validate_json(text)
    except ValidationError as error:
        raise QueueError(f"the fields are no JSON list of fields ({error.errors()[0]['msg']})") from None
