from __future__ import annotations

import hashlib

import pytest

from stages.draft.slots import chinese_date, draw_slots, find_slots, variables_of
from taxpraben.records.document import DocumentPart
from taxpraben.tasks.catalog import find_task
from tests.draft.samples import make_document, make_question


def test_a_part_of_the_right_kind_and_data_is_a_slot() -> None:
    book = make_document(
        "exam_book",
        [
            make_question("single", "单选1"),
            make_question("multiple", "多选1"),
            DocumentPart(kind="section", label="第一章", text="正文"),
        ],
    )
    assert [slot.name for slot in find_slots(find_task("TaxSCQ"), [book])] == ["单选1"]
    assert [slot.name for slot in find_slots(find_task("TaxMCQ"), [book])] == ["多选1"]
    assert find_slots(find_task("TaxSum"), [book]) == []


def test_a_whole_document_is_one_slot_named_all() -> None:
    news = make_document("news")
    (slot,) = find_slots(find_task("TaxSum"), [news])
    assert slot.name == "all"
    # the contract: task, and twelve digits of the hash of document and slot
    expected = hashlib.sha256(b"doc-000000000001|all").hexdigest()[:12]
    assert slot.draft_id == f"TaxSum-{expected}"


def test_the_draft_id_does_not_change_with_the_text() -> None:
    ids = {find_slots(find_task("TaxSum"), [make_document("news", text=text)])[0].draft_id for text in ("甲", "乙")}
    assert len(ids) == 1


def test_a_draw_repeats_and_keeps_the_order() -> None:
    slots = find_slots(
        find_task("TaxSCQ"), [make_document("exam_book", [make_question("single", f"单选{n}") for n in range(50)])]
    )
    drawn = draw_slots(slots, 10, seed=1)
    assert len(drawn) == 10
    assert drawn == [slot for slot in slots if slot in drawn]
    assert drawn == draw_slots(slots, 10, seed=1) != draw_slots(slots, 10, seed=2)
    assert draw_slots(slots, 0, seed=1) == slots


@pytest.mark.parametrize(
    ("iso", "words"),
    [("2025-03-01", "2025年3月1日"), ("2025-03", "2025年3月"), ("2025", "2025年"), ("", ""), ("去年", "")],
)
def test_a_date_is_written_in_words(iso: str, words: str) -> None:
    assert chinese_date(iso) == words


def test_variables_are_the_documents_columns_and_the_parts_data_on_top() -> None:
    part = make_question("single", "单选1", stem="税率是（ ）。", options=["3%", "13%"])
    book = make_document("exam_book", [part], title="《示范条例》", published="2025-03-01")
    variables = variables_of(find_slots(find_task("TaxSCQ"), [book])[0])
    assert variables["title"] == "示范条例"
    assert variables["issued"] == "2025年3月1日公布的"
    assert variables["options_text"] == "A.3% B.13%"
    assert (variables["label"], variables["stem"], variables["kind"]) == ("单选1", "税率是（ ）。", "single")


def test_without_a_date_nothing_is_said_of_it() -> None:
    slot = find_slots(find_task("TaxSum"), [make_document("news")])[0]
    assert (variables_of(slot)["issued"], variables_of(slot)["published_zh"]) == ("", "")


@pytest.mark.parametrize(
    ("title", "bare"),
    [
        ("《示范条例》", "示范条例"),
        ("《申报表》填报说明", "《申报表》填报说明"),
        ("关于印发《示范办法》", "关于印发《示范办法》"),
        ("《甲表》和《乙表》", "《甲表》和《乙表》"),
    ],
)
def test_only_book_marks_around_the_whole_title_are_taken_off(title: str, bare: str) -> None:
    [slot] = find_slots(find_task("TaxTopic"), [make_document("news", title=title)])
    assert variables_of(slot)["title"] == bare
