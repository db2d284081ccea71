"""How a page of a book was read, and where its picture is kept for whoever judges what was made of it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from taxpraben.records.base import Record, read_records
from taxpraben.records.document import Document


class Page(Record):
    """One page of a PDF.

    Attributes:
        page: from 1; ``DocumentPart.page`` counts the same.
        origin: the PDF, relative to the sources folder.
        read: from the text layer, by OCR, or found blank.
        why: why the text layer was not taken; empty where it was.
        engine: what read the page; empty for text.
        confidence: of OCR, 0 to 1, the mean over the lines weighted by their characters; None for text.
        least: of the least confident line that was taken.
        turned: degrees by which the scan was turned back, clockwise positive.
        removed: running heads and page numbers taken out, as printed.
        image: the picture, relative to the pages folder (``doc-…/0007.png``); empty where none is kept.
    """

    NAME: ClassVar[str] = "page"
    VERSION: ClassVar[int] = 1
    KEY: ClassVar[tuple[str, ...]] = ("document_id", "page")

    document_id: str
    page: int
    origin: str
    read: Literal["text", "ocr", "blank"]
    why: str = ""
    engine: str = ""
    confidence: float | None = None
    least: float | None = None
    turned: float = 0.0
    removed: list[str] = []
    image: str = ""


INDEX = "pages.parquet"
"""The index of a pages folder; the pictures lie in folders beside it."""


def image_name(document_id: str, page: int) -> str:
    """Where a page's picture lies, relative to the pages folder."""
    return f"{document_id}/{page:04d}.png"


def read_pages(folder: Path) -> dict[tuple[str, int], Page]:
    """The pages of a pages folder by document and number; none where the folder has no index.

    Raises:
        RecordFileError: the index is of another version or damaged.
    """
    index = folder / INDEX
    return {(row.document_id, row.page): row for row in read_records(index, Page)} if index.exists() else {}


def pages_of(document: Document, slot: str) -> list[int]:
    """The pages on which a draft's part may stand: from its own to the one where the next part starts.

    Args:
        document: the draft's.
        slot: the draft's: a part's label, or ``all`` for the whole document.

    Returns:
        Ascending; empty for a document without pages and for a slot that it does not have.
    """
    paged = [part for part in document.parts if part.page > 0]
    if slot == "all":
        return sorted({part.page for part in paged})
    for place, part in enumerate(paged):
        if part.label == slot:
            following = paged[place + 1].page if place + 1 < len(paged) else part.page
            # Leftovers of keys stand behind the questions with earlier pages; a part rarely fills more than three.
            return list(range(part.page, min(max(part.page, following), part.page + 2) + 1))
    return []


def image_of(folder: Path, page: Page) -> Path | None:
    """The page's picture; None where none is kept or its file is gone. Never a file outside the folder."""
    file = folder / image_name(page.document_id, page.page)
    inside = file.resolve().is_relative_to(folder.resolve())
    return file if page.image and inside and file.is_file() else None
