"""Numbers: what a person reads in an answer (expected values calculated by hand)."""

from __future__ import annotations

from decimal import Decimal

import pytest

from taxpraben.reading import read_answer
from taxpraben.reading.amounts import amounts, chinese_number

CASES = [
    # form of the figure
    ("\\boxed{12,500}", "", "12500"),
    ("1200.00", "", "1200"),
    ("８６．５", "", "86.5"),
    ("-3.20", "", "-3.2"),
    ("负5.5万元", "万元", "-5.5"),
    ("利润总额为−20万元", "万元", "-20"),
    ("￥1,234.50", "元", "1234.5"),
    ("8{,}000", "", "8000"),
    ("1.2e3", "", "1200"),
    # units
    ("应纳税额为36万元", "元", "360000"),
    ("应纳税额为360000元", "万元", "36"),
    ("36万", "元", "360000"),
    ("5.6亿元", "万元", "56000"),
    ("应纳税额为36万元", "", "36"),
    ("17％", "%", "17"),
    ("0.3‰", "%", "0.03"),
    ("百分之二十五", "%", "25"),
    ("15%，总分100", "%", "15"),
    ("税率为13%，应纳税额为26万元", "万元", "26"),
    # Chinese numerals and financial capitals
    ("二十万零五百元", "元", "200500"),
    ("叁万伍仟元整", "元", "35000"),
    ("答案是三点五万元", "万元", "3.5"),
    ("3万5千元", "元", "35000"),
    ("1亿2000万元", "万元", "12000"),
    ("八元五角", "元", "8.5"),
    # sums, totals, conclusions
    ("118+42=160", "", "160"),
    ("应纳税额=100×13%-5=8（万元）", "万元", "8"),
    ("2万元 + 3.5万元 = 5.5万元", "元", "55000"),
    ("第一笔3万元，第二笔4万元，合计7万元。", "万元", "7"),
    ("收入100万元，成本60万元，因此应纳税所得额为40万元。", "万元", "40"),
    ("答案：38.25万元，计算依据为税率25%", "万元", "38.25"),
    ("[金额]4500元<eoa>\n请你回答：\n文书：……\n[金额]9000元<eoa>", "元", "4500"),
    # figures that are no answers
    ("2027年该企业应缴纳税额是640.00万元", "万元", "640"),
    ("根据该法第二十八条，应纳税额为5万元", "万元", "5"),
    ("业务（3）应缴纳增值税为13.6万元", "万元", "13.6"),
    ("1. 应缴纳印花税为0.3万元", "万元", "0.3"),
]
UNREAD = [
    ("应缴增值税5万元，应缴城建税0.35万元", "万元", "several"),
    ("12万元至15万元", "万元", "no number"),
    ("罚款3000余元", "元", "no number"),
    ("请补充业务资料", "元", "no number"),
]


@pytest.mark.parametrize(("text", "unit", "value"), CASES)
def test_number_is_read_in_the_asked_unit(text: str, unit: str, value: str) -> None:
    result = read_answer("number", text, unit=unit)
    assert result.value == value, result
    assert result.evidence in text


@pytest.mark.parametrize(("text", "unit", "why"), UNREAD)
def test_number_that_cannot_be_told_stays_unread_with_a_reason(text: str, unit: str, why: str) -> None:
    result = read_answer("number", text, unit=unit)
    assert (result.value, result.status) == (None, "unread")
    assert why in result.reason


def test_question_names_the_unit_where_the_item_does_not() -> None:
    question = "业务（1）应缴纳消费税为xx万元"
    assert read_answer("number", "业务（1）应缴纳消费税为250000元", question=question).value == "25"


def test_figures_that_restate_the_question_give_way_to_the_new_one() -> None:
    question = "甲公司收入500万元，成本300万元，应缴纳企业所得税xx万元"
    assert read_answer("number", "收入500万元，成本300万元，税额50万元", question=question).value == "50"


def test_fine_is_no_answer_to_a_question_about_another_sum() -> None:
    text = "判处罚金人民币三万元。"
    assert read_answer("number", text, unit="元", question="少缴税款共计多少元？").value is None
    assert read_answer("number", text, unit="元", question="罚金是多少元？").value == "30000"


@pytest.mark.parametrize(
    ("text", "strict"), [("36.50", "36.5"), ("-2", "-2"), ("1,200", None), ("36万元", None), ("25%", None)]
)
def test_strict_number_is_a_bare_decimal(text: str, strict: str | None) -> None:
    assert read_answer("number", text).strict_value == strict


@pytest.mark.parametrize(
    ("text", "value"),
    [("一千二百", "1200"), ("三点五万", "35000"), ("二〇二六", "2026"), ("十二", "12"), ("零点三", "0.3")],
)
def test_chinese_numeral_has_its_value(text: str, value: str) -> None:
    assert chinese_number(text) == Decimal(value)


def test_minus_between_two_figures_is_no_sign() -> None:
    assert [str(amount.value) for amount in amounts("100-30")] == ["100", "30"]
    assert [str(amount.value) for amount in amounts("为-30")] == ["-30"]
