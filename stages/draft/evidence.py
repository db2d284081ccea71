"""Where in its document a draft's content stands."""

from __future__ import annotations

import json
import re

from stages.draft.slots import Slot
from taxpraben.records.content import Content
from taxpraben.records.draft import Span

SHORTEST = 8
"""Shorter pieces of an answer are found by chance."""

_PIECE = re.compile(r"[^。！？!?；;\n]+")


def find_evidence(slot: Slot, content: Content) -> list[Span]:
    """The spans of the document that a draft rests on, in text order, none twice.

    The part that it was made from, where that is one stretch of the text; and the answer, or its sentences and
    clauses, as far as they stand in the text word for word.
    """
    text = slot.document.text
    spans = set()
    if slot.part is not None and slot.part.text:
        spans |= _find(text, slot.part.text, slot.part.start)
    for value in _answers(slot, content):
        whole = _find(text, value) if len(value) > 1 else set()
        spans |= whole or {span for piece in _pieces(value) for span in _find(text, piece)}
    return [Span(start=start, end=end, text=text[start:end]) for start, end in sorted(spans)]


def _find(text: str, wanted: str, hint: int = -1) -> set[tuple[int, int]]:
    start = hint if hint >= 0 and text.startswith(wanted, hint) else text.find(wanted)
    return {(start, start + len(wanted))} if start >= 0 else set()


def _answers(slot: Slot, content: Content) -> list[str]:
    if content.gold:
        return []  # letters stand nowhere; the part that they were read from does
    if slot.spec.form != "fields":
        return [content.answer]  # a text, though it may look like JSON
    found = json.loads(content.answer, parse_float=str)
    return [str(value) for value in found.values()]


def _pieces(value: str) -> list[str]:
    return [piece.strip() for piece in _PIECE.findall(value) if len(piece.strip()) >= SHORTEST]
