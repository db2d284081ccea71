"""Which parser reads a file: one function a name that params.yaml may use."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from stages.ingest.article_table import read_article_table
from stages.ingest.board_table import read_board_table
from stages.ingest.casebook import read_casebook
from stages.ingest.decoding import decode
from stages.ingest.exam_book import read_exam_book
from stages.ingest.exam_table import read_exam_table
from stages.ingest.layout import paragraphs
from stages.ingest.masking import take_out
from stages.ingest.ocr import Reader
from stages.ingest.official import read_official
from stages.ingest.opinion_posts import read_opinion_export
from stages.ingest.outcome import Harvest, Place
from stages.ingest.page_images import page_rows, with_review_images
from stages.ingest.paper import Paper, UnreadableError, read_paper
from stages.ingest.params import SourceParams
from stages.ingest.party_names import party_pseudonyms
from stages.ingest.pdf import Book, read_pdf
from stages.ingest.statutes import has_articles, read_statute
from stages.ingest.verdicts import read_verdict


class UnknownParserError(ValueError):
    """A parser name that is none of ours."""


@dataclass
class Desk:
    """A file on the desk, with what its parser may need.

    Attributes:
        said: told (page, pages) while a PDF is read.
    """

    place: Place
    path: Path
    source: SourceParams
    reader: Reader
    said: Callable[[int, int], object] | None = None

    @property
    def suffix(self) -> str:
        """The file's suffix in lower case, with its dot."""
        return self.path.suffix.lower()

    @property
    def data(self) -> bytes:
        """The file's bytes."""
        return self.path.read_bytes()

    def book(self, harvest: Harvest) -> Book:
        """The file as a PDF, with what was removed and read by OCR counted in the harvest."""
        if self.suffix != ".pdf":
            raise UnreadableError(f"a book is a PDF, not {self.suffix or 'a file without suffix'}")
        book = read_pdf(self.path, self.reader, self.said)
        harvest.notes["pages read"] += len(book.readings)
        harvest.notes["pages read by OCR"] += len(book.scanned)
        harvest.notes["running heads removed"] += sum(book.running.heads.values())
        harvest.notes["page numbers removed"] += book.running.numbers
        harvest.pages += page_rows(self.place, book)
        for page in book.blank:
            if page in book.scanned:
                harvest.set_aside(
                    self.place, f"page {page}", "OCR found no text on the page", "look at the page; scan it again"
                )
        return book

    def paper(self, harvest: Harvest) -> Paper:
        """The file as an official document, in any of its formats."""
        if self.suffix == ".pdf":
            book = self.book(harvest)
            joined = [line.text for line in paragraphs(book.lines)]
            paper = Paper(joined[0] if joined else book.title, joined[1:] if joined else [])
        else:
            paper = read_paper(self.data, self.suffix)
        if self.source.publisher:
            paper.about.setdefault("publisher", self.source.publisher)
        paper.title = paper.title or self.path.stem
        return paper


def _exam_book(desk: Desk) -> Harvest:
    harvest = Harvest()
    book = desk.book(harvest)
    harvest.add(read_exam_book(desk.place, book.title or desk.path.stem, book.lines))
    harvest.pages = with_review_images(harvest.pages, harvest.documents)
    return harvest


def _casebook(desk: Desk) -> Harvest:
    harvest = Harvest()
    book = desk.book(harvest)
    harvest.add(read_casebook(desk.place, book.title or desk.path.stem, book.lines))
    harvest.pages = with_review_images(harvest.pages, harvest.documents)
    return harvest


def _exam_table(desk: Desk) -> Harvest:
    return read_exam_table(desk.place, desk.data, desk.suffix, desk.path.stem, desk.source.questions)


def _official(desk: Desk) -> Harvest:
    harvest = Harvest()
    paper = desk.paper(harvest)
    read = read_statute if has_articles(paper) else read_official
    harvest.add(read(desk.place, paper))
    return harvest


def _statute(desk: Desk) -> Harvest:
    harvest = Harvest()
    harvest.add(read_statute(desk.place, desk.paper(harvest)))
    return harvest


def _verdict(desk: Desk) -> Harvest:
    return masked_verdict(desk.place, decode(desk.data))


def masked_verdict(place: Place, text: str) -> Harvest:
    """A verdict's record as a document, its parties masked: the record names them."""
    harvest, record = read_verdict(place, text)
    masked = []
    for document in harvest.documents:
        whole = f"{document.title}\n{document.text}"
        names = party_pseudonyms(whole, record.sections.get("parties", ""), record.parties)
        clean, harvest.taken[document.document_id] = take_out(document, names)
        masked.append(clean)
    harvest.documents = masked
    return harvest


def _board_table(desk: Desk) -> Harvest:
    return read_board_table(desk.place, desk.data, desk.suffix, desk.source.publisher)


def _article_table(desk: Desk) -> Harvest:
    kind = desk.source.sections.get("*", "news")
    if kind == "skip":
        raise ValueError("an article table needs its kind: sections: {'*': inspect}")
    return read_article_table(desk.place, desk.data, desk.suffix, kind, desk.source.publisher)


def _opinion_export(desk: Desk) -> Harvest:
    return read_opinion_export(desk.place, desk.data, desk.suffix, desk.source.publisher)


PARSERS: dict[str, Callable[[Desk], Harvest]] = {
    "exam_book": _exam_book,
    "exam_table": _exam_table,
    "casebook": _casebook,
    "official": _official,
    "statute": _statute,
    "verdict": _verdict,
    "board_table": _board_table,
    "article_table": _article_table,
    "opinion_export": _opinion_export,
}
SITE = "site"


def find_parser(name: str) -> Callable[[Desk], Harvest]:
    """The parser of that name.

    Raises:
        UnknownParserError: there is none; the message suggests the nearest.
    """
    if name not in PARSERS:
        close = difflib.get_close_matches(name, [*PARSERS, SITE], n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join([*PARSERS, SITE])}"
        raise UnknownParserError(f"Unknown parser {name!r} in params.yaml (ingest.sources); {hint}")
    return PARSERS[name]
