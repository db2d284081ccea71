"""What of a document is shown beside a draft, with the evidence marked. Offsets count code points."""

from __future__ import annotations

from taxpraben.records.base import Part
from taxpraben.records.document import Document, DocumentPart
from taxpraben.records.draft import Draft, Span

LONGEST = 6000
"""Most code points of a document that are kept for the page."""

AROUND = 400
"""Code points shown before the part, when the document is longer than ``LONGEST``."""


class Excerpt(Part):
    """A stretch of a document.

    Attributes:
        title: the document's title.
        text: the stretch; ``cut_before`` and ``cut_after`` say whether the document goes on.
        marks: pairs of offsets into ``text`` (code points, end exclusive), ascending and not overlapping.
        page: page number in a paged source, 0 otherwise.
        flags: what ingest noted about the document.
    """

    title: str
    text: str
    marks: list[tuple[int, int]] = []
    cut_before: bool = False
    cut_after: bool = False
    page: int = 0
    flags: list[str] = []

    def pieces(self) -> list[tuple[str, bool]]:
        """The text in pieces, each with whether it is marked; joined they are the text."""
        found: list[tuple[str, bool]] = []
        at = 0
        for start, end in self.marks:
            if start > at:
                found.append((self.text[at:start], False))
            found.append((self.text[start:end], True))
            at = end
        if at < len(self.text):
            found.append((self.text[at:], False))
        return found


def cut_excerpt(draft: Draft, document: Document | None) -> Excerpt:
    """The stretch that a reviewer needs: the draft's part and its evidence, within ``LONGEST`` code points.

    A part that does not stand in the document's text in one piece (a question joined over pages) is shown by itself.
    Without the document, the evidence alone is shown.
    """
    if document is None:
        text = "\n".join(span.text for span in draft.evidence)
        return Excerpt(title="", text=text[:LONGEST], marks=[(0, min(len(text), LONGEST))] if text else [])
    part = next((part for part in document.parts if part.label == draft.slot), None)
    if part is not None and part.start < 0:
        return _of_part(draft, document, part)
    if len(document.text) <= LONGEST:
        start, end = 0, len(document.text)
    else:
        start, end = _window(draft, document, part)
    marks = [(span.start - start, span.end - start) for span in _rooted(draft.evidence, document.text)]
    return Excerpt(
        title=document.title,
        text=document.text[start:end],
        marks=_tidy(marks, end - start),
        cut_before=start > 0,
        cut_after=end < len(document.text),
        page=part.page if part else 0,
        flags=document.flags,
    )


def _of_part(draft: Draft, document: Document, part: DocumentPart) -> Excerpt:
    text = part.text[:LONGEST]
    marks = [(at, at + len(span.text)) for span in draft.evidence if span.text and (at := text.find(span.text)) >= 0]
    return Excerpt(
        title=document.title,
        text=text,
        marks=_tidy(marks, len(text)),
        cut_after=len(part.text) > LONGEST,
        page=part.page,
        flags=document.flags,
    )


def _window(draft: Draft, document: Document, part: DocumentPart | None) -> tuple[int, int]:
    first = part.start if part is not None else min((span.start for span in draft.evidence), default=0)
    start = max(0, first - AROUND)
    return start, min(len(document.text), start + LONGEST)


def _rooted(evidence: list[Span], text: str) -> list[Span]:
    """Evidence that stands where it says; a span whose offsets went stale is looked up by its text."""
    rooted: list[Span] = []
    for span in evidence:
        if text[span.start : span.end] == span.text:
            rooted.append(span)
        elif span.text and (at := text.find(span.text)) >= 0:
            rooted.append(Span(start=at, end=at + len(span.text), text=span.text))
    return rooted


def _tidy(marks: list[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    tidy: list[tuple[int, int]] = []
    for start, end in sorted((max(0, start), min(length, end)) for start, end in marks):
        if start >= end:
            continue
        if tidy and start <= tidy[-1][1]:
            tidy[-1] = (tidy[-1][0], max(end, tidy[-1][1]))
        else:
            tidy.append((start, end))
    return tidy
