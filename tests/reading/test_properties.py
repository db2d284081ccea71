"""Properties of reading that hold for any text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from taxpraben.reading import read_answer
from taxpraben.records.field import Field

FIELDS = [Field(name="思路", kind="text", aliases=["办法"]), Field(name="税额", kind="number", unit="万元")]
WORDS = (
    '答案 ： A B Ｃ 、 不选 正确 错误 12 3.5 万元 % { } " “ 思路 税额 ， 。 <think> </think> = + - 负 三 亿 除 以外 都'
)
PIECES = st.sampled_from([*WORDS.split(" "), " ", "\n", "\\boxed{"])
TEXTS = st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=25).map("".join))
FORMS = st.sampled_from(["single", "set", "number", "span", "text", "fields"])


@settings(max_examples=300, deadline=None)
@given(FORMS, TEXTS)
def test_reading_never_raises_and_always_explains_itself(form: str, text: str) -> None:
    result = read_answer(form, text, letters="ABCD", choices=["甲", "乙", "丙", "丁"], fields=FIELDS, unit="万元")  # type: ignore[arg-type]
    assert (result.value is None) is (result.status != "read")
    assert bool(result.reason) is (result.status != "read")
    assert (result.method == "") is (result.status != "read")


@settings(max_examples=100, deadline=None)
@given(st.sets(st.sampled_from("ABCDE"), min_size=1))
def test_strict_sets_read_as_themselves(letters: set[str]) -> None:
    text = "".join(sorted(letters))
    result = read_answer("set", text, letters="ABCDE")
    assert result.value == result.strict_value == text


@settings(max_examples=100, deadline=None)
@given(st.decimals(min_value=-(10**9), max_value=10**9, places=2))
def test_strict_numbers_are_stable(number: object) -> None:
    once = read_answer("number", str(number)).value
    assert read_answer("number", str(once)).value == once


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["答案：A、C", "应纳税额为12.5万元", "B", "不选A，应选C", "118+42=160", "A正确；B错误"]),
    st.sampled_from(["single", "set", "number"]),
    st.text(alphabet=" \n\t\u3000", max_size=4),
)
def test_reading_is_blind_to_outer_white_space_and_to_width(text: str, form: str, space: str) -> None:
    plain = read_answer(form, text, letters="ABCDE", unit="万元").value  # type: ignore[arg-type]
    wide = "".join(chr(ord(sign) + 0xFEE0) if "!" <= sign <= "~" else sign for sign in text)
    for variant in (space + text + space, wide):
        assert read_answer(form, variant, letters="ABCDE", unit="万元").value == plain  # type: ignore[arg-type]
