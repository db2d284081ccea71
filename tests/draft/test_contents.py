from __future__ import annotations

import json

import pytest

from stages.draft.contents import UnusableError, find_gold, make_content, own_fields
from stages.draft.templates import NothingToFillError, as_text, fill
from taxpraben.tasks.catalog import find_task

CRIMES = find_task("TaxCrime").labels


@pytest.mark.parametrize(
    ("value", "places"),
    [("B", [1]), ("BD", [1, 3]), ("D,B", [1, 3]), ("A、C", [0, 2]), ("B B", [1]), (["A", "C"], [0, 2]), ("卷烟", [1])],
)
def test_gold_is_read_from_letters_and_texts(value: object, places: list[int]) -> None:
    assert find_gold(value, ["白酒", "卷烟", "大米", "手表"]) == places  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("article", "letter"),
    [("刑法第二百零五条", "D"), ("第二百零五条", "D"), ("刑法第二百零五条之一", "D"), ("第二百六十四条", "M")],
)
def test_an_article_finds_its_label_with_or_without_the_laws_name(article: str, letter: str) -> None:
    assert find_gold(article, CRIMES) == ["ABCDEFGHIJKLM".index(letter)]


@pytest.mark.parametrize("value", ["E", "刑法第三条", "AF", "甲"])
def test_gold_that_is_no_option_is_an_error_not_a_guess(value: str) -> None:
    with pytest.raises(UnusableError, match="none of the 4 options"):
        find_gold(value, ["白酒", "卷烟", "大米", "手表"])


def test_an_option_that_ends_like_a_letter_does_not_catch_the_letter() -> None:
    assert find_gold("A", ["甲公司", "乙公司", "公司A"]) == [0]


def test_a_choice_question_gets_its_letters_as_answer() -> None:
    variables = {"stem": "有（ ）。", "options": ["甲", "乙", "丙"], "options_text": "A.甲 B.乙 C.丙", "answer": "C,A"}
    content = make_content(find_task("TaxMCQ"), variables)  # type: ignore[arg-type]
    assert (content.text, content.answer, content.gold) == ("有（ ）。 A.甲 B.乙 C.丙", "AC", [0, 2])


def test_a_title_gets_the_tasks_labels_and_its_categorys_place() -> None:
    content = make_content(find_task("TaxTopic"), {"title": "关于小微企业优惠的公告", "category": "税收优惠"})
    assert (content.answer, content.gold, len(content.choices)) == ("G", [6], 10)


def test_a_number_brings_its_unit() -> None:
    content = make_content(find_task("TaxCalc"), {"stem": "为xx万元。", "answer": "-72.75", "unit": "万元"})
    assert (content.answer, content.unit) == ("-72.75", "万元")


def test_an_empty_summary_gives_no_draft_and_is_named() -> None:
    with pytest.raises(NothingToFillError) as caught:
        make_content(find_task("TaxSum"), {"text": "文", "summary": " "})
    assert caught.value.variable == "summary"


def test_fixed_fields_are_put_together_in_the_tasks_order() -> None:
    variables = {"text": "文", "对应的解决措施": ["核验发票", "留存合同"], "面临的风险": "补税"}
    content = make_content(find_task("TaxRisk"), variables)  # type: ignore[arg-type]
    assert list(json.loads(content.answer).items()) == [
        ("面临的风险", "补税"),
        ("对应的解决措施", "核验发票；留存合同"),
    ]
    assert content.fields == []


def test_own_fields_are_numbers_where_they_are_numbers_and_keep_their_units() -> None:
    fields, answer = own_fields(
        {
            "核心思路": "变更纳税人身份",
            "原税额": "13.8万元",
            "税率": "３%",
            "增收": 1200,
            "降幅": "-2.50",
            "无": "",
            "备注": "约3万元左右",
        }
    )
    assert [(field.name, field.kind, field.unit) for field in fields] == [
        ("核心思路", "text", ""),
        ("原税额", "number", "万元"),
        ("税率", "number", "%"),
        ("增收", "number", ""),
        ("降幅", "number", ""),
        ("备注", "text", ""),
    ]
    assert answer == (
        '{"核心思路": "变更纳税人身份", "原税额": 13.8, "税率": 3, "增收": 1200, "降幅": -2.5, "备注": "约3万元左右"}'
    )


def test_values_are_written_as_people_write_them() -> None:
    assert [as_text(value) for value in (None, " 甲 ", 3, 3.0, 0.5, ["甲", "", "乙"], {"甲": 1})] == [
        *("", "甲", "3", "3", "0.5"),
        "甲；乙",
        "甲：1",
    ]


def test_a_filled_value_may_hold_braces() -> None:
    assert fill("文：{text}", {"text": '{"a": 1} {b}'}) == '文：{"a": 1} {b}'


def test_what_may_be_unknown_is_left_out() -> None:
    assert fill("{passed}《{title}》", {"passed": "", "title": "条例"}) == "《条例》"
    with pytest.raises(NothingToFillError):
        fill("{passed}《{title}》", {"passed": "", "title": ""})


def test_of_a_verdicts_articles_those_that_are_no_option_are_passed_over() -> None:
    choices = ["刑法第二百零一条", "刑法第二百一十一条"]
    assert find_gold(["刑法第六十七条", "刑法第二百一十一条", "刑法第三十条"], choices) == [1]
    with pytest.raises(UnusableError, match="none of 刑法第六十七条 is among the 2 options"):
        find_gold(["刑法第六十七条"], choices)
