"""Pages of a made-up book: line breaking, page breaks, running heads, and the look of a scanned page.

The same strings give the same bytes: PDF metadata is fixed and the noise of a scan is seeded by its page.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pypdfium2
from PIL import Image
from reportlab import rl_config
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas

FONT, FONT_FILE = "zenhei", "/usr/share/fonts/truetype/wqy/wqy-zenhei.ttc"
WIDTH, HEIGHT = 521.6, 737.0  # the Chinese 16-mo page, in points
LEFT, TOP, BOTTOM = 54.0, 74.0, 86.0
BODY, LEADING = 10.5, 21.9  # this leading parts several questions from their options at a page's end
COLUMN = WIDTH - 2 * LEFT
TOKEN = re.compile(r"（　）|[0-9A-Za-z.%‰]+|.", re.DOTALL)
NOT_FIRST, NOT_LAST = set("，。、；：！？）】》”%"), set("（【《“-")


def prepare() -> None:
    """Register the font (it is embedded as a subset) and keep images binary, which makes the file smaller."""
    rl_config.useA85 = 0
    pdfmetrics.registerFont(TTFont(FONT, FONT_FILE, subfontIndex=0))


def wrap(text: str, size: float, width: float) -> list[str]:
    """Break text into lines that fit ``width`` points.

    Closing marks never open a line; opening marks and minus signs never end one.
    """
    lines: list[list[str]] = [[]]
    for token in TOKEN.findall(text):
        if pdfmetrics.stringWidth("".join([*lines[-1], token]), FONT, size) > width:
            carried = [token]
            while len(lines[-1]) > 1 and (carried[0] in NOT_FIRST or lines[-1][-1] in NOT_LAST):
                carried.insert(0, lines[-1].pop())
            lines.append(carried)
        else:
            lines[-1].append(token)
    return ["".join(line) for line in lines]


@dataclass
class Page:
    """One page: its section (for the running head) and its strings as (x, y, size, text), y from the bottom."""

    section: str
    strings: list[tuple[float, float, float, str]] = field(default_factory=list)


@dataclass
class Book:
    """Pages that fill from the top; ``splits`` names the questions whose options start on a later page."""

    title: str
    running_head: str
    pages: list[Page] = field(default_factory=list)
    y: float = 0.0
    splits: list[str] = field(default_factory=list)

    def new_page(self, section: str) -> None:
        """Open a page of ``section``; its name stands in the running head, on the right."""
        self.pages.append(Page(section))
        self.y = HEIGHT - TOP

    def room_for(self, lines: int) -> bool:
        """Start a new page and return False where fewer than ``lines`` body lines are left; True otherwise."""
        if self.y - (lines - 1) * LEADING >= BOTTOM:
            return True
        self.new_page(self.pages[-1].section)
        return False

    def write(self, text: str, size: float = BODY, center: bool = False, gap: float = 0.0) -> None:
        """Write a paragraph, breaking pages line by line, with ``gap`` points left below it."""
        for line in wrap(text, size, COLUMN):
            self.room_for(1)
            x = (WIDTH - pdfmetrics.stringWidth(line, FONT, size)) / 2 if center else LEFT
            self.pages[-1].strings.append((x, self.y, size, line))
            self.y -= max(LEADING, size * 1.5)
        self.y -= gap

    def front_page(self, source: dict[str, Any], contents: list[str]) -> None:
        """Write the title, the publisher, the notes that call the book made up, and the contents."""
        self.new_page("")
        self.y = HEIGHT - 130
        for key, size, gap in (("title", 26, 8), ("subtitle", 13, 8), ("edition", 13, 8), ("publisher", 13, 30)):
            self.write(source[key], size, center=True, gap=gap)
        for text in ("编写说明", *source["preface"]):
            self.write(text, gap=4)
        for text in ("目录", *contents):
            self.write(text, center=True)

    def question(self, number: int, stem: str, options: list[str]) -> None:
        """Write a question; its options stay together, so a full page parts them from the stem."""
        self.room_for(2)
        self.write(f"{number}.{stem}", gap=0 if options else 10)
        labelled = [f"{letter}.{text}" for letter, text in zip("ABCDE", options, strict=False)]
        widest = max((pdfmetrics.stringWidth(text, FONT, BODY) for text in labelled), default=0.0) + 12
        fits = int(COLUMN / widest)
        columns = next((each for each in ((4, 2) if len(labelled) == 4 else (3, 2)) if each <= fits), 1)
        rows = [labelled[start : start + columns] for start in range(0, len(labelled), columns)]
        if rows and not self.room_for(sum(len(wrap(row[0], BODY, COLUMN)) if columns == 1 else 1 for row in rows)):
            self.splits.append(f"{self.pages[-1].section} {number}")
        for index, row in enumerate(rows):
            gap = 7 if index == len(rows) - 1 else 0
            if columns == 1:
                self.write(row[0], gap=gap)
                continue
            for place, text in enumerate(row):
                self.pages[-1].strings.append((LEFT + place * COLUMN / columns, self.y, BODY, text))
            self.y -= LEADING + gap

    def pdf(self, scans: dict[int, bytes]) -> bytes:
        """Return the PDF; pages named in ``scans`` (index from 0) hold that JPEG alone, without a text layer."""
        buffer = io.BytesIO()
        canvas = Canvas(buffer, pagesize=(WIDTH, HEIGHT), invariant=1, pageCompression=1)
        canvas.setTitle(self.title)
        for index, page in enumerate(self.pages):
            if index in scans:
                canvas.drawImage(ImageReader(io.BytesIO(scans[index])), 0, 0, WIDTH, HEIGHT)
                canvas.showPage()
                continue
            if index:
                canvas.setFont(FONT, 8.5)
                canvas.drawString(LEFT, HEIGHT - 42, self.running_head)
                canvas.drawRightString(WIDTH - LEFT, HEIGHT - 42, page.section)
                canvas.line(LEFT, HEIGHT - 48, WIDTH - LEFT, HEIGHT - 48)
            for x, y, size, text in page.strings:
                canvas.setFont(FONT, size)
                canvas.drawString(x, y, text)
            if index:
                canvas.setFont(FONT, 8.5)
                canvas.drawCentredString(WIDTH / 2, 32, f"· {index} ·")
            canvas.showPage()
        canvas.save()
        return buffer.getvalue()


def scan(document: pypdfium2.PdfDocument, index: int) -> bytes:
    """Return the page as a slightly noisy grey 150 dpi JPEG, as an office scanner would give it."""
    pixels = np.asarray(document[index].render(scale=150 / 72, grayscale=True).to_pil(), dtype=float)
    noisy = pixels * 0.93 + 12 + np.random.default_rng(index).normal(0, 2.5, pixels.shape)
    buffer = io.BytesIO()
    Image.fromarray(noisy.clip(0, 255).astype("uint8")).save(buffer, "JPEG", quality=42, optimize=True)
    return buffer.getvalue()
