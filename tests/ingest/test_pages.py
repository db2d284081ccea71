"""PDF pages: made here with reportlab and its Adobe CID font, which pdfium reads without the font's file."""

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from stages.ingest.layout import Line, PageText, Piece, paragraphs, read_pages, without_running_heads
from stages.ingest.ocr import Reader, Scan, pieces_of
from stages.ingest.paper import UnreadableError
from stages.ingest.pdf import read_pdf, unsound

pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
WIDTH, HEIGHT = 500.0, 700.0


class SpyReader(Reader):
    """Says what it was asked to read, and reads the same line every time."""

    def __init__(self) -> None:
        super().__init__(Path("unused"))
        self.asked = 0

    def read(self, images: Iterable[tuple[int, Any]], total: int) -> Iterator[tuple[int, Scan]]:
        for number, _ in images:
            self.asked += 1
            yield number, Scan((Piece("扫描页上的字", 0.1, 0.4, 0.5, 0.43),), 0.9, 0.8, 1.5)


@pytest.fixture
def canvas(tmp_path: Path) -> Canvas:
    return Canvas(str(tmp_path / "book.pdf"), pagesize=(WIDTH, HEIGHT))


def _put(canvas: Canvas, x: float, y: float, text: str, size: float = 10) -> None:
    canvas.setFont("STSong-Light", size)
    canvas.drawString(x, HEIGHT - y, text)


def _save(canvas: Canvas) -> Path:
    canvas.save()
    return Path(canvas._filename)


def _image(canvas: Canvas) -> None:
    buffer = io.BytesIO()
    Image.new("L", (200, 280), 255).save(buffer, "PNG")
    canvas.drawImage(ImageReader(buffer), 0, 0, WIDTH, HEIGHT)


def test_each_page_is_decided_by_itself(canvas: Canvas) -> None:
    _put(canvas, 60, 200, "有文字层的一页。")
    canvas.showPage()
    _image(canvas)
    canvas.showPage()
    canvas.showPage()  # an empty page is not sent to OCR
    reader = SpyReader()
    book = read_pdf(_save(canvas), reader)
    assert [(line.text, line.page, line.scanned) for line in book.lines] == [
        ("有文字层的一页。", 1, False),
        ("扫描页上的字", 2, True),
    ]
    assert (book.scanned, book.blank, reader.asked) == ([2], [3], 1)
    assert [(page.read, page.why, page.confidence) for page in book.readings] == [
        ("text", "", None), ("ocr", "no text layer", 0.9), ("blank", "", None),
    ]  # fmt: skip


def test_a_scan_with_only_a_running_head_as_text_is_read_by_ocr(canvas: Canvas) -> None:
    _image(canvas)
    _put(canvas, 60, 40, "虚构税务习题集　第一章")
    book = read_pdf(_save(canvas), SpyReader())
    assert (book.scanned, [line.text for line in book.lines]) == ([1], ["扫描页上的字"])
    assert "a picture fills the page beside" in book.readings[0].why


def test_two_columns_are_read_one_after_the_other_below_a_full_width_title(canvas: Canvas) -> None:
    _put(canvas, 60, 150, "这一行标题横跨两栏，足足有三十二个字那么长，所以它不属于任何一栏，应当最先读到。")
    for row in range(8):
        _put(canvas, 60, 200 + 20 * row, f"左栏第{row}行的文字写满这一栏的宽度")
        _put(canvas, 270, 200 + 20 * row, f"右栏第{row}行的文字写满这一栏的宽度")
    texts = [line.text for line in read_pdf(_save(canvas), SpyReader()).lines]
    assert texts[0].startswith("这一行标题")
    assert [text[:4] for text in texts[1:]] == [f"左栏第{row}" for row in range(8)] + [
        f"右栏第{row}" for row in range(8)
    ]


def test_options_set_two_by_two_are_no_columns(canvas: Canvas) -> None:
    for number in range(6):
        _put(canvas, 60, 100 + 90 * number, f"{number + 1}.下列各项中，应当依照规定缴纳虚构税的单位或者个人是（　）。")
        _put(canvas, 60, 120 + 90 * number, "A.甲公司")
        _put(canvas, 260, 120 + 90 * number, "B.乙公司")
        _put(canvas, 60, 140 + 90 * number, "C.丙公司")
        _put(canvas, 260, 140 + 90 * number, "D.丁公司")
    texts = [line.text for line in read_pdf(_save(canvas), SpyReader()).lines]
    assert texts[1:3] == ["A.甲公司　B.乙公司", "C.丙公司　D.丁公司"]


def test_running_heads_and_page_numbers_are_removed_and_counted(canvas: Canvas) -> None:
    for page in range(1, 6):
        _put(canvas, 60, 40, f"虚构税务应试指南（第{page}册）")
        _put(canvas, 60, 70, "第一章　总论" if page == 1 else f"{page}.【答案】B")
        _put(canvas, 60, 120, f"正文{page}。")
        _put(canvas, 240, 670, f"- {page} -")
        canvas.showPage()
    book = read_pdf(_save(canvas), SpyReader())
    texts = [line.text for line in book.lines]
    assert texts[:2] == ["第一章　总论", "正文1。"]
    assert len(texts) == 10
    assert dict(book.running.heads) == {"虚构税务应试指南（第#册）": 5}
    assert book.running.numbers == 5
    assert book.running.removed[2] == ["虚构税务应试指南（第2册）", "- 2 -"]


def _page(number: int, *rows: tuple[float, str]) -> PageText:
    pieces = tuple(Piece(text, 0.1, y, 0.1 + 0.02 * len(text), y + 0.02) for y, text in rows)
    return PageText(number, pieces, scanned=False)


def test_a_chapter_title_equal_to_the_running_head_above_it_stays() -> None:
    pages = [_page(1, (0.05, "第二章 多选题"), (0.09, "第二章 多选题"), (0.2, "题目"))]
    pages += [_page(number, (0.05, "第二章 多选题"), (0.2, "题目")) for number in (2, 3, 4)]
    kept, running = without_running_heads(pages)
    assert [line.text for line in read_pages(kept[:1])] == ["第二章 多选题", "题目"]
    assert running.heads["第二章多选题"] == 4


def test_running_heads_with_ocr_errors_are_known_as_the_same() -> None:
    heads = ["虚构税务应试指南二〇二六年版", "虚构税务应试指南二○二六年版", "虚构税务应试指南二0二六年版"]
    kept, _ = without_running_heads([_page(n, (0.04, head), (0.3, "正文")) for n, head in enumerate(heads, 1)])
    assert [line.text for line in read_pages(kept)] == ["正文"] * 3


def test_dashes_around_a_page_number_that_ocr_reads_as_the_character_one_go_with_it() -> None:
    pages = [_page(1, (0.3, "正文"), (0.95, "一 1 一")), _page(2, (0.3, "正文"), (0.95, "— 2—"))]
    kept, running = without_running_heads(pages)
    assert [line.text for line in read_pages(kept)] == ["正文"] * 2
    assert running.numbers == 2


def test_columns_of_short_options_are_columns_and_a_box_may_reach_over_the_strip() -> None:
    left = [
        "1.下列各项中应当纳税的是（　）。",
        "A.甲",
        "B.乙",
        "C.丙",
        "D.丁",
        "2.下列各项中可以免税的是（　）。",
        "A.戊",
    ]
    right = ["C.庚", "D.辛", "3.下列各项中从量计征的是（　）。", "A.壬", "B.癸", "C.子", "D.丑"]
    pieces = []
    for row, (one, other) in enumerate(zip(left, right, strict=True)):
        y = 0.2 + 0.03 * row
        reach = 0.518 if row == 5 else 0.1 + 0.02 * len(one)  # a box of OCR, wider than its text
        pieces += [Piece(one, 0.1, y, reach, y + 0.02), Piece(other, 0.52, y, 0.52 + 0.02 * len(other), y + 0.02)]
    assert [line.text for line in read_pages([PageText(1, tuple(pieces), scanned=True)])] == left + right


def _columned(number: int, left: list[str], right: list[str]) -> PageText:
    pieces = []
    for column, x in ((left, 0.1), (right, 0.52)):
        for row, text in enumerate(column):
            pieces.append(Piece(text, x, 0.1 + 0.02 * row, x + 0.38 * len(text) / 20, 0.115 + 0.02 * row))
    return PageText(number, tuple(pieces), scanned=False)


def test_a_last_page_whose_right_column_has_hardly_begun_is_read_by_columns() -> None:
    long = [f"第{number}行写满了这一栏的文字写满了这一栏的字" for number in range(12)]
    last = _columned(2, long, ["右栏头一行", "右栏第二行"])
    assert [line.text for line in read_pages([_columned(1, long, long), last])][24:] == [
        *long, "右栏头一行", "右栏第二行",
    ]  # fmt: skip
    # Without a page of two columns before it the same pieces are rows, and so they are where a row crosses the strip.
    assert read_pages([last])[0].text == f"{long[0]}　右栏头一行"
    crossed = PageText(2, (*last.pieces, Piece("本章小结横贯两栏的一行", 0.1, 0.6, 0.9, 0.615)), scanned=False)
    assert read_pages([_columned(1, long, long), crossed])[24].text == f"{long[0]}　右栏头一行"


def test_wrapped_lines_are_joined_over_a_page_break_and_heads_open_paragraphs() -> None:
    lines = [
        Line("第一条 为了规范征收，保护缴费人", 1, full=True),
        Line("的权益，制定本办法。", 2),
        Line("第二条 按月缴纳。", 2, full=True),
        Line("（一）甲；", 2),
    ]
    assert [line.text for line in paragraphs(lines)] == [
        "第一条 为了规范征收，保护缴费人的权益，制定本办法。",
        "第二条 按月缴纳。",
        "（一）甲；",
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("第一条 纳税。", ""),
        ("Tax 2025", ""),
        ("", "no text layer"),
        ("\ue001\ue002\ue003\ue004纳税", "private"),
        ("ÄÉË°ÈËÓ¦µ±", "accented Latin"),
        ("????????????纳税人应当申报????", "marks for missing"),
        ("龘靐齉爩鱻麤龗灪吁", "rare"),
        # Another character of GB 2312's first level for each: what a font with a shifted map gives.
        ("啊阿埃挨哎唉哀皑癌蔼矮艾碍爱隘鞍氨俺按暗岸胺案肮昂盎凹敖熬翱" * 3, "common"),
    ],
)
def test_a_broken_text_layer_is_told_from_a_sound_one(text: str, why: str) -> None:
    assert why in unsound(text)
    assert bool(unsound(text)) is bool(why)


def test_a_turned_scan_is_turned_back_before_rows_are_read() -> None:
    # Two pieces of one row, 800 pixels apart, on a page turned by two degrees: 28 pixels of height between them.
    boxes = [
        [[[100, 500], [300, 507], [299, 537], [99, 530]], "左边这八个字在此", 0.9],
        [[[900, 528], [1100, 535], [1099, 565], [899, 558]], "右边这八个字在此", 0.9],
    ]
    page = PageText(1, tuple(pieces_of(boxes, 1200, 1700, 0.5)), scanned=True)
    assert [line.text for line in read_pages([page])] == ["左边这八个字在此　右边这八个字在此"]


def test_a_scanned_page_is_read_once_and_then_taken_from_the_cache(tmp_path: Path, canvas: Canvas) -> None:
    _image(canvas)
    path = _save(canvas)
    boxes = [[[[10, 10], [90, 10], [90, 30], [10, 30]], "缓存里的字", 0.99]]

    class Counting(Reader):
        def _recognise(self, image: Any) -> tuple[list[Any], float]:
            return boxes, 0.0

    first, second = Counting(tmp_path / "ocr"), Counting(tmp_path / "ocr")
    texts = [[line.text for line in read_pdf(path, reader).lines] for reader in (first, second)]
    assert texts == [["缓存里的字"]] * 2
    assert (dict(first.counts), dict(second.counts)) == ({"read": 1}, {"cached": 1})


def test_a_file_that_is_no_pdf_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(b"not a pdf")
    with pytest.raises(UnreadableError, match="not a readable PDF"):
        read_pdf(path, SpyReader())
