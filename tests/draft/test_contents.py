from __future__ import annotations

import json
from decimal import Decimal

import pytest
from pydantic import JsonValue

from stages.draft.contents import UnusableError, find_gold, make_content, own_fields
from stages.draft.templates import NothingToFillError, as_figure, as_text, fill
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
    values: list[JsonValue] = [None, " 甲 ", 3, 3.0, 0.5, ["甲", "", "乙"], {"甲": 1}]
    assert [as_text(value) for value in values] == [
        *("", "甲", "3", "3", "0.5"),
        "甲；乙",
        "甲：1",
    ]


def test_a_filled_value_may_hold_braces() -> None:
    assert fill("文：{text}", {"text": '{"a": 1} {b}'}) == '文：{"a": 1} {b}'


def test_what_may_be_unknown_is_left_out() -> None:
    assert fill("{issued}《{title}》", {"issued": "", "title": "条例"}) == "《条例》"
    with pytest.raises(NothingToFillError):
        fill("{issued}《{title}》", {"issued": "", "title": ""})


def test_of_a_verdicts_articles_those_that_are_no_option_are_passed_over() -> None:
    choices = ["刑法第二百零一条", "刑法第二百一十一条"]
    assert find_gold(["刑法第六十七条", "刑法第二百一十一条", "刑法第三十条"], choices) == [1]
    with pytest.raises(UnusableError, match="none of 刑法第六十七条 is among the 2 options"):
        find_gold(["刑法第六十七条"], choices)


@pytest.mark.parametrize(
    ("value", "choices"),
    [
        ("6%", ["16%", "6"]),
        ("征税", ["不征税", "减半征税", "免征税"]),
        ("不得抵扣", ["抵扣", "得抵扣"]),
        ("E", ["甲类", "乙类", "丙类", "丁类E"]),
        ("AE", ["甲类", "乙类", "丙类", "丁类AE"]),
        ("不属于第三条", ["第三条", "属于第三条"]),
        ("2.5", [".5", "12.5"]),
    ],
)
def test_a_text_that_ends_like_an_option_is_not_that_option(value: str, choices: list[str]) -> None:
    with pytest.raises(UnusableError, match="none of the"):
        find_gold(value, choices)


@pytest.mark.parametrize(
    ("value", "places"),
    [("６％", [1]), ("6 %", [1]), ("ＡＣ", [0, 2]), ("A， C", [0, 2]), ("小规模 纳税人", [2]), ("小规模（甲）", [3])],
)
def test_width_and_white_space_do_not_keep_an_option_from_being_found(value: str, places: list[int]) -> None:
    assert find_gold(value, ["16%", "6%", "小规模纳税人", "小规模(甲)"]) == places


@pytest.mark.parametrize("value", [["A", "E"], ["甲", "己"], ["刑法第三条", "E"]])
def test_in_a_list_only_articles_are_passed_over(value: list[str]) -> None:
    with pytest.raises(UnusableError, match=r"the answer '[E己]' is none of the 4 options"):
        find_gold(value, ["甲", "乙", "丙", "刑法第三条"])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("article", "places"),
    [
        ("第八条", [0]),
        ("中华人民共和国示范税法第八条", [0]),
        ("《示范税法》第八条", [0]),
        ("示范税法第八条之二", [1]),
        ("第八条之二", [1]),
        ("第八条之三", [0]),
    ],
)
def test_an_article_is_found_by_its_own_law_and_number(article: str, places: list[int]) -> None:
    assert find_gold(article, ["示范税法第八条", "示范税法第八条之二", "示范税法第十八条"]) == places


def test_an_article_of_another_law_is_no_option() -> None:
    with pytest.raises(UnusableError, match="none of the 1 options"):
        find_gold("非示范税法第八条", ["示范税法第八条"])


def test_an_article_that_two_options_have_is_not_guessed() -> None:
    with pytest.raises(UnusableError, match="is 2 of the 2 options"):
        find_gold("第八条", ["示范税法第八条", "示范征管法第八条"])


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (987654.32, "987654.32"),
        (7654321.98, "7654321.98"),
        (20000000.0, "20000000"),
        (1e22, "10000000000000000000000"),
        (0.000012, "0.000012"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (123456789012345678901, "123456789012345678901"),
        (float("nan"), ""),
        (float("-inf"), ""),
    ],
)
def test_figures_are_written_with_all_their_digits(value: float, written: str) -> None:
    assert as_text(value) == written


def test_a_decimal_loses_nothing_but_zeros_at_its_end() -> None:
    assert [as_figure(Decimal(text)) for text in ("98765432109876543.210", "4E+3", "-5E-7", "100", "-0.00")] == [
        *("98765432109876543.21", "4000", "-0.0000005", "100", "0"),
    ]


def test_numbers_of_own_fields_keep_their_digits_in_the_stored_answer() -> None:
    fields, answer = own_fields({"税额": "98,765,432,109,876,543.21元", "比率": "0.00001", "代码": "7" * 5000})
    assert [field.kind for field in fields] == ["number", "number", "text"]
    assert answer == f'{{"税额": 98765432109876543.21, "比率": 0.00001, "代码": "{"7" * 5000}"}}'
    assert json.loads(answer, parse_float=str)["税额"] == "98765432109876543.21"
