"""Contents as forms and back."""

from __future__ import annotations

from typing import get_args

import pytest
from portal_samples import content_of

from portal.difference import compare
from portal.filled import read_values
from portal.forms import collect, make_inputs, saved_values, values_of
from portal.words import WORDS
from taxpraben.records.base import Part
from taxpraben.records.content import Content
from taxpraben.tasks.catalog import load_catalog
from taxpraben.tasks.rules import Rule

TASKS = load_catalog()


def changed(row: Part, **changes: object) -> Content:
    return Content.model_validate({**row.model_dump(), **changes})


@pytest.mark.parametrize("task", TASKS)
def test_a_form_that_nobody_touched_says_what_the_draft_says(task: str) -> None:
    content = content_of(TASKS[task])
    assert read_values(TASKS[task], values_of(TASKS[task], content), content).content == content


@pytest.mark.parametrize("task", TASKS)
def test_a_form_filled_in_on_a_failed_draft_gives_a_content(task: str) -> None:
    content = content_of(TASKS[task])
    again = read_values(TASKS[task], values_of(TASKS[task], content), None).content
    assert again is not None
    assert (again.text, again.choices, again.gold) == (content.text, content.choices, content.gold)


@pytest.mark.parametrize("task", TASKS)
def test_an_empty_form_names_every_field_that_it_needs(task: str) -> None:
    spec = TASKS[task]
    reading = read_values(spec, values_of(spec, None), None)
    assert reading.content is None
    assert set(reading.problems) <= {each.name for each in make_inputs(spec, values_of(spec, None), "zh")}
    assert len(reading.problems) >= 2


def test_a_browsers_line_ends_are_no_change() -> None:
    content = changed(content_of(TASKS["TaxQA"]), answer="第一\n第二")
    values = values_of(TASKS["TaxQA"], content) | {"answer": "第一\r\n第二"}
    assert read_values(TASKS["TaxQA"], values, content).content == content


@pytest.mark.parametrize(
    ("typed", "kept"), [("１，２３４.５", "1234.5"), ("1,234.50", "1234.50"), ("－72.75", "-72.75"), ("0", "0")]
)
def test_a_number_is_kept_as_plain_decimal_text(typed: str, kept: str) -> None:
    spec = TASKS["TaxCalc"]
    content = content_of(spec)
    reading = read_values(spec, values_of(spec, content) | {"answer": typed}, content)
    assert reading.content is not None
    assert reading.content.answer == kept


@pytest.mark.parametrize("typed", ["约100", "1e3", "NaN", "十二", "12元"])
def test_what_is_no_plain_number_is_said_at_its_field(typed: str) -> None:
    spec = TASKS["TaxCalc"]
    reading = read_values(spec, values_of(spec, content_of(spec)) | {"answer": typed}, content_of(spec))
    assert reading.problems == {"answer": ("problem_number", {})}


def test_a_span_must_stand_in_the_text() -> None:
    spec = TASKS["TaxRead"]
    reading = read_values(spec, values_of(spec, content_of(spec)) | {"answer": "不在其中"}, content_of(spec))
    assert reading.problems == {"answer": ("problem_span", {})}


def test_gold_outside_of_the_allowed_number_is_said_with_the_limits() -> None:
    spec = TASKS["TaxCrime"]
    reading = read_values(spec, values_of(spec, content_of(spec)) | {"gold": ["0", "1", "2"]}, content_of(spec))
    assert reading.problems == {"gold": ("problem_gold", {"low": 1, "high": 2})}


def test_changed_gold_changes_the_letters() -> None:
    spec = TASKS["TaxSCQ"]
    reading = read_values(spec, values_of(spec, content_of(spec)) | {"gold": ["2"]}, content_of(spec))
    assert reading.content is not None
    assert (reading.content.gold, reading.content.answer) == ([2], "C")


def test_an_items_own_fields_can_be_added_dropped_and_renamed() -> None:
    spec = TASKS["TaxPlan"]
    values = values_of(spec, content_of(spec)) | {"own_0_name": ""}
    values |= {"own_2_name": "筹划后税额", "own_2_kind": "number", "own_2_unit": "元", "own_2_value": "8000"}
    reading = read_values(spec, values, content_of(spec))
    assert reading.content is not None
    assert [(field.name, field.kind) for field in reading.content.fields] == [
        ("节税额", "number"),
        ("筹划后税额", "number"),
    ]
    assert reading.content.answer == '{"节税额": 12.5, "筹划后税额": "8000"}'
    assert reading.content.fields[0].aliases == ["节省"]


def test_every_rule_of_the_tasks_has_words_in_the_form() -> None:
    assert {f"problem_{rule}" for rule in get_args(Rule)} <= set(WORDS)


def test_a_text_from_a_file_stands_in_the_form_as_its_content() -> None:
    content = content_of(TASKS["TaxSCQ"])
    kept = {"verdict": "fixed", "reason": "", "content": content.model_dump(mode="json")}
    assert saved_values(TASKS["TaxSCQ"], kept) == values_of(TASKS["TaxSCQ"], content)


def test_what_no_database_keeps_is_taken_out_of_what_is_typed() -> None:
    assert collect([("answer", "a\0b\ud800c")]) == {"answer": "abc", "gold": []}


def test_names_that_are_no_fields_are_left_out_of_what_is_kept() -> None:
    assert collect([("csrf", "x"), ("answer", "甲"), ("gold", "1"), ("gold", "0"), ("own_1_evil", "y")]) == {
        "answer": "甲",
        "gold": ["1", "0"],
    }


@pytest.mark.parametrize(
    ("before", "after"),
    [("应纳税额为100万元。", "应纳税额为1,000万元。"), ("", "新的"), ("旧的", ""), ("甲" * 4000, "甲" * 3999 + "乙")],
)
def test_the_pieces_of_a_difference_join_to_both_texts(before: str, after: str) -> None:
    pieces = compare(before, after)
    assert "".join(piece.text for piece in pieces if piece.kind != "in") == before
    assert "".join(piece.text for piece in pieces if piece.kind != "out") == after


def test_a_changed_sum_is_one_piece_not_its_digits() -> None:
    assert [(piece.kind, piece.text) for piece in compare("共120万元", "共150.5万元")] == [
        ("same", "共"),
        ("out", "120"),
        ("in", "150.5"),
        ("same", "万元"),
    ]
