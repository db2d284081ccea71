import pytest
from hypothesis import given
from hypothesis import strategies as st

from taxpraben.text.shingles import jaccard, shingles, similarity


def test_shingles_are_the_runs_of_three_characters() -> None:
    assert shingles("增值税率") == {"增值税", "值税率"}


def test_a_text_shorter_than_a_shingle_is_one_shingle() -> None:
    assert shingles("税") == {"税"}
    assert shingles("。") == frozenset()


def test_similarity_is_shared_over_all_shingles() -> None:
    # 甲乙丙丁 has two shingles, 甲乙丙戊 too; one is shared, three are there in all.
    assert similarity("甲乙丙丁", "甲乙丙戊") == pytest.approx(1 / 3)


def test_width_white_space_and_punctuation_make_no_difference() -> None:
    assert similarity("税率为１３％，按月 申报。", "税率为13%按月申报") == 1.0


def test_a_decimal_point_makes_a_difference() -> None:
    assert similarity("1.5", "15") == 0.0


def test_two_empty_texts_are_alike() -> None:
    assert jaccard(frozenset(), frozenset()) == 1.0
    assert similarity("", "税务机关") == 0.0


@given(st.text(), st.text())
def test_similarity_is_symmetric_and_within_range(a: str, b: str) -> None:
    assert 0.0 <= similarity(a, b) == similarity(b, a) <= 1.0
