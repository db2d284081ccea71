"""PDF files, page by page: the text layer where it is sound, OCR where it is missing or broken."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from stages.ingest.layout import Line, PageText, Piece, Running, read_pages, without_running_heads
from stages.ingest.paper import UnreadableError

if TYPE_CHECKING:
    from stages.ingest.ocr import Reader

_BLANKS = re.compile(r"[ \t\r\n\f\v]")


@dataclass(frozen=True)
class PageReading:
    """How a page was read; see ``taxpraben.records.page.Page`` for the same of a document."""

    number: int
    read: Literal["text", "ocr", "blank"]
    why: str = ""
    confidence: float | None = None
    least: float | None = None
    turned: float = 0.0


@dataclass
class Book:
    """A PDF read.

    Attributes:
        title: as the file's own metadata give it, or empty.
        lines: in reading order over all pages, without running heads and page numbers.
        readings: of each page, in order.
        running: what was removed at the pages' edges.
        engine: what read the scanned pages.
    """

    title: str
    lines: list[Line]
    readings: list[PageReading]
    running: Running
    engine: str = ""

    @property
    def scanned(self) -> list[int]:
        """Numbers of the pages that were read by OCR, from 1."""
        return [page.number for page in self.readings if page.read == "ocr"]

    @property
    def blank(self) -> list[int]:
        """Numbers of the pages on which nothing was found, by OCR neither."""
        return [page.number for page in self.readings if page.read == "blank" or page.confidence == 0]


def read_pdf(path: Path, reader: Reader, said: Callable[[int, int], object] | None = None) -> Book:
    """Read a PDF.

    Args:
        path: the file.
        reader: the OCR reader, asked only for pages without a sound text layer.
        said: told (pages read, pages) after each page, where given.

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
        total = len(document)
        pages: dict[int, PageText] = {}
        readings: dict[int, PageReading] = {}
        doubts: dict[int, str] = {}

        def take(number: int, pieces: Iterable[Piece], reading: PageReading) -> None:
            pages[number] = PageText(number, tuple(pieces), scanned=reading.read == "ocr")
            readings[number] = reading
            if said is not None:
                said(len(pages), total)

        for number in range(1, total + 1):
            page = document[number - 1]
            pieces = list(text_layer(page))
            why = doubt(page, pieces)
            if not why:
                take(number, pieces, PageReading(number, "text"))
            elif not pieces and not _holds_image(page):
                take(number, (), PageReading(number, "blank"))
            else:
                doubts[number] = why
        images = ((number, _image_of(document[number - 1], reader.dpi)) for number in doubts)
        for number, scan in reader.read(images, len(doubts)):
            reading = PageReading(number, "ocr", doubts[number], scan.confidence, scan.least, scan.turned)
            take(number, scan.pieces, reading)
    finally:
        document.close()
    kept, running = without_running_heads([pages[number] for number in sorted(pages)])
    return Book(
        title=title,
        lines=read_pages(kept),
        readings=[readings[number] for number in sorted(readings)],
        running=running,
        engine=reader.version if doubts else "",
    )


def _image_of(page: Any, dpi: int) -> Any:
    return page.render(scale=dpi / 72).to_numpy()


def doubt(page: Any, pieces: Sequence[Piece]) -> str:
    """Why a page's text layer cannot be taken, or empty where it is sound.

    Besides what ``unsound`` finds in the text: a picture fills the page and the layer holds hardly more than its
    running head (a stamped scan).
    """
    text = "".join(piece.text for piece in pieces)
    if why := unsound(text):
        return why
    solid = re.sub(r"\s", "", text)
    if len(solid) < _STAMP and _picture_share(page) > 0.6:
        return f"a picture fills the page beside {len(solid)} characters of text"
    return ""


_STAMP = 60
"""Characters; a page-wide picture with a shorter text layer is a scan with a running head or a stamp on it."""


def unsound(text: str) -> str:
    """Why the text of a layer cannot be trusted, or empty where it can.

    Told by: private-use, control or replacement characters; accented Latin letters in rows (Chinese read as Latin-1);
    rare Chinese characters, or none of the common ones (fonts whose map is missing or shifted); one mark for all
    characters.
    """
    solid = re.sub(r"\s", "", text)
    if len(solid) < 4:
        return "no text layer"
    bad = sum(1 for char in solid if char == "\ufffd" or unicodedata.category(char) in ("Co", "Cc", "Cn", "Cs"))
    if bad > 0.05 * len(solid):
        return f"garbled text layer: {bad} of {len(solid)} characters are private or control characters"
    accented = sum(1 for char in solid if "\u0080" <= char <= "\u024f" and unicodedata.category(char)[0] == "L")
    if accented > 0.1 * len(solid):
        return f"garbled text layer: {accented} of {len(solid)} characters are accented Latin letters"
    marks = sum(solid.count(mark) for mark in "?□■◆\u25af")
    if len(solid) >= 20 and marks > 0.3 * len(solid):
        return f"garbled text layer: {marks} of {len(solid)} characters are marks for missing ones"
    letters = [char for char in solid if unicodedata.category(char)[0] == "L" and char > "\u00ff"]
    rare = sum(1 for char in letters if not _in_gb2312(char))
    if rare > 0.2 * len(letters):
        return f"garbled text layer: {rare} of {len(letters)} Chinese characters are rare ones"
    if len(letters) >= 80 and (common := sum(char in _COMMON for char in letters)) < 0.06 * len(letters):
        return f"garbled text layer: only {common} of {len(letters)} Chinese characters are common ones"
    return ""


_COMMON = frozenset(
    "的一是不了在有和人这中大为上个以于到要下用时出会可分对生能而子得自之年发后作里成所方多行公及其或与按应当下列各项"
    "单位税额收入计算纳规定企业征率产业务管理元月日销售万可正确"
)
"""Characters of which prose on any matter has one in ten, and texts on tax one in four; of characters drawn from a
shifted map, one in fifty (the 3,755 of GB 2312's first level, these among them)."""


def _in_gb2312(char: str) -> bool:
    try:
        char.encode("gb2312")
    except UnicodeEncodeError:
        return False
    return True


def _holds_image(page: Any) -> bool:
    import pypdfium2.raw as raw

    return _share(page, [raw.FPDF_PAGEOBJ_IMAGE, raw.FPDF_PAGEOBJ_FORM, raw.FPDF_PAGEOBJ_PATH]) > 0.02


def _picture_share(page: Any) -> float:
    import pypdfium2.raw as raw

    return _share(page, [raw.FPDF_PAGEOBJ_IMAGE])


def _share(page: Any, kinds: list[int]) -> float:
    """The share of the page that its largest object of these kinds covers."""
    width, height = page.get_size()
    bounds = [item.get_bounds() for item in page.get_objects(filter=kinds)]
    areas = [float((right - left) * (top - bottom)) for left, bottom, right, top in bounds]
    return max(areas, default=0.0) / float(width * height)


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
