"""Draws, intervals and shared ranks."""

from __future__ import annotations

import numpy as np
import pytest

from stages.rank.bootstrap import draw_weights, interval, leads, shared_ranks
from stages.rank.pairing import told_apart


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
        {"a": 0.50, "b": 0.49, "c": 0.3}, lambda first, second: leads(draws[first], draws[second], 0.95)
    )
    assert ranks == {"a": 1, "b": 1, "c": 3}


def test_paired_difference_tells_apart_what_single_intervals_would_not() -> None:
    noise = np.random.default_rng(0).normal(0, 0.05, 2000)
    better, worse = 0.50 + noise, 0.49 + noise
    first, second = interval(better, 0.95), interval(worse, 0.95)
    assert first is not None
    assert second is not None
    assert first[0] < second[1]
    assert leads(better, worse, 0.95)
    assert not leads(worse, better, 0.95)


def test_without_draws_the_means_decide_save_where_nothing_is_common() -> None:
    assert told_apart([(np.zeros(0), np.zeros(0))], 0.95)
    assert not told_apart([(np.zeros(0), np.zeros(0)), None], 0.95)
