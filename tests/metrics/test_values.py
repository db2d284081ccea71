"""Exact match, ROUGE-L and chrF (expected values by hand, or from the package named)."""

from __future__ import annotations

import pytest
from sacrebleu.metrics import CHRF

from taxpraben.metrics import Pair, find_metric
from taxpraben.metrics.base import Compared


def exact(reference: str, candidate: str | None, compared: Compared) -> float | None:
    """The exact match of one pair."""
    return (
        find_metric("exact_match")
        .score_pairs([Pair(reference=reference, candidate=candidate, compared=compared)])[0]
        .value
    )


@pytest.mark.parametrize(
    ("gold", "said", "equal"),
    [
        ("900", "900.00", 1.0),
        ("-72.75", "-72.75", 1.0),
        ("-72.75", "72.75", 0.0),
        ("12.35", "12.3456", 1.0),  # the gold shows two places
        ("12.35", "12.344", 0.0),
        ("12.35", "12.345", 1.0),  # half up
        ("12", "12.4", 1.0),
        ("12.40", "12.4", 1.0),
        ("1,200", "1200", 1.0),
        ("0", "-0", 1.0),
    ],
)
def test_numbers_are_equal_at_the_precision_of_the_gold(gold: str, said: str, equal: float) -> None:
    assert exact(gold, said, "number") == equal


@pytest.mark.parametrize(
    ("gold", "said", "equal"),
    [
        ("十五日内", "十五日内。", 1.0),
        ("2027年3月1日", "２０２７年３月１日", 1.0),
        ("增值税 专用发票", "增值税专用发票", 1.0),
        ("十五日内", "“十五日内”", 1.0),
        ("12.5%", "125%", 0.0),
        ("十五日内", "在十五日内", 0.0),
    ],
)
def test_spans_are_equal_apart_from_width_blanks_and_outer_marks(gold: str, said: str, equal: float) -> None:
    assert exact(gold, said, "span") == equal


def test_letters_are_equal_as_sets_and_unread_is_wrong() -> None:
    assert exact("AC", "CA", "letters") == 1.0
    assert exact("AC", "A", "letters") == 0.0
    assert exact("AC", None, "letters") == 0.0


def test_rouge_l_is_the_f_of_the_longest_common_subsequence() -> None:
    # 应当按季申报 (6) and 按季如实申报 (6) share 按季申报 (4): P = R = 4/6.
    pair = Pair(reference="应当按季申报", candidate="按季如实申报", compared="text")
    assert find_metric("rouge_l").score_pairs([pair])[0].value == pytest.approx(2 / 3)


def test_chrf_is_that_of_sacrebleu() -> None:
    reference, candidate = "纳税人应当按季申报", "纳税人按季度申报"
    pair = Pair(reference=reference, candidate=candidate, compared="text")
    expected = CHRF().sentence_score(candidate, [reference]).score
    assert find_metric("chrf").score_pairs([pair])[0].value == pytest.approx(expected)


@pytest.mark.parametrize("name", ["rouge_l", "chrf"])
def test_empty_and_unread_texts_score_nothing_and_say_so(name: str) -> None:
    scores = find_metric(name).score_pairs(
        [Pair(reference="甲", candidate=" ", compared="text"), Pair(reference="甲", candidate=None, compared="text")]
    )
    assert [(score.value, score.flags) for score in scores] == [(0.0, ("empty",)), (0.0, ("unread",))]
