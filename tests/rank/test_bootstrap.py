"""Draws, intervals and shared ranks."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.multitest import multipletests

from stages.rank.bootstrap import difference_p, draw_weights, holm, interval, leads, shared_ranks
from stages.rank.pairing import Pair, told_apart


def test_draws_hold_as_many_items_as_there_are_and_repeat_by_seed() -> None:
    weights = draw_weights(7, 50, seed=3, name="TaxQA")
    assert weights.shape == (50, 7)
    assert (weights.sum(axis=1) == 7).all()
    assert (weights == draw_weights(7, 50, seed=3, name="TaxQA")).all()
    assert not (weights == draw_weights(7, 50, seed=4, name="TaxQA")).all()
    assert not (weights == draw_weights(7, 50, seed=3, name="TaxSum")).all()


def test_interval_of_a_mean_agrees_with_the_normal_one() -> None:
    # Bernoulli(0.3), n = 400: standard error sqrt(0.3 * 0.7 / 400) = 0.0229, so about 0.3 ± 0.045.
    values = np.array([1.0] * 120 + [0.0] * 280)
    draws = draw_weights(400, 4000, seed=1, name="x") @ values / 400
    found = interval(draws, 0.95)
    assert found is not None
    assert found[0] == pytest.approx(0.255, abs=0.006)
    assert found[1] == pytest.approx(0.345, abs=0.006)
    assert interval(np.zeros(0), 0.95) is None


def test_equal_models_share_a_rank_and_the_next_takes_its_place_in_the_list() -> None:
    assert shared_ranks({"a": 0.5, "b": 0.5, "c": 0.2}, lambda _, __: True) == {"a": 1, "b": 1, "c": 3}


def test_models_that_the_interval_cannot_tell_apart_share_a_rank() -> None:
    generator = np.random.default_rng(0)
    noise = generator.normal(0, 0.05, 2000)
    draws = {"a": 0.50 + noise, "b": 0.49 + generator.normal(0, 0.05, 2000), "c": 0.3 + noise}
    ranks = shared_ranks(
        {"a": 0.50, "b": 0.49, "c": 0.3}, lambda first, second: leads(draws[first], draws[second], 0.95, 100)
    )
    assert ranks == {"a": 1, "b": 1, "c": 3}


def test_paired_difference_tells_apart_what_single_intervals_would_not() -> None:
    noise = np.random.default_rng(0).normal(0, 0.05, 2000)
    better, worse = 0.50 + noise, 0.49 + noise
    first, second = interval(better, 0.95), interval(worse, 0.95)
    assert first is not None
    assert second is not None
    assert first[0] < second[1]
    assert leads(better, worse, 0.95, 200)
    assert not leads(worse, better, 0.95, 200)


def test_without_draws_the_means_decide_save_where_nothing_is_common() -> None:
    assert told_apart([Pair(np.zeros(0), np.zeros(0), 9)], 0.95)
    assert not told_apart([Pair(np.zeros(0), np.zeros(0), 9), None], 0.95)


def test_holm_gives_what_statsmodels_gives_and_passes_over_the_missing() -> None:
    values = {"a": 0.01, "b": 0.04, "c": None, "d": 0.03, "e": 0.8, "f": 0.03}
    known = {name: value for name, value in values.items() if value is not None}
    expected = dict(zip(known, multipletests(list(known.values()), method="holm")[1], strict=True))
    assert holm(values) == {**{name: pytest.approx(value) for name, value in expected.items()}, "c": None}


def test_p_of_a_difference_is_two_sided_and_never_zero() -> None:
    # 1,000 draws, 25 of them on the other side: 2 * 26 / 1001.
    difference = np.array([-0.1] * 25 + [0.2] * 975)
    assert difference_p(difference, np.zeros(1000), 40) == pytest.approx(2 * 26 / 1001)
    assert difference_p(np.zeros(1000), difference, 40) == pytest.approx(2 * 26 / 1001)
    assert difference_p(np.ones(1000), np.zeros(1000), 40) == pytest.approx(2 / 1001)
    assert difference_p(np.zeros(1000), np.zeros(1000), 40) == 1.0
    assert difference_p(np.zeros(0), np.zeros(0), 40) is None


def test_few_items_tell_nothing_whatever_the_draws() -> None:
    # A sign test in which all items agree: two-sided 2 * 0.5**n.
    better, worse = np.ones(1000), np.zeros(1000)
    for items in (1, 2, 3, 5):
        least = scipy.stats.binomtest(items, items, 0.5).pvalue
        assert difference_p(better, worse, items) == pytest.approx(least)
        assert not leads(better, worse, 0.95, items)
    assert leads(better, worse, 0.95, 6)
    assert difference_p(better, worse, 20) == pytest.approx(2 / 1001)
