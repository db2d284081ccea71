"""Exam books printed here, read in as the ingest stage does; the whole of it is benchmarks/ingest_books.py."""

import dataclasses
from pathlib import Path

import pytest

from stages.ingest.page_images import write_pages
from taxpraben.records.document import Document, DocumentPart
from taxpraben.records.page import Page, image_of, pages_of, read_pages
from tests.ingest.exam_press import HEI, Print, print_book
from tests.ingest.exam_questions import make_questions
from tests.ingest.exam_reading import error_rate, print_and_read, read_and_compare

TEXTS = {
    "key at the back": Print(),
    "two columns, key after each chapter": Print(key="chapter", columns=2, size=9),
    "answers under each question": Print(key="inline"),
    "answers in the brackets": Print(key="blank"),
    "compact key, stems on one page and options on the next": Print(key="compact", depth=190),
}
needs_font = pytest.mark.skipif(not HEI.exists(), reason="needs the font WenQuanYi Zen Hei (Debian: fonts-wqy-zenhei)")


@pytest.mark.parametrize("how", TEXTS.values(), ids=TEXTS.keys())
def test_every_question_of_a_text_book_is_read_as_printed(tmp_path: Path, how: Print) -> None:
    reading = print_and_read(tmp_path, make_questions(seed=3, chapters=3, each=(8, 5, 4)), how, processes=1)
    assert (reading.exact, reading.review, reading.missing) == (3 * 17, 0, [])
    assert reading.error_rate == 0.0
    assert read_pages(tmp_path / "pages").keys()
    assert not list((tmp_path / "pages").rglob("*.png"))  # nothing waits, so no picture is kept


def test_a_question_without_its_answer_waits_beside_the_picture_of_its_page(tmp_path: Path) -> None:
    questions = make_questions(seed=3, chapters=1, each=(6, 3, 2))
    sources = tmp_path / "sources"
    sources.mkdir()
    # The key of the second question names an option that is not there.
    broken = [dataclasses.replace(found, answer="E") if at == 1 else found for at, found in enumerate(questions)]
    printed = print_book(sources / "book.pdf", broken, Print())
    reading = read_and_compare(tmp_path, questions, printed, processes=1)
    assert (reading.found, reading.exact, reading.review, reading.pictured) == (10, 10, 1, 1)
    document = reading.harvest.documents[0]
    page = read_pages(tmp_path / "pages")[document.document_id, pages_of(document, "单选2")[0]]
    picture = image_of(tmp_path / "pages", page)
    assert picture is not None
    assert picture.read_bytes()[:4] == b"\x89PNG"


@needs_font
def test_a_clean_scan_and_text_pages_in_one_book_are_read_page_by_page(tmp_path: Path) -> None:
    questions = make_questions(seed=3, chapters=1, each=(8, 3, 2))
    reading = print_and_read(tmp_path, questions, Print(scan=150, scanned_pages=(1,)), processes=1)
    assert reading.exact >= 12  # of 13
    assert reading.exact + reading.pictured == 13
    assert reading.error_rate < 0.005
    pages = sorted(read_pages(tmp_path / "pages").values(), key=lambda page: page.page)
    assert [page.read for page in pages] == ["ocr", *["text"] * (len(pages) - 1)]
    assert pages[0].confidence is not None
    assert pages[0].confidence > 0.9
    assert image_of(tmp_path / "pages", pages[0]) is not None
    assert "虚构税务习题集" in pages[0].removed[0]


@needs_font
@pytest.mark.slow
def test_a_turned_scan_is_read_as_well_as_a_level_one(tmp_path: Path) -> None:
    reading = print_and_read(tmp_path, make_questions(seed=3, chapters=1, each=(10, 4, 3)), Print(scan=150, turned=1.5))
    assert reading.exact >= 16  # of 17
    assert all(abs(page.turned) == pytest.approx(1.5, abs=0.2) for page in reading.harvest.pages[:1])


def test_the_error_rate_counts_edits_by_characters_printed() -> None:
    # One substituted, one lost, of ten printed; width and white space do not count.
    assert error_rate("一二三四五 六七八X", "一二三四五六七八九十") == pytest.approx(0.2)
    assert error_rate("（Ａ）", "(A)") == 0.0


def _document(*parts: tuple[str, int]) -> Document:
    return Document(
        document_id="doc-1", pipeline="books", kind="exam_book", source="s", origin="a.pdf", title="书", text="",
        parts=[DocumentPart(kind="question", label=label, text="题", page=page) for label, page in parts], digest="",
    )  # fmt: skip


def test_a_part_may_stand_on_its_own_page_and_on_the_one_where_the_next_begins() -> None:
    document = _document(("单选1", 2), ("单选2", 3), ("单选3", 3), ("单选9", 1))
    assert [pages_of(document, label) for label in ("单选1", "单选2", "单选9", "无")] == [[2, 3], [3], [1], []]
    assert pages_of(document, "all") == [1, 2, 3]


def test_pictures_that_no_row_names_are_removed_and_none_outside_the_folder_is_given(tmp_path: Path) -> None:
    old = tmp_path / "pages" / "doc-old" / "0001.png"
    old.parent.mkdir(parents=True)
    old.write_bytes(b"x")
    (tmp_path / "outside.png").write_bytes(b"x")
    row = Page(document_id="../..", page=1, origin="a.pdf", read="text")
    assert write_pages(tmp_path / "pages", [row], tmp_path) == 0
    assert not old.exists()
    assert image_of(tmp_path / "pages", row.model_copy(update={"image": "../outside.png"})) is None


def test_pages_of_a_folder_without_index_are_none(tmp_path: Path) -> None:
    assert read_pages(tmp_path / "pages") == {}
