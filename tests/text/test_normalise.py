from hypothesis import given
from hypothesis import strategies as st

from taxpraben.text.normalise import normalise, tidy


def test_full_width_letters_digits_and_punctuation_become_half_width() -> None:
    assert normalise("Ａ．１２％（甲）") == "A.12%(甲)"


def test_ellipsis_and_square_metres_are_not_taken_apart() -> None:
    assert normalise("共３㎡…") == "共3㎡…"


def test_invisible_and_private_use_characters_are_removed() -> None:
    assert normalise("税\u200b款\ufeff\ue123") == "税款"


def test_white_space_becomes_single_spaces_and_blank_lines_go() -> None:
    assert normalise(" 一\u3000\t二 \r\n\r\n 三 ") == "一 二\n三"


def test_tidy_keeps_widths_as_printed() -> None:
    assert tidy("第一条　　为了（试点）\n\n  Ａ 项 ") == "第一条　为了（试点）\nＡ 项"


@given(st.text())
def test_normalise_is_idempotent(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)
