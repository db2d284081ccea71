"""What a model, or a parser of a definite answer, proposes as an item."""

from __future__ import annotations

from typing import ClassVar, Literal

from taxpraben.records.base import Part, Record
from taxpraben.records.content import Content


class Span(Part):
    """A stretch of the document's text, in code points: ``document.text[start:end] == text``."""

    start: int
    end: int
    text: str


class Draft(Record):
    """A proposed item. ``draft_id`` depends on task, document and slot, never on what the drafter said.

    Attributes:
        slot: which unit of the document it was made from (the part's label, or ``all``).
        method: ``parsed`` where the source gives the answer, ``model`` where a model proposed it.
        status: ``failed`` where one repair did not help (``error`` says why; content is None); ``filtered``
            where a filter step found the document off topic.
        evidence: the spans of the document that the draft rests on.
        prompt: the drafting prompt's name and version; empty for parsed drafts.
        requests: the request hashes of the model calls, in order.
    """

    NAME: ClassVar[str] = "draft"
    VERSION: ClassVar[int] = 1
    KEY: ClassVar[tuple[str, ...]] = ("task", "draft_id")

    draft_id: str
    task: str
    document_id: str
    origin: str
    slot: str
    method: Literal["parsed", "model"]
    status: Literal["drafted", "failed", "filtered"]
    content: Content | None
    evidence: list[Span] = []
    prompt: str = ""
    model: str = ""
    requests: list[str] = []
    error: str = ""
    effective: str = ""
    repealed: str = ""
