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
    # What is equal at both ends is most of a text in which somebody types; the matcher need not look at it.
    shorter = min(len(left), len(right))
    head = next((at for at in range(shorter) if left[at] != right[at]), shorter)
    tail = next((at for at in range(shorter - head) if left[-1 - at] != right[-1 - at]), shorter - head)
    ends = left[:head], left[len(left) - tail :]
    left, right = left[head : len(left) - tail], right[head : len(right) - tail]
    pieces = [DiffPiece("same", "".join(ends[0]))] if head else []
    for kind, start, end, start_right, end_right in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if kind == "equal":
            pieces.append(DiffPiece("same", "".join(left[start:end])))
            continue
        if end > start:
            pieces.append(DiffPiece("out", "".join(left[start:end])))
        if end_right > start_right:
            pieces.append(DiffPiece("in", "".join(right[start_right:end_right])))
    if tail:
        pieces.append(DiffPiece("same", "".join(ends[1])))
    return tuple(pieces)


def compare_fields(before: list[tuple[str, str]], after: list[tuple[str, str]]) -> list[FieldDiff]:
    """The change of each labelled text, in the order of ``after``; fields that vanished follow."""
    old, new = dict(before), dict(after)
    labels = [label for label, _ in after] + [label for label, _ in before if label not in new]
    return [
        FieldDiff(label, old.get(label, "") != new.get(label, ""), compare(old.get(label, ""), new.get(label, "")))
        for label in labels
    ]
