"""What reading a source gives: documents, what could not be taken, and counts of what was set aside on the way."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from taxpraben.records.base import revise
from taxpraben.records.document import Document, DocumentKind, DocumentPart, Pipeline, Quarantined
from taxpraben.records.page import Page

RETRY = "taxpraben sources retry"


@dataclass(frozen=True)
class Place:
    """Where a document comes from; ``document_id`` depends on source and origin only."""

    source: str
    pipeline: Pipeline
    origin: str

    @property
    def document_id(self) -> str:
        """``doc-`` and twelve hex digits."""
        return "doc-" + hashlib.sha256(f"{self.source}|{self.origin}".encode()).hexdigest()[:12]

    def inside(self, suffix: str) -> Place:
        """A place in this one, for files that hold many documents (``file.csv#12``)."""
        return Place(self.source, self.pipeline, f"{self.origin}#{suffix}")


@dataclass(frozen=True)
class Taken:
    """Something taken out of a document's text.

    Attributes:
        start: where its token stands in the masked text, in code points.
        token: what stands there now.
        surface: what stood there.
    """

    start: int
    token: str
    surface: str


@dataclass
class Harvest:
    """What one file or one crawl gave.

    Attributes:
        notes: counts of what was set aside or changed on the way (running heads removed, filler lines dropped …).
        taken: by document id, what masking took out of its text.
        pages: how each page of a PDF was read; ``image`` is set where its picture is to be kept.
    """

    documents: list[Document] = field(default_factory=list)
    quarantined: list[Quarantined] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)
    taken: dict[str, list[Taken]] = field(default_factory=dict)
    pages: list[Page] = field(default_factory=list)

    def add(self, other: Harvest) -> None:
        """Take in another harvest."""
        self.documents += other.documents
        self.quarantined += other.quarantined
        self.notes.update(other.notes)
        self.taken.update(other.taken)
        self.pages += other.pages

    def set_aside(self, place: Place, where: str, cause: str, remedy: str = "", excerpt: str = "") -> None:
        """Quarantine something, with its cause and what to do about it."""
        row = quarantined(place.source, place.origin, where, cause, remedy, excerpt)
        if all(row.key != other.key for other in self.quarantined):
            self.quarantined.append(row)


def quarantined(source: str, origin: str, where: str, cause: str, remedy: str = "", excerpt: str = "") -> Quarantined:
    """A quarantined row; the remedy ends with the command that tries again."""
    remedy = f"{remedy.rstrip('. ')}; then run: {RETRY}" if remedy else f"mend the source, then run: {RETRY}"
    return Quarantined(
        source=source, origin=origin, where=where, cause=cause, remedy=remedy, excerpt=excerpt.strip()[:200]
    )


def new_document(
    place: Place, kind: DocumentKind, title: str, text: str, parts: Iterable[DocumentPart], **more: Any
) -> Document:
    """A document with its parts placed in the text and its digest set; ``more`` are further columns of the record."""
    document = Document(
        document_id=place.document_id,
        pipeline=place.pipeline,
        kind=kind,
        source=place.source,
        origin=place.origin,
        title=title,
        text=text,
        parts=list(parts),
        digest="",
        **more,
    )
    return settle(document)


def settle(document: Document, **changes: Any) -> Document:
    """The document with ``changes``, unique part labels, offsets found again and a fresh digest."""
    text = changes.get("text", document.text)
    parts = place_parts(text, unique_labels(changes.pop("parts", document.parts)))
    changed = revise(document, **changes, parts=parts, digest="")
    return revise(changed, digest=hashlib.sha256(changed.model_dump_json().encode()).hexdigest()[:16])


def unique_labels(parts: Iterable[DocumentPart]) -> list[DocumentPart]:
    """The parts with a repeated label told apart: ``第三条``, ``第三条（2）``."""
    seen: Counter[str] = Counter()
    out = []
    for part in parts:
        seen[part.label] += 1
        again = f"{part.label}（{seen[part.label]}）" if seen[part.label] > 1 else part.label
        out.append(part.model_copy(update={"label": again}))
    return out


def place_parts(text: str, parts: Iterable[DocumentPart]) -> list[DocumentPart]:
    """The parts with ``start`` set to the code point where their text stands, searched in reading order; else -1."""
    out = []
    cursor = 0
    for part in parts:
        start = -1
        if part.text:
            labelled = text.find(part.label, cursor)
            if labelled >= 0:
                near = text.find(part.text, labelled + len(part.label))
                # The label names the text only where it stands right before it (a head and at most a few marks).
                start = near if 0 <= near - labelled - len(part.label) <= 4 else -1
            if start < 0:
                start = text.find(part.text, cursor)
        if start >= 0:
            cursor = start + len(part.text)
        out.append(part.model_copy(update={"start": start}))
    return out
