"""What stands around an answer: reasoning, echoes, run-on text, refusals, and answers that never came."""

from __future__ import annotations

import pytest

from taxpraben.reading import read_answer


@pytest.mark.parametrize(
    ("text", "value", "status"),
    [
        ("<think>先看A，再看B</think>\n\nC", "C", "read"),
        ("<think>像是A</think>不对，重来<think>再想想</think>D", "D", "read"),
        ("像是A，排除</think>\nB", "B", "read"),
        ("<THINKING>A</THINKING>B", "B", "read"),
        ("<|channel|>analysis<|message|>A 可能对<|end|><|start|>assistant<|channel|>final<|message|>C", "C", "read"),
        ("<think>看起来应该选B", None, "truncated"),
        ("<think>B</think>", None, "unread"),
    ],
)
def test_reasoning_is_no_answer(text: str, value: str | None, status: str) -> None:
    result = read_answer("single", text, letters="ABCD")
    assert (result.value, result.status) == (value, status)


def test_text_form_drops_reasoning_and_keeps_the_rest_as_it_is() -> None:
    result = read_answer("text", "<think>概括要点</think>\n 示范市下调了费率。\n")
    assert result.value == result.strict_value == "示范市下调了费率。"


def test_echoed_prompt_with_its_example_is_no_answer() -> None:
    prompt = "请从A,B,C,D中选择并写在[答案]与<eoa>之间，例如[答案]A<eoa>。\n"
    prompt += "题目：关于纳税期限，哪一项正确？A:按日;B:按月;C:按年;D:按次"
    assert read_answer("single", f"{prompt}\n[答案]C<eoa>", letters="ABCD", prompt=prompt).value == "C"
    assert read_answer("single", prompt, letters="ABCD", prompt=prompt).value is None


def test_short_answer_that_stands_in_the_prompt_is_kept() -> None:
    prompt = "选项：A.按日 B.按月。示例答案：[答案]A<eoa>"
    assert read_answer("single", "[答案]A<eoa>", letters="AB", prompt=prompt).value == "A"


@pytest.mark.parametrize(
    "text",
    [
        "抱歉，我不能提供该问题的答案。",
        "作为人工智能助手，我无法回答这道题。",
        "I'm sorry, but I can't help with that.",
        "我暂时还不能回答这个问题",
    ],
)
def test_refusal_is_a_state_of_its_own(text: str) -> None:
    result = read_answer("single", text, letters="ABCD")
    assert (result.status, result.value) == ("refused", None)


def test_answer_that_apologises_on_its_way_is_an_answer() -> None:
    assert read_answer("single", "很抱歉让您久等。答案：B", letters="ABCD").value == "B"
    advice = "您好，该情形无法在电子税务局办理，请携带资料到办税服务厅申请。"
    assert read_answer("text", advice).status == "read"


@pytest.mark.parametrize(
    ("status", "expected", "flag"),
    [
        ("error", "unread", "no_answer"),
        ("too_long", "unread", "no_answer"),
        ("refused", "refused", None),
        ("content_filter", "refused", None),
        ("empty", "unread", "empty"),
        ("length", "truncated", "empty"),
    ],
)
def test_answer_that_never_came_has_a_status_and_a_reason(status: str, expected: str, flag: str | None) -> None:
    result = read_answer("text", "", status=status)  # type: ignore[arg-type]
    assert (result.status, result.value) == (expected, None)
    assert result.reason
    assert flag is None or flag in result.flags


def test_cut_answer_is_read_where_it_can_be_and_flagged() -> None:
    result = read_answer("single", "答案：C，因为根据", letters="ABCD", status="length")
    assert (result.value, result.flags) == ("C", ("length",))
    assert read_answer("single", "根据题意，需要先判断", letters="ABCD", status="length").status == "truncated"


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("十五日内", "十五日内"),
        ("答案：十五日内。", "十五日内"),
        ("根据上述材料，“十五日内”", "十五日内"),
        ("十五日内\n\n解析：文中第二段写明。", "十五日内"),
    ],
)
def test_span_loses_its_introduction_quotes_and_explanation(text: str, span: str) -> None:
    assert read_answer("span", text).value == span


def test_span_that_is_not_in_the_passage_is_flagged() -> None:
    passage = "文本：纳税人应当在十五日内申报。问题：期限？"
    assert read_answer("span", "十五日内", question=passage).flags == ()
    assert read_answer("span", "三十日内", question=passage).flags == ("not_in_passage",)
