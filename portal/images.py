"""Pictures of book pages beside a draft that was read from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from taxpraben.queue.pieces import Piece
from taxpraben.records.page import INDEX, Page, image_of, read_pages


@dataclass(frozen=True)
class PageImage:
    """A picture of a page: its number, its address, and what is known of how it was read (English terms of the reader).

    Attributes:
        read: ``text``, ``ocr`` or ``blank``.
        confidence: of the reading, 0 to 1; None for text.
    """

    number: int
    address: str
    read: str
    confidence: float | None


NEIGHBOURS = 1
"""Pages after the part's own that are offered: a question may run over the page's end."""


def images_of(folder: Path, piece: Piece) -> list[PageImage]:
    """The pictures of the pages on which a piece's part may stand, in order; empty where none is kept."""
    first = piece.excerpt.page
    if first < 1:
        return []
    pages = _index(folder)
    found: list[PageImage] = []
    for number in range(first, first + NEIGHBOURS + 1):
        page = pages.get((piece.document_id, number))
        if page is not None and page.image:
            found.append(PageImage(number, f"/pages/{page.document_id}/{number}.png", page.read, page.confidence))
    return found


def find_image(folder: Path, document_id: str, number: int) -> Path | None:
    """The picture's file; None where none is kept. Only what the index names is ever opened."""
    page = _index(folder).get((document_id, number))
    return image_of(folder, page) if page is not None else None


def _index(folder: Path) -> dict[tuple[str, int], Page]:
    index = folder / INDEX
    return _read(folder, index.stat().st_mtime_ns) if index.exists() else {}


@lru_cache(maxsize=2)
def _read(folder: Path, _changed_at: int) -> dict[tuple[str, int], Page]:
    return read_pages(folder)
