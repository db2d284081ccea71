"""PDF files, page by page: the text layer where it is sound, OCR where it is missing or broken."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stages.ingest.layout import Line, PageText, Piece, Running, read_page, without_running_heads
from stages.ingest.paper import UnreadableError

if TYPE_CHECKING:
    from stages.ingest.ocr import Reader

_BLANKS = re.compile(r"[ \t\r\n\f\v]")


@dataclass
class Book:
    """A PDF read.

    Attributes:
        title: as the file's own metadata give it, or empty.
        lines: in reading order over all pages, without running heads and page numbers.
        scanned: numbers of the pages that were read by OCR, from 1.
        blank: numbers of the pages on which nothing was found.
        running: what was removed at the pages' edges.
    """

    title: str
    lines: list[Line]
    pages: int
    scanned: list[int] = field(default_factory=list)
    blank: list[int] = field(default_factory=list)
    running: Running | None = None


def read_pdf(path: Path, reader: Reader, said: Callable[[int, int], object] | None = None) -> Book:
    """Read a PDF.

    Args:
        path: the file.
        reader: the OCR reader, asked only for pages without a sound text layer.
        said: told (page, pages) after each page, where given.

    Raises:
        UnreadableError: pdfium cannot open the file.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise UnreadableError(f"not a readable PDF ({error}); a locked file needs its password removed") from error
    try:
        title = str(document.get_metadata_dict().get("Title", "")).strip()
        pages = []
        for number in range(len(document)):
            pages.append(_page(document[number], number + 1, reader))
            if said is not None:
                said(number + 1, len(document))
    finally:
        document.close()
    kept, running = without_running_heads(pages)
    return Book(
        title=title,
        lines=[line for page in kept for line in read_page(page)],
        pages=len(pages),
        scanned=[page.number for page in pages if page.scanned],
        blank=[page.number for page in pages if not page.pieces],
        running=running,
    )


def _page(page: Any, number: int, reader: Reader) -> PageText:
    pieces = list(text_layer(page))
    if sound("".join(piece.text for piece in pieces)):
        return PageText(number, tuple(pieces), scanned=False)
    if not pieces and not _holds_image(page):
        return PageText(number, (), scanned=False)
    return PageText(number, tuple(reader.read(page)), scanned=True)


def sound(text: str) -> bool:
    """Whether a text layer can be trusted: some text, hardly any private-use, control or replacement characters,
    and Chinese of the common kind (fonts without a map give rare characters or Latin noise).
    """  # noqa: D205
    solid = re.sub(r"\s", "", text)
    if len(solid) < 4:
        return False
    bad = sum(1 for char in solid if char == "\ufffd" or unicodedata.category(char) in ("Co", "Cc", "Cn", "Cs"))
    if bad > 0.05 * len(solid):
        return False
    letters = [char for char in solid if unicodedata.category(char)[0] == "L" and char > "\u00ff"]
    common = sum(1 for char in letters if _in_gb2312(char))
    accented = sum(1 for char in solid if "\u0080" <= char <= "\u024f" and unicodedata.category(char)[0] == "L")
    return accented <= 0.1 * len(solid) and (not letters or common >= 0.8 * len(letters))


def _in_gb2312(char: str) -> bool:
    try:
        char.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


def _holds_image(page: Any) -> bool:
    import pypdfium2.raw as raw

    width, height = page.get_size()
    for item in page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM, raw.FPDF_PAGEOBJ_PATH]):
        left, bottom, right, top = item.get_bounds()
        if (right - left) * (top - bottom) > 0.02 * width * height:
            return True
    return False


def text_layer(page: Any) -> Iterator[Piece]:
    """The pieces of a page's text layer, in the order of the file; parted at line ends and at gaps wider than an em."""
    import pypdfium2.raw as raw

    width, height = page.get_size()
    text = page.get_textpage()
    chars: list[str] = []
    box = (0.0, 0.0, 0.0, 0.0)

    def piece() -> Piece | None:
        word = "".join(chars).strip()
        left, bottom, right, top = box
        return Piece(word, left / width, 1 - top / height, right / width, 1 - bottom / height) if word else None

    for index in range(text.count_chars()):
        code = raw.FPDFText_GetUnicode(text, index)
        char = chr(code)
        if code in (0, 0xFFFE) or _BLANKS.match(char):
            if chars and char == " ":
                chars.append(" ")
            continue
        left, bottom, right, top = text.get_charbox(index, loose=True)
        em = max(top - bottom, 1.0)
        if chars:
            same_row = abs((top + bottom) / 2 - (box[1] + box[3]) / 2) < 0.5 * em
            if not same_row or left < box[0] or left - box[2] > 0.9 * em:
                if (done := piece()) is not None:
                    yield done
                chars = []
        if not chars:
            box = (left, bottom, right, top)
        box = (min(box[0], left), min(box[1], bottom), max(box[2], right), max(box[3], top))
        chars.append(char)
    if (done := piece()) is not None:
        yield done
