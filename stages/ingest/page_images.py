"""Pictures of book pages for review: of pages read by OCR, and of pages on which something waits for a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from taxpraben.records.base import revise, write_records
from taxpraben.records.document import Document
from taxpraben.records.page import INDEX, Page, image_name, pages_of

if TYPE_CHECKING:
    from stages.ingest.outcome import Place
    from stages.ingest.pdf import Book

DPI = 110
"""Resolution of the pictures: every stroke can be read, some 100 kB a page."""


def page_rows(place: Place, book: Book) -> list[Page]:
    """A row for each page of a PDF; scanned pages of books are to have their picture.

    Official documents have none, since their pages may show personal data that masking takes out of the text.
    """
    return [
        Page(
            document_id=place.document_id,
            page=reading.number,
            origin=place.origin,
            read=reading.read,
            why=reading.why,
            engine=book.engine if reading.read == "ocr" else "",
            confidence=reading.confidence,
            least=reading.least,
            turned=reading.turned,
            removed=book.running.removed.get(reading.number, []),
            image=_image(place, reading.number) if reading.read == "ocr" else "",
        )
        for reading in book.readings
    ]


def _image(place: Place, page: int) -> str:
    return image_name(place.document_id, page) if place.pipeline == "books" else ""


def with_review_images(pages: Sequence[Page], documents: Iterable[Document]) -> list[Page]:
    """The rows, with a picture also for the pages of parts that wait for review (``data["fault"]``)."""
    wanted = {
        (document.document_id, page)
        for document in documents
        for part in document.parts
        if part.data.get("fault")
        for page in pages_of(document, part.label)
    }
    return [
        revise(row, image=image_name(row.document_id, row.page)) if (row.document_id, row.page) in wanted else row
        for row in pages
    ]


def write_pages(folder: Path, pages: Sequence[Page], sources: Path) -> int:
    """Write the index and the pictures of a pages folder; pictures that no row names any more are removed.

    Args:
        folder: the pages folder.
        pages: the rows, in any order.
        sources: where the PDFs lie (the sources folder, or the one file).

    Returns:
        How many pictures there are.
    """
    import pypdfium2

    by_file: dict[str, list[Page]] = {}
    for row in pages:
        if row.image:
            by_file.setdefault(row.origin, []).append(row)
    for origin, rows in by_file.items():
        document = pypdfium2.PdfDocument(sources if sources.is_file() else sources / origin)
        try:
            for row in rows:
                picture = document[row.page - 1].render(scale=DPI / 72, grayscale=True).to_pil()
                file = folder / row.image
                file.parent.mkdir(parents=True, exist_ok=True)
                picture.quantize(16).save(file, "PNG", optimize=True)
        finally:
            document.close()
    named = {folder / row.image for row in pages if row.image}
    for file in folder.glob("doc-*/*.png"):
        if file not in named:
            file.unlink()
    write_records(folder / INDEX, Page, pages)
    return len(named)
