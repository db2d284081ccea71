"""Pieces of text on a page, put in reading order: two columns, rows, running heads, wrapped lines.

Places are shares of the page, x from the left and y from the top, both 0 to 1.
"""

from __future__ import annotations

import itertools
import math
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

_PAGE_NUMBER = re.compile(
    # OCR reads the dashes around a number as 一.
    r"[\W_一]*(?:第\s*)?(?:\d{1,4}|[ivxlc]{1,6})(?:\s*页)?(?:[\W_]*(?:共|/)?\s*\d{1,4}\s*页?)?[\W_一]*"
)
_EDGE = 0.12  # running heads and page numbers stand in the outer eighth of a page
_OPENS_TEXT = re.compile(r"#[.．、]|[（(\[]?[A-MＡ-Ｍ][)）.．、]|【")  # a question, an option, an answer: never a head
_GAP = "\u3000"  # between pieces of one row


@dataclass(frozen=True)
class Piece:
    """A stretch of text without a wide gap inside."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def middle(self) -> float:
        """The height at which it stands."""
        return (self.y0 + self.y1) / 2


@dataclass(frozen=True)
class Line:
    """A printed line in reading order.

    Attributes:
        page: from 1.
        full: whether it reaches the right edge of its column, so that the next line may go on with its sentence.
        indented: whether it starts to the right of its column's edge.
        scanned: whether it was read by OCR.
    """

    text: str
    page: int
    full: bool = False
    indented: bool = False
    scanned: bool = False


@dataclass(frozen=True)
class PageText:
    """A page's pieces, with where they came from."""

    number: int
    pieces: tuple[Piece, ...]
    scanned: bool


@dataclass
class Running:
    """What stands at the edges of pages and is no part of the text.

    Attributes:
        heads: counts by text, digits shown as #.
        numbers: how many page numbers.
        removed: by page, what was taken out of it, as printed.
    """

    heads: Counter[str] = field(default_factory=Counter)
    numbers: int = 0
    removed: dict[int, list[str]] = field(default_factory=dict)


def without_running_heads(pages: Sequence[PageText]) -> tuple[list[PageText], Running]:
    """The pages without running heads, feet and page numbers, and what was removed.

    A head is a piece in the outer eighth of the page, in its first two or last two rows, whose text (digits aside,
    with a few OCR errors allowed) stands there on three pages or more and on a fifth of them; its whole row goes.
    """
    edge_rows = {page.number: _edge_rows(page) for page in pages}
    seen: dict[str, set[int]] = defaultdict(set)
    for page in pages:
        for row in edge_rows[page.number]:
            for piece in row:
                seen[_masked(piece.text)].add(page.number)
    needed = max(3, math.ceil(len(pages) / 5))
    heads = [
        text
        for text in seen
        if len(text) > 1
        and not _OPENS_TEXT.match(text)
        and not _PAGE_NUMBER.fullmatch(text.replace("#", "1"))
        and len(_alike(text, seen)) >= needed
    ]
    running = Running()
    out = []
    for page in pages:
        dropped: set[Piece] = set()
        gone: list[str] = []
        for row in edge_rows[page.number]:
            texts = [_masked(piece.text) for piece in row]
            # A chapter's title below the running head that repeats it is text: each head goes once a page.
            if any(_is_head(text, heads) and not _is_head(text, gone) for text in texts):
                dropped.update(row)
                gone += texts
                running.heads[" ".join(texts)] += 1
            elif len(row) == 1 and _PAGE_NUMBER.fullmatch(row[0].text.strip().lower()):
                dropped.update(row)
                running.numbers += 1
        kept = tuple(piece for piece in page.pieces if piece not in dropped)
        if dropped:
            running.removed[page.number] = [piece.text for piece in page.pieces if piece in dropped]
        out.append(PageText(page.number, kept, page.scanned))
    return out, running


def _edge_rows(page: PageText) -> list[list[Piece]]:
    rows = _rows(page.pieces)
    top, bottom = rows[:2], rows[2:][-2:][::-1]  # outermost first
    # The inner of two rows may be the text's first line: with numbers in it, or opening a question, it is.
    edge = [row for side in (top, bottom) for at, row in enumerate(side) if at == 0 or not _may_be_text(row)]
    return [row for row in edge if row[0].y1 < _EDGE or row[0].y0 > 1 - _EDGE]


def _may_be_text(row: list[Piece]) -> bool:
    text = " ".join(piece.text for piece in row)
    if _PAGE_NUMBER.fullmatch(text.strip().lower()):
        return False
    return bool(re.search(r"\d", text) or re.match(r"[（(\[]?[A-MＡ-Ｍ][)）.．、]|【", text))


def _masked(text: str) -> str:
    return re.sub(r"\d+", "#", re.sub(r"\s+", "", text))


def _alike(text: str, seen: dict[str, set[int]]) -> set[int]:
    return set().union(*(pages for other, pages in seen.items() if _same(text, other)))


def _is_head(text: str, heads: Iterable[str]) -> bool:
    return any(_same(text, head) for head in heads)


def _same(a: str, b: str) -> bool:
    if a == b:
        return True
    from rapidfuzz import fuzz

    # Long heads survive OCR errors; short ones must be equal, else 第一章 and 第二章 are one.
    return min(len(a), len(b)) >= 8 and fuzz.ratio(a, b) >= 85


def read_pages(pages: Iterable[PageText]) -> list[Line]:
    """The lines of a document's pages in reading order, columns one after the other.

    A page that shows no two columns of its own (the right one of a last page has hardly begun) has those of the page
    before it, where both have text and no row crosses the strip between them.
    """
    lines: list[Line] = []
    before: float | None = None
    for page in pages:
        if not page.pieces:
            continue
        own = _gutter(page.pieces)
        lines += _read_page(page, own if own is not None or not _has_columns(page.pieces, before) else before)
        before = before if own is None else own
    return lines


def _has_columns(pieces: Sequence[Piece], middle: float | None) -> bool:
    rows = _rows(pieces)
    return (
        middle is not None
        and len({_right_of(piece, middle) for piece in pieces}) > 1
        and not any(_crosses(piece, middle) for piece in pieces)
        and not _options_in_rows(rows, middle)
    )


def _read_page(page: PageText, gutter: float | None) -> list[Line]:
    lines: list[Line] = []
    for block in _blocks(page.pieces, gutter):
        rows = _rows(block)
        height = statistics.median(piece.y1 - piece.y0 for piece in block)
        wide = [row for row in rows if row[-1].x1 - row[0].x0 > 0]
        left = min(row[0].x0 for row in wide)
        right = max(row[-1].x1 for row in wide)
        for row in rows:
            # Text is set in square type: one em is about the line's height, seen along x (pages are 1.4 times as high).
            em = height * 1.4
            text = _GAP.join(piece.text for piece in row)
            full = row[-1].x1 >= right - 1.6 * em
            lines.append(Line(text.strip(), page.number, full, row[0].x0 > left + 1.2 * em, page.scanned))
    return [line for line in lines if line.text]


def _rows(pieces: Iterable[Piece]) -> list[list[Piece]]:
    """Pieces grouped into rows from top to bottom, each from left to right."""
    rows: list[list[Piece]] = []
    for piece in sorted(pieces, key=lambda piece: piece.middle):
        if rows:
            last = rows[-1][-1]
            overlap = min(last.y1, piece.y1) - max(last.y0, piece.y0)
            if overlap > 0.5 * min(last.y1 - last.y0, piece.y1 - piece.y0):
                rows[-1].append(piece)
                continue
        rows.append([piece])
    return [sorted(row, key=lambda piece: piece.x0) for row in rows]


def _blocks(pieces: Sequence[Piece], middle: float | None) -> list[list[Piece]]:
    """The page cut into blocks that are read one after the other: full-width bands, and columns of two-column bands."""
    if middle is None:
        return [list(pieces)]
    blocks: list[list[Piece]] = []
    band: list[list[Piece]] = []

    def close() -> None:
        if not band:
            return
        flat = [piece for row in band for piece in row]
        left = [piece for piece in flat if not _right_of(piece, middle)]
        right = [piece for piece in flat if _right_of(piece, middle)]
        # Few rows in a band are options set two by two, not columns.
        blocks.extend([left, right] if len(band) >= 5 and left and right else [flat])
        band.clear()

    for row in _rows(pieces):
        if any(_crosses(piece, middle) for piece in row):
            close()
            blocks.append(row)
        else:
            band.append(row)
    close()
    merged: list[list[Piece]] = []
    crossing_before = False
    for block in blocks:  # neighbouring full-width rows are one block, so that their edges are seen together
        crosses = any(_crosses(piece, middle) for piece in block)
        if merged and crosses and crossing_before:
            merged[-1].extend(block)
        else:
            merged.append(list(block))
        crossing_before = crosses
    return merged


def _gutter(pieces: Sequence[Piece]) -> float | None:
    """The x of the white strip between two columns, or None for a page of one column.

    Two columns: few rows cross the strip, some lines left of it are long (they fill their column), and the rows are
    not options set two by two (A and B side by side, C and D below).
    """
    left = min(piece.x0 for piece in pieces)
    width = max(piece.x1 for piece in pieces) - left
    rows = _rows(pieces)

    def crossing(x: float) -> int:
        return sum(any(_crosses(piece, x) for piece in row) for row in rows)

    # Where the right column holds short lines only, the strip stands right of the middle of the printed width.
    places = sorted((left + width * share / 100 for share in range(35, 76)), key=lambda x: abs(x - left - width / 2))
    middle = min(places, key=crossing)
    lefts = [[piece for piece in row if not _right_of(piece, middle)] for row in rows]
    lefts = [row for row in lefts if row]
    rights = sorted(piece.x0 for row in rows for piece in row if _right_of(piece, middle))
    if len(lefts) < 5 or len(rights) < 5 or crossing(middle) > 0.3 * len(rows):
        return None
    # A box of OCR may reach over the strip: the outermost tenth does not count.
    edge = sorted(row[-1].x1 for row in lefts)[int(0.9 * (len(lefts) - 1))]
    column = edge - left
    long = sum(row[-1].x1 - row[0].x0 > 0.8 * column for row in lefts)
    if column < 0.35 * width or long < 0.15 * len(lefts) or _options_in_rows(rows, middle):
        return None
    return (edge + rights[int(0.1 * (len(rights) - 1))]) / 2


_REACH = 0.04  # of the page's width: boxes of OCR are not cut to the stroke


def _crosses(piece: Piece, x: float) -> bool:
    return piece.x0 < x - _REACH and piece.x1 > x + _REACH


def _right_of(piece: Piece, x: float) -> bool:
    return (piece.x0 + piece.x1) / 2 > x


_MARK = re.compile(r"[（(\[【]?\s*([A-MＡ-Ｍ])\s*[)）\]】.．、\s]")


def _options_in_rows(rows: Sequence[Sequence[Piece]], middle: float) -> bool:
    """Whether the letters of options follow one another better along whole rows than down two columns."""
    flat = [piece for row in rows for piece in row]
    columns = sorted(flat, key=lambda piece: _right_of(piece, middle))
    return _following(flat) > _following(columns)


def _following(pieces: Iterable[Piece]) -> int:
    """How many option letters stand right behind the one before them in the alphabet."""
    marks = [_MARK.match(piece.text + " ") for piece in pieces]
    letters = [ord(mark.group(1)) if mark else 0 for mark in marks]
    return sum(1 for one, next_one in itertools.pairwise(letters) if one and next_one == one + 1)


def paragraphs(lines: Sequence[Line]) -> list[Line]:
    """Wrapped lines joined to paragraphs, also over page breaks; each keeps the page that it starts on.

    A line goes on where the one before it is full and it is not indented and opens no numbered head.
    """
    out: list[Line] = []
    open_before = False
    for line in lines:
        if open_before and not line.indented and not _OPENS.match(line.text):
            before = out[-1]
            out[-1] = Line(
                join_wrapped(before.text, line.text), before.page, line.full, before.indented, before.scanned
            )
        else:
            out.append(line)
        open_before = line.full
    return out


_N = "零〇一二三四五六七八九十百千\\d"
_OPENS = re.compile(
    rf"第[{_N}]+(?:编|章|节|条)[\s\u3000之]|[（(][{_N}]+[)）]|[一二三四五六七八九十]+、|\d{{1,3}}\s*[.．、]|【|附[件表录]|案例\s*[{_N}]"
)


def join_wrapped(before: str, after: str) -> str:
    """Two printed lines as one text: a space only between Latin words or numbers parted by the line's end."""
    if before and after and re.match(r"[A-Za-z]", after) and re.search(r"[A-Za-z]$", before):
        return f"{before} {after}"
    return before + after
