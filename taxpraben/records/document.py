"""One fetched and cleaned text with its provenance, and what could not be taken."""

from __future__ import annotations

from typing import ClassVar, Literal

from taxpraben.records.base import JsonObject, Part, Record

Pipeline = Literal["books", "official", "sites"]
DocumentKind = Literal[
    "exam_book", "casebook", "statute", "official", "verdict", "news", "risk", "inspect", "board", "opinion"
]
PartKind = Literal["question", "case", "article", "section", "facts", "exchange", "body"]


class DocumentPart(Part):
    """A structural unit of a document, in reading order.

    Attributes:
        kind: what the unit is: an exam question, a planning case, an article of a statute, a titled section,
            the facts found of a verdict, a question with its official answer, or the body.
        label: its number or heading as printed, unique within the document (for example 第三条, 单选1, 案例2).
        text: its text without the label.
        start: offset of ``text`` in the document's text, in code points; -1 where it is not contiguous there.
        page: page number from 1 for paged sources, 0 otherwise.
        data: what the parser found definite, by kind: question -> stem, options, answer, unit, explanation;
            case -> scenario, before, plan, conclusion; facts -> articles, charge; exchange -> question, answer.
    """

    kind: PartKind
    label: str
    text: str
    start: int = -1
    page: int = 0
    data: JsonObject = {}


class Document(Record):
    """A cleaned text. ``document_id`` depends on source and origin only, so that a corrected text keeps its id.

    Attributes:
        published, effective, amended, repealed: dates (ISO) that the text or its page states; empty where it does not.
            ``amended`` is the last amendment that the text contains, and so names its version.
    """

    NAME: ClassVar[str] = "document"
    VERSION: ClassVar[int] = 1
    KEY: ClassVar[tuple[str, ...]] = ("document_id",)

    document_id: str
    pipeline: Pipeline
    kind: DocumentKind
    source: str
    origin: str
    title: str
    text: str
    parts: list[DocumentPart]
    summary: str = ""
    category: str = ""
    publisher: str = ""
    number: str = ""
    published: str = ""
    effective: str = ""
    amended: str = ""
    repealed: str = ""
    masked: JsonObject = {}
    flags: list[str] = []
    digest: str

    @property
    def applies_from(self) -> str:
        """The day from which the text as it stands here has applied: of effect, or of the last amendment if later."""
        return max(self.effective, self.amended) if self.effective else ""


class Quarantined(Record):
    """What could not be taken in, with its cause and what to do about it."""

    NAME: ClassVar[str] = "quarantined"
    VERSION: ClassVar[int] = 1
    KEY: ClassVar[tuple[str, ...]] = ("source", "origin", "where", "cause")

    source: str
    origin: str
    where: str
    cause: str
    remedy: str
    excerpt: str = ""
