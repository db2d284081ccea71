"""What a content must satisfy; every expectation follows from the task's own folder."""

from __future__ import annotations

import json

import pytest

from taxpraben.records.content import Content
from taxpraben.records.field import Field
from taxpraben.tasks.catalog import find_task
from taxpraben.tasks.rules import faults_of, plain_number


def rules(content: Content, task: str) -> list[tuple[str, str]]:
    return [(fault.place, fault.rule) for fault in faults_of(content, find_task(task))]


@pytest.mark.parametrize("answer", ["1e3", "+5", "1_000", "NaN", "12元", " 12", ""])
def test_what_is_no_plain_decimal_is_no_number_answer(answer: str) -> None:
    assert rules(Content(text="应纳税额？", answer=answer), "TaxCalc") == [("answer", "number" if answer else "empty")]


@pytest.mark.parametrize(("typed", "plain"), [("１，２３４.５", "1234.5"), ("－72.75", "-72.75"), ("1.2.3", None)])
def test_full_width_digits_and_thousands_marks_are_read_as_a_number(typed: str, plain: str | None) -> None:
    assert plain_number(typed) == plain


def test_a_span_stands_word_for_word_in_its_text() -> None:
    assert rules(Content(text="逾期的，加收滞纳金。", answer="加收滞纳金"), "TaxRead") == []
    assert rules(Content(text="逾期的，加收滞纳金。", answer="收取滞纳金"), "TaxRead") == [("answer", "span")]


def test_an_empty_option_and_a_repeated_one_are_named_by_their_place() -> None:
    content = Content(text="题", answer="A", choices=["甲", "", "甲 ", "丁"], gold=[0])
    assert rules(content, "TaxSCQ") == [("choice_1", "empty"), ("choice_2", "same_options")]


def test_two_fields_of_one_name_are_a_fault() -> None:
    twice = [Field(name="税额", kind="number"), Field(name="税额", kind="number")]
    assert rules(Content(text="案情", answer=json.dumps({"税额": 5}), fields=twice), "TaxPlan") == [
        ("field_1", "same_fields")
    ]


def test_a_json_number_with_an_exponent_is_a_number_and_true_is_none() -> None:
    fields = [Field(name="税额", kind="number")]
    assert rules(Content(text="案情", answer='{"税额": 1e-7}', fields=fields), "TaxPlan") == []
    assert rules(Content(text="案情", answer='{"税额": true}', fields=fields), "TaxPlan") == [("field_0", "number")]
