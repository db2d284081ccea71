"""Prints exam books: the same questions in one or two columns, the key in different places, as text or as scans."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

from tests.ingest.exam_questions import LETTERS, Kind, Question

WIDTH, HEIGHT = 516.0, 728.0  # 16 开, the usual format of such books
SONG = "STSong-Light"
HEI = Path("/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc")  # fonts-wqy-zenhei of Debian; scans need real strokes
_NUMERALS = "零一二三四五六七八九十"
_NAMES: dict[Kind, str] = {"single": "单项选择题", "multiple": "多项选择题", "calculation": "计算题"}
_NO_LINE_START = "，。、；：？！）》”%）"


@dataclass(frozen=True)
class Print:
    """How a book is printed.

    Attributes:
        key: where the answers stand; ``blank`` puts letters into the question's own brackets.
        columns: one or two.
        depth: how far down a page is filled, in points; a small one breaks most questions over pages.
        scan: resolution of the scanned pages; 0 prints text.
        turned: degrees by which each scanned page is turned, to one side and the other.
        noise: standard deviation of the grey noise of a scan, of 255; with it goes some blur.
        scanned_pages: which pages are scans where not all are (numbers from 1).
    """

    key: Literal["back", "chapter", "inline", "blank", "compact"] = "back"
    columns: int = 1
    size: float = 10.5
    depth: float = 620.0
    scan: int = 0
    turned: float = 0.0
    noise: float = 0.0
    scanned_pages: tuple[int, ...] = ()


@dataclass
class Sheet:
    """A page to be printed: lines with their places, and the running head."""

    rows: list[tuple[float, float, str, float]] = field(default_factory=list)
    head: str = ""


def print_book(path: Path, questions: Sequence[Question], how: Print, title: str = "虚构税务习题集") -> list[list[str]]:
    """Print a book.

    Returns:
        The lines of each page in reading order, without running heads and page numbers.
    """
    font = _font(how)
    sheets = _set(_paragraphs(questions, how), how, font, title)
    canvas = Canvas(str(path), pagesize=(WIDTH, HEIGHT), invariant=1)
    canvas.setTitle(title)
    for number, sheet in enumerate(sheets, start=1):
        if how.scan and (not how.scanned_pages or number in how.scanned_pages):
            picture = _scan(_single_page(sheet, number, font), how, number)
            canvas.drawImage(ImageReader(picture), 0, 0, WIDTH, HEIGHT)
        else:
            _draw(canvas, sheet, number, font)
        canvas.showPage()
    canvas.save()
    return [[row[2] for row in sheet.rows] for sheet in sheets]


def _font(how: Print) -> str:
    if how.scan:
        pdfmetrics.registerFont(TTFont("hei", str(HEI)))
        return "hei"
    pdfmetrics.registerFont(UnicodeCIDFont(SONG))
    return SONG


def _paragraphs(questions: Sequence[Question], how: Print) -> list[tuple[str, str]]:
    """(style, text): chapter, section, text, option rows; in order of print."""
    out: list[tuple[str, str]] = []
    key: list[tuple[str, str]] = []
    chapter, kind = 0, ""
    for question in questions:
        if question.chapter != chapter:
            if how.key == "chapter":
                out += key
                key = []
            chapter, kind = question.chapter, ""
            head = ("chapter", f"第{_NUMERALS[chapter]}章　{_CHAPTERS[(chapter - 1) % len(_CHAPTERS)]}")
            out.append(head)
            key += [("head", "本章参考答案")] if how.key == "chapter" else [head]
        if question.kind != kind:
            kind = question.kind
            section = ("head", f"{_NUMERALS[list(_NAMES).index(kind) + 1]}、{_NAMES[kind]}")
            out.append(section)
            key.append(section)
        out += _printed(question, how)
        key.append(("text", _key_line(question, how)))
    if how.key in ("back", "compact"):
        out += [("head", "参考答案及解析"), *_compact(key, how)]
    elif how.key == "chapter":
        out += key
    return out


_CHAPTERS = ("征税范围与纳税人", "计税依据和税率", "税收优惠", "征收管理")


def _key_line(question: Question, how: Print) -> str:
    shown = f"{question.answer}{question.unit}"
    if how.key == "compact":
        return f"{question.number}.{shown}"
    return f"{question.number}.【答案】{shown}【解析】{question.explanation}"


def _compact(key: list[tuple[str, str]], how: Print) -> list[tuple[str, str]]:
    """Five answers a line, for a compact key; calculations one a line."""
    if how.key != "compact":
        return key
    out: list[tuple[str, str]] = []
    run: list[str] = []
    for style, text in [*key, ("end", "")]:
        if style == "text" and text[-1] != "元":
            run.append(text)
        if run and (style != "text" or len(run) == 5):
            out.append(("text", "　".join(run)))
            run = []
        if style not in ("text", "end") or text.endswith("元"):
            out.append((style, text if style != "text" else text.replace(".", ".【答案】")))
    return out


def _printed(question: Question, how: Print) -> list[tuple[str, str]]:
    stem = question.stem
    if how.key == "blank" and question.kind != "calculation":
        stem = stem.replace("（　）", f"（{question.answer}）")
    out = [("text", f"{question.number}.{stem}")]
    mark = ("{}.", "{}、", "（{}）", "{}．")[question.number % 4]
    options = [mark.format(letter) + text for letter, text in zip(LETTERS, question.options, strict=False)]
    longest = max((len(option) for option in options), default=0)
    in_row = 1 if longest > (12 if how.columns == 1 else 6) else 2
    out += [("row", "\t".join(options[at : at + in_row])) for at in range(0, len(options), in_row)]
    if how.key == "inline" or (how.key == "blank" and question.kind == "calculation"):
        out.append(("text", f"【答案】{question.answer}{question.unit}"))
        out.append(("text", f"【解析】{question.explanation}"))
    return out


def _set(paragraphs: list[tuple[str, str]], how: Print, font: str, title: str) -> list[Sheet]:
    """The paragraphs set into columns and pages, line by line, so that questions break over pages."""
    gap, margin = 24.0, 54.0
    width = (WIDTH - 2 * margin - gap * (how.columns - 1)) / how.columns
    step = how.size * 1.6
    sheets = [Sheet(head=title)]
    column, y = 0, 90.0

    def place(pieces: list[tuple[float, str]], size: float) -> None:
        nonlocal column, y
        if y > how.depth:
            column, y = column + 1, 90.0
            if column == how.columns:
                sheets.append(Sheet(head=title))
                column = 0
        x = margin + column * (width + gap)
        sheets[-1].rows += [(x + offset, y, text, size) for offset, text in pieces]
        y += step

    for style, text in paragraphs:
        size = how.size * (1.25 if style == "chapter" else 1)
        if style == "row" and "\t" in text:
            parts = text.split("\t")
            place([(width / len(parts) * at, part) for at, part in enumerate(parts)], size)
        else:
            for line in _wrapped(text, font, size, width):
                place([(0.0, line)], size)
    return sheets


def _wrapped(text: str, font: str, size: float, width: float) -> list[str]:
    lines = [""]
    for char in text:
        wide = pdfmetrics.stringWidth(lines[-1] + char, font, size) > width
        if wide and char not in _NO_LINE_START:
            lines.append("")
        lines[-1] += char
    return lines


def _draw(canvas: Canvas, sheet: Sheet, number: int, font: str) -> None:
    canvas.setFont(font, 8.5)
    canvas.drawString(54, HEIGHT - 44, f"{sheet.head}　二〇二六年版")
    canvas.drawCentredString(WIDTH / 2, 36, f"— {number} —")
    for x, y, text, size in sheet.rows:
        canvas.setFont(font, size)
        canvas.drawString(x, HEIGHT - y, text)


def _single_page(sheet: Sheet, number: int, font: str) -> bytes:
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(WIDTH, HEIGHT), invariant=1)
    _draw(canvas, sheet, number, font)
    canvas.save()
    return buffer.getvalue()


def _scan(page: bytes, how: Print, number: int) -> Any:
    """A page's picture as a scanner gives it: turned, blurred and noisy as asked for."""
    import numpy as np
    import pypdfium2
    from PIL import Image, ImageFilter

    document = pypdfium2.PdfDocument(page)
    picture = document[0].render(scale=how.scan / 72, grayscale=True).to_pil()
    document.close()
    if how.turned:
        angle = how.turned * (1 if number % 2 else -1)
        picture = picture.rotate(angle, Image.Resampling.BICUBIC, fillcolor=255)
    if how.noise:
        draw = np.random.default_rng(number)
        picture = picture.filter(ImageFilter.GaussianBlur(0.6))
        grey = (
            np.asarray(picture, dtype=np.float64) * 0.85
            + 20
            + draw.normal(0, how.noise, (picture.height, picture.width))
        )
        picture = Image.fromarray(np.clip(grey, 0, 255).astype(np.uint8))
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=75) if how.noise else picture.save(buffer, "PNG")
    buffer.seek(0)
    return buffer
