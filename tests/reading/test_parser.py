"""The model parser: when it is asked, what it is shown, and when it is not believed."""

from __future__ import annotations

import json

import pytest

from taxpraben.reading import Asked, ParserUnavailableError, read_answer
from taxpraben.reading.parser import parse_with_model
from taxpraben.records.field import Field

FIELDS = [Field(name="风险点", kind="text"), Field(name="措施", kind="text")]
PROSE = "企业账外收款，容易少记收入。建议统一使用对公账户。"


def replying(reply: str) -> tuple[list[str], object]:
    """A parser that gives one reply and notes its prompts."""
    seen: list[str] = []

    def ask(prompt: str) -> str:
        seen.append(prompt)
        return reply

    return seen, ask


def test_parser_is_not_asked_where_the_rules_suffice() -> None:
    seen, ask = replying("{}")
    assert read_answer("single", "答案：B", letters="ABCD", ask=ask).method == "rules"  # type: ignore[arg-type]
    assert seen == []


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("综合来看，应当适用的标准是每年六万块钱这一档。", True),  # B in other words
        ("这种情形应当给予一定时期的定期减免。", True),  # D in other words
        ("综合来看，应当适用的标准是每年八万块钱这一档。", False),  # none of them
        (
            "本题考查个人所得税的有关规定。" * 20 + "纳税人应当定期减免有关的支出。" * 20,
            False,
        ),  # much talk touches on much
    ],
)
def test_parser_is_asked_of_a_short_answer_that_paraphrases_an_option(text: str, asked: bool) -> None:
    seen, ask = replying("{}")
    read_answer(
        "single",
        text,
        letters="ABCD",
        choices=["三万元", "六万元", "十万元", "定期减免企业所得税"],
        ask=ask,  # type: ignore[arg-type]
    )
    assert bool(seen) == asked


def test_parser_sees_the_answer_and_reads_fields_that_it_quotes() -> None:
    seen, ask = replying('{"风险点": "账外收款，容易少记收入", "措施": "统一使用对公账户"}')
    result = read_answer("fields", PROSE, fields=FIELDS, ask=ask)  # type: ignore[arg-type]
    assert (result.status, result.method) == ("read", "model")
    assert result.value == {"风险点": "账外收款，容易少记收入", "措施": "统一使用对公账户"}
    assert PROSE in seen[0]


@pytest.mark.parametrize(
    "reply",
    [
        '{"风险点": "虚列成本", "措施": ""}',  # stands nowhere in the answer
        "没有找到",
        "",
    ],
)
def test_invented_or_shapeless_fields_are_a_reader_error(reply: str) -> None:
    _, ask = replying(reply)
    result = read_answer("fields", PROSE, fields=FIELDS, ask=ask)  # type: ignore[arg-type]
    assert (result.status, result.value) == ("reader_error", None)
    assert "model parser" in result.reason


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("先算出两笔，合起来大约要补缴1000万元或者略多。", "元", "10000000"),
        ("先算出两笔，合起来大约要补缴1000万元或者略多。", "万元", "1000"),
        ("先算出两笔，合起来大约要补缴1000万元，即1000上下。", "元", "1000"),  # written in two ways: as the model says
        ("先算出两笔，合起来大约要补缴1000元或者略多。", "万元", "0.1"),
    ],
)
def test_figure_of_the_parser_has_the_unit_that_it_has_in_the_answer(text: str, unit: str, value: str) -> None:
    _, ask = replying(json.dumps({"答案": "1000", "原文": text}, ensure_ascii=False))
    asked = Asked(form="number", unit=unit)
    assert parse_with_model(asked, text, ask).value == value  # type: ignore[arg-type]
    fields = Asked(form="fields", fields=[Field(name="补缴税额", kind="number", unit=unit)])
    _, ask = replying('{"补缴税额": 1000}')
    assert parse_with_model(fields, text, ask).value == {"补缴税额": value}  # type: ignore[arg-type]


def test_empty_fields_of_the_parser_leave_the_answer_unread() -> None:
    _, ask = replying('{"风险点": "", "措施": ""}')
    assert read_answer("fields", PROSE, fields=FIELDS, ask=ask).status == "unread"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "quote", "status"),
    [
        ("C", "第三个说法才站得住", "read"),
        ("C", "“第三个说法才站得住。。”", "read"),
        ("C", "第三个选项正确", "reader_error"),
        ("G", "第三个说法才站得住", "reader_error"),
        ("", "", "unread"),
    ],
)
def test_choice_of_the_parser_needs_a_quote_from_the_answer(value: str, quote: str, status: str) -> None:
    _, ask = replying(json.dumps({"答案": value, "原文": quote}, ensure_ascii=False))
    result = read_answer("single", "比较下来，第三个说法才站得住。", letters="ABCD", ask=ask)  # type: ignore[arg-type]
    assert result.status == status
    assert (result.value == "C") is (status == "read")


def test_parser_that_cannot_be_reached_is_a_reader_error() -> None:
    def ask(prompt: str) -> str:
        raise ParserUnavailableError("no route")

    result = read_answer("single", "比较下来都可以。", letters="ABCD", ask=ask)
    assert result.status == "reader_error"
    assert "no route" in result.reason
