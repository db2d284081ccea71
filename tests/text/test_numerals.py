import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxpraben.text.numerals import format_chinese_number, parse_chinese_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("十", 10), ("十二", 12), ("二十", 20), ("一百零五", 105), ("一百一十一", 111), ("四百五十二", 452),
        ("二〇二五", 2025), ("两千", 2000), ("三万五千", 35_000), ("一亿零三十", 100_000_030), ("一万亿", 10**12),
        ("壹拾贰", 12), ("叁仟陆佰", 3600), ("一百二", 120), ("三万五", 35_000), ("一千零五", 1005), ("１２", 12),
    ],
)  # fmt: skip
def test_numerals_are_read(text: str, value: int) -> None:
    assert parse_chinese_number(text) == value


@pytest.mark.parametrize("text", ["", "第三", "三条", "万", "甲"])
def test_what_is_no_numeral_is_none(text: str) -> None:
    assert parse_chinese_number(text) is None


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "零"), (10, "十"), (11, "十一"), (20, "二十"), (110, "一百一十"), (205, "二百零五"), (10_010, "一万零一十"),
     (35_000, "三万五千"), (100_010_000, "一亿零一万"), (10**12, "一万亿")],
)  # fmt: skip
def test_numbers_are_written_as_statutes_print_them(value: int, text: str) -> None:
    assert format_chinese_number(value) == text


@given(st.integers(min_value=0, max_value=10**16 - 1))
def test_a_written_number_is_read_back(value: int) -> None:
    assert parse_chinese_number(format_chinese_number(value)) == value


def test_numbers_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="no Chinese numeral"):
        format_chinese_number(-1)
