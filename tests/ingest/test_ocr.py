import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from stages.ingest import ocr_engines
from stages.ingest.level import levelled, skew_of
from stages.ingest.ocr import OcrStoppedError, Reader
from stages.ingest.ocr_engines import OcrMissingError, engine_version, tesseract_lines

BOX = [[[10.0, 10.0], [90.0, 10.0], [90.0, 30.0], [10.0, 30.0]], "一行字", 0.9]


def _ruled(degrees: float) -> Any:
    """A page of black bars for lines of text, turned clockwise."""
    page = Image.new("L", (700, 1000), 255)
    draw = ImageDraw.Draw(page)
    for row in range(30):
        draw.rectangle((60, 60 + 30 * row, 640 - 37 * (row % 5), 74 + 30 * row), fill=0)
    turned = page.rotate(-degrees, Image.Resampling.BICUBIC, fillcolor=255)
    return np.stack([np.asarray(turned)] * 3, axis=-1)


@pytest.mark.parametrize("degrees", [-2.0, -1.0, 0.0, 1.0, 1.5, 2.5])
def test_a_turned_page_is_measured_to_a_fifth_of_a_degree(degrees: float) -> None:
    assert skew_of(_ruled(degrees)) == pytest.approx(degrees, abs=0.2)


def test_a_turned_page_is_turned_back_and_a_level_one_stays_as_it_is() -> None:
    flat, turned = levelled(_ruled(1.5))
    assert turned == pytest.approx(1.5, abs=0.2)
    assert abs(skew_of(flat)) < 0.3
    level = _ruled(0.0)
    assert levelled(level)[0] is level


def test_a_page_without_lines_is_not_turned() -> None:
    assert skew_of(np.full((400, 300, 3), 255, dtype=np.uint8)) == 0.0
    assert skew_of(np.zeros((400, 300, 3), dtype=np.uint8)) == 0.0


class Faulty(Reader):
    """Counts the pages that it recognises, and is stopped at the third."""

    stop = True
    done = 0

    def _recognise(self, image: Any) -> tuple[list[Any], float]:
        if self.stop and self.done == 2:
            raise KeyboardInterrupt
        self.done += 1
        return [BOX], 0.0


def test_a_stopped_reading_goes_on_with_the_pages_that_are_left(tmp_path: Path) -> None:
    images = [(number, np.full((40, 100, 3), number, dtype=np.uint8)) for number in range(1, 6)]
    first = Faulty(tmp_path, processes=1)
    with pytest.raises(KeyboardInterrupt):
        list(first.read(iter(images), 5))
    second = Faulty(tmp_path, processes=1)
    second.stop = False
    assert [number for number, _ in second.read(iter(images), 5)] == [1, 2, 3, 4, 5]
    assert dict(second.counts) == {"cached": 2, "read": 3}
    assert not list(tmp_path.glob("*.partial"))


def test_lines_of_little_confidence_are_left_out_and_the_rest_is_weighed_by_length(tmp_path: Path) -> None:
    class Fixed(Reader):
        def _recognise(self, image: Any) -> tuple[list[Any], float]:
            corners = BOX[0]
            return [[corners, "四个汉字", 0.9], [corners, "字", 0.6], [corners, "噪声", 0.3]], 1.2

    ((_, scan),) = Fixed(tmp_path, processes=1).read([(1, np.zeros((40, 100, 3), dtype=np.uint8))], 1)
    assert [piece.text for piece in scan.pieces] == ["四个汉字", "字"]
    assert (scan.confidence, scan.least, scan.turned) == (0.84, 0.6, 1.2)  # (4 x 0.9 + 1 x 0.6) / 5


def test_another_engine_or_resolution_reads_anew(tmp_path: Path) -> None:
    image = [(1, np.zeros((40, 100, 3), dtype=np.uint8))]
    for dpi in (150, 200):
        reader = Faulty(tmp_path, dpi=dpi, processes=1)
        list(reader.read(iter(image), 1))
        assert dict(reader.counts) == {"read": 1}


def test_a_reader_process_ended_from_outside_is_said_with_what_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from concurrent.futures import Future
    from concurrent.futures.process import BrokenProcessPool

    class Pool:
        def submit(self, *_: object) -> Future[None]:
            future: Future[None] = Future()
            future.set_exception(BrokenProcessPool("ended"))
            return future

    reader = Reader(tmp_path, processes=2)
    monkeypatch.setattr(reader, "_pool", Pool)
    with pytest.raises(OcrStoppedError, match="processes: 1"):
        list(reader.read([(number, np.zeros((4, 4, 3), dtype=np.uint8)) for number in (1, 2)], 2))


def test_tesseract_missing_is_said_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(OcrMissingError, match=r"tesseract-ocr-chi-sim.*engine: rapidocr"):
        engine_version("tesseract")


def test_tesseract_without_chinese_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: "tesseract")
    said = b"List of available languages in /x (2):\neng\nosd\n"
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], 0, stdout=said, stderr=b""))
    with pytest.raises(OcrMissingError, match="no chi_sim"):
        engine_version("tesseract")


def test_words_of_a_tesseract_line_are_joined_and_parted_at_wide_gaps() -> None:
    names = ["level", "page_num", "block_num", "par_num", "line_num", "word_num"]
    names += ["left", "top", "width", "height", "conf", "text"]
    rows = [
        (5, 1, 1, 1, 1, 1, 100, 50, 40, 20, 90, "纳税"),
        (5, 1, 1, 1, 1, 2, 142, 50, 20, 20, 80, "人"),
        (5, 1, 1, 1, 1, 3, 400, 50, 30, 20, 70, "VAT"),
        (5, 1, 1, 1, 1, 4, 434, 50, 30, 20, 70, "law"),
        (4, 1, 1, 1, 2, 0, 100, 90, 30, 20, -1, ""),
    ]
    table = "\n".join("\t".join(map(str, row)) for row in [names, *rows])
    assert tesseract_lines(table) == [
        ([[100, 50], [162, 50], [162, 70], [100, 70]], "纳税人", 0.85),
        ([[400, 50], [464, 50], [464, 70], [400, 70]], "VAT law", 0.7),
    ]


@pytest.mark.skipif(
    shutil.which("tesseract") is None
    or b"chi_sim" not in subprocess.run(["tesseract", "--list-langs"], capture_output=True, check=False).stdout,
    reason="needs the program tesseract with chi_sim (Debian: tesseract-ocr, tesseract-ocr-chi-sim)",
)
def test_tesseract_reads_a_page_where_it_is_installed(tmp_path: Path) -> None:
    from tests.ingest.exam_press import HEI

    if not HEI.exists():
        pytest.skip("needs the font WenQuanYi Zen Hei (Debian: fonts-wqy-zenhei)")
    from PIL import ImageFont

    page = Image.new("RGB", (900, 300), "white")
    ImageDraw.Draw(page).text((60, 100), "纳税人应当按期申报", fill="black", font=ImageFont.truetype(str(HEI), 40))
    reader = Reader(tmp_path, engine="tesseract", processes=1)
    ((_, scan),) = reader.read([(1, np.asarray(page))], 1)
    assert "纳税人" in scan.pieces[0].text
    assert reader.version.startswith("tesseract-")


def test_rapidocr_needs_nothing_installed() -> None:
    assert engine_version("rapidocr") == "rapidocr-3.10/no-cls"
    assert ocr_engines.LANGUAGE == "chi_sim"
