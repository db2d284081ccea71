"""What a fix changed in a draft, as pieces of text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

_TOKEN = re.compile(r"[A-Za-z]+|[0-9][0-9.,]*%?|\s+|.", re.DOTALL)

LONG = 3000
"""Above so many tokens, sentences are compared instead of characters."""

_SENTENCE = re.compile(r"[^。！？；\n]*[。！？；\n]?")


@dataclass(frozen=True)
class DiffPiece:
    """A stretch of text that stayed, was taken out, or was put in."""

    kind: Literal["same", "out", "in"]
    text: str


@dataclass(frozen=True)
class FieldDiff:
    """One field's change; ``changed`` is false where both are equal."""

    label: str
    changed: bool
    pieces: tuple[DiffPiece, ...]


def compare(before: str, after: str) -> tuple[DiffPiece, ...]:
    """The pieces from ``before`` to ``after``, in reading order.

    Characters are compared one by one, but numbers and Latin words stay whole, so that a changed sum reads as one.
    The pieces that are not ``in`` join to ``before``, those that are not ``out`` to ``after``.
    """
    left, right = _TOKEN.findall(before), _TOKEN.findall(after)
    if max(len(left), len(right)) > LONG:
        left = [part for part in _SENTENCE.findall(before) if part]
        right = [part for part in _SENTENCE.findall(after) if part]
    pieces: list[DiffPiece] = []
    for kind, start, end, start_right, end_right in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(DiffPiece("same", "".join(left[start:end])))
            continue
        if end > start:
            pieces.append(DiffPiece("out", "".join(left[start:end])))
        if end_right > start_right:
            pieces.append(DiffPiece("in", "".join(right[start_right:end_right])))
    return tuple(pieces)


def compare_fields(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> list[FieldDiff]:
    """The change of each labelled text, in the order of ``after``; fields that vanished follow."""
    old, new = dict(before), dict(after)
    labels = [label for label, _ in after] + [label for label, _ in before if label not in new]
    return [
        FieldDiff(label, old.get(label, "") != new.get(label, ""), compare(old.get(label, ""), new.get(label, "")))
        for label in labels
    ]
