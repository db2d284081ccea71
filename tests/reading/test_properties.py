"""Properties of reading that hold for any text."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stages.read.outputs import load_rows, read_rows, write_readings
from taxpraben.reading import read_answer
from taxpraben.reading.asked import ReadResult
from taxpraben.records.field import Field

FIELDS = [Field(name="思路", kind="text", aliases=["办法"]), Field(name="税额", kind="number", unit="万元")]
WORDS = (
    '答案 ： A B Ｃ 、 不选 正确 错误 12 3.5 万元 % { } " “ 思路 税额 ， 。 <think> </think> = + - 负 三 亿 '
    "除 以外 都 选 选项 综上 故 因此 [答案] <eoa> 【 】 ( ） 年 月 第 条 至 余 共计 1,200 1 . ; \\ ' ： : "
    "null [ ] ``` json ** 或 和 a option"
)
PIECES = st.sampled_from([*WORDS.split(" "), " ", "\n", "\n\n", "\t", "\\boxed{", "\u3000", "我无法回答"])
ANYTHING = st.text(alphabet=st.characters(codec=None), max_size=60)  # lone surrogates and controls too
TEXTS = st.one_of(ANYTHING, st.lists(PIECES, max_size=25).map("".join))
FORMS = st.sampled_from(["single", "set", "number", "span", "text", "fields"])
PROMPT = "请从A、B、C、D中选择，写在[答案]与<eoa>之间，例如[答案]A<eoa>。\n甲公司应纳税额为xx万元？"


def read(form: str, text: str, unit: str = "万元", prompt: str = "") -> ReadResult:
    choices = ["甲", "乙", "丙", "丁"]
    return read_answer(form, text, letters="ABCD", choices=choices, fields=FIELDS, unit=unit, prompt=prompt)  # type: ignore[arg-type]


def wide(text: str) -> str:
    return "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text)


@settings(max_examples=250, deadline=None)
@given(FORMS, TEXTS, st.sampled_from(["万元", "%", "", "个月", "吨"]), st.sampled_from(["", PROMPT]))
def test_reading_never_raises_and_always_explains_itself(form: str, text: str, unit: str, prompt: str) -> None:
    result = read(form, text, unit, prompt)
    assert (result.value is None) is (result.status != "read")
    assert bool(result.reason) is (result.status != "read")
    assert (result.method == "") is (result.status != "read")


@settings(max_examples=150, deadline=None)
@given(FORMS, TEXTS)
def test_evidence_stands_in_the_answer(form: str, text: str) -> None:
    assert read(form, text).evidence in text


@settings(max_examples=150, deadline=None)
@given(FORMS, TEXTS)
def test_what_is_in_the_asked_form_reads_as_itself_and_again(form: str, text: str) -> None:
    strict = read(form, text).strict_value
    if strict is None:
        return
    again = json.dumps(strict, ensure_ascii=False) if isinstance(strict, dict) else str(strict)
    assert read(form, again).strict_value == strict
    if form in ("single", "set", "number", "text"):
        assert read(form, text).value == strict


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(["single", "set", "number"]), TEXTS)
def test_what_was_read_reads_as_itself(form: str, text: str) -> None:
    value = read(form, text).value
    if value is not None:
        assert read(form, str(value)).strict_value == value


@settings(max_examples=100, deadline=None)
@given(st.sets(st.sampled_from("ABCDEFGHIJKLM"), min_size=1), st.sampled_from(["ABCDE", "ABCDEFGHIJ", "ABCDEFGHIJKLM"]))
def test_strict_sets_read_as_themselves(letters: set[str], allowed: str) -> None:
    text = "".join(sorted(letters & set(allowed)))
    if text:
        result = read_answer("set", text, letters=allowed)
        assert result.value == result.strict_value == text


@settings(max_examples=100, deadline=None)
@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2))
def test_strict_numbers_are_stable(number: object) -> None:
    once = read_answer("number", str(number)).value
    assert read_answer("number", str(once)).value == once


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(["single", "set", "number", "span"]),
    st.lists(PIECES, max_size=12).map("".join),
    st.text(alphabet=" \n\t\u3000", max_size=4),
)
def test_reading_is_blind_to_white_space_around_an_answer(form: str, text: str, space: str) -> None:
    assert read(form, space + text + space).value == read(form, text).value


@settings(max_examples=250, deadline=None)
@given(st.sampled_from(["single", "set", "number"]), st.lists(PIECES, max_size=12).map("".join))
def test_reading_is_blind_to_width(form: str, text: str) -> None:
    assert read(form, wide(text)).value == read(form, text).value


TOKENS = [
    ("single", ["答案", "：", "C"], "C"),
    ("single", ["正确选项", "为", "（", "B", "）"], "B"),
    ("single", ["不选", "A", "，", "应选", "C"], "C"),
    ("single", ["\\boxed{", "D", "}"], "D"),
    ("set", ["答案", "：", "A", "、", "C"], "AC"),
    ("set", ["A", "正确", "；", "B", "错误", "；", "C", "正确"], "AC"),
    ("set", ["除", "B", "以外", "，", "其余都正确"], "ACD"),
    ("number", ["应纳税额", "为", "12.5", "万元"], "12.5"),
    ("number", ["118", "+", "42", "=", "160"], "160"),
    ("number", ["共计", "三十万", "元"], "30"),
    ("number", ["答案", "：", "负", "8", "万元"], "-8"),
]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(TOKENS), st.data())
def test_reading_is_blind_to_blanks_between_words(case: tuple[str, list[str], str], data: st.DataObject) -> None:
    form, tokens, value = case
    blanks = st.text(alphabet=" \t\u3000", max_size=2)
    assert read(form, "".join(token + data.draw(blanks) for token in tokens)).value == value


@settings(max_examples=25, deadline=None)
@given(rows=st.lists(st.one_of(st.text(max_size=30), st.dictionaries(st.sampled_from(["id", "form", "text"]), TEXTS))))
def test_no_row_of_a_file_is_lost(rows: list[object], tmp_path_factory: pytest.TempPathFactory) -> None:
    folder: Path = tmp_path_factory.mktemp("rows")
    good = {"id": "last", "form": "single", "options": "AB", "text": "选B"}
    lines = [json.dumps(row) if isinstance(row, dict) else row.replace("\n", " ") for row in [*rows, good]]  # type: ignore[attr-defined]
    (folder / "in.jsonl").write_text("\n".join(lines), encoding="utf-8")
    loaded = load_rows(folder / "in.jsonl")
    write_readings(folder / "out.jsonl", loaded, read_rows(loaded))
    out = [json.loads(line) for line in (folder / "out.jsonl").read_text(encoding="utf-8").split("\n") if line]
    assert len(out) == sum(bool(line.strip()) for line in lines)
    assert (out[-1]["id"], out[-1]["value"]) == ("last", "B")
    assert all(row["status"] == "reader_error" for row in out[:-1])


@pytest.mark.parametrize(
    "piece", ["A ", "A、", "(", "{", "[", "“", "1 ", "1+", "一", "9", "答案", "\n ", "<think>", "<eoa>"]
)
@pytest.mark.parametrize("form", ["single", "set", "number", "span", "fields"])
def test_no_text_takes_long(form: str, piece: str) -> None:
    begun = time.process_time()
    read_answer(form, piece * 3000, letters="ABCDEFGHIJKLM", fields=FIELDS, unit="万元", prompt=PROMPT)  # type: ignore[arg-type]
    assert time.process_time() - begun < 3
