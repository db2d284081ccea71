"""A metric over a list of answers with its bootstrap interval: for outputs that are no part of a release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stages.rank.bootstrap import Floats, draw_weights, interval
from stages.rank.params import RankParams
from taxpraben.metrics import Metric, Pair
from taxpraben.metrics.confusion import LabelMetric, pair_flags


@dataclass(frozen=True)
class Measured:
    """A value with the interval that holds it; no interval without draws.

    Attributes:
        draws: the value in each draw.
    """

    value: float
    low: float | None
    high: float | None
    draws: Floats

    @classmethod
    def of(cls, value: float, draws: Floats, level: float) -> Measured:
        """With the interval of the draws."""
        bounds = interval(draws, level)
        low, high = bounds or (None, None)
        return cls(value, low, high, draws)


def measure_values(
    values: Sequence[float | None], items: Sequence[str], params: RankParams, name: str = ""
) -> Measured:
    """The mean of values, and its interval over items: several rows of one item are drawn together.

    Args:
        values: one a row; None where a row has nothing to compare.
        items: the item of each row.
        params: draws, level and seed.
        name: of the dataset; one name gives one set of draws, so that differences are paired.
    """
    known = np.array([value is not None for value in values], dtype=np.float64)
    row = np.array([value or 0.0 for value in values], dtype=np.float64)
    weights = _weights(items, params, name)
    with np.errstate(invalid="ignore", divide="ignore"):
        draws = (weights @ row) / (weights @ known) if len(weights) else np.zeros(0)
        return Measured.of(float(row.sum() / known.sum()), draws, params.level)


def measure_labels(
    metric: type[LabelMetric], pairs: Sequence[Pair], items: Sequence[str], letters: str, params: RankParams, name: str
) -> Measured:
    """A metric that exists over lists only, and its interval over items."""
    golds, picks = pair_flags(pairs, letters)
    hits = golds & picks

    def value(weights: Floats) -> Floats:
        right, gold, picked = (weights @ flags.astype(np.float64) for flags in (hits, golds, picks))
        return metric.from_counts(right, gold, picked, weights.sum(axis=1))

    weights = _weights(items, params, name)
    draws = value(weights) if len(weights) else np.zeros(0)
    return Measured.of(float(value(np.ones((1, len(pairs))))[0]), draws, params.level)


def mean_of(parts: Sequence[Measured], params: RankParams) -> Measured:
    """The plain mean of measures with the same draws."""
    draws = np.mean([part.draws for part in parts], axis=0)
    return Measured.of(float(np.mean([part.value for part in parts])), draws, params.level)


def in_unit(found: Measured, metric: type[Metric], params: RankParams) -> Measured:
    """The same on the scale from 0 to 1."""
    return Measured.of(float(metric.to_unit(found.value)), np.asarray(metric.to_unit(found.draws)), params.level)


def _weights(items: Sequence[str], params: RankParams, name: str) -> Floats:
    """(draws, rows): how often each row's item is in each draw."""
    order = {item: place for place, item in enumerate(dict.fromkeys(items))}
    if not params.draws or not order:
        return np.zeros((0, len(items)))
    return draw_weights(len(order), params.draws, params.seed, name)[:, [order[item] for item in items]]
