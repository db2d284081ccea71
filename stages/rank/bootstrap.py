"""Bootstrap over items: the draws, the interval of a mean, and which models a difference tells apart."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


def draw_weights(items: int, draws: int, seed: int, name: str) -> Floats:
    """How often each item is in each draw: (draws, items), each row summing to ``items``.

    The same draws serve every model with the same items and every protocol of a dataset, so differences between them
    are paired.
    """
    generator = np.random.default_rng([seed, zlib.crc32(name.encode())])
    return generator.multinomial(items, np.full(items, 1 / items), size=draws).astype(np.float64)


def interval(draws: Floats, level: float) -> tuple[float, float] | None:
    """The percentile interval of one model's draws; None without draws."""
    finite = draws[np.isfinite(draws)]
    if not len(finite):
        return None
    low, high = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def least_p(items: int) -> float:
    """The smallest p-value that so many items can give: that of a sign test in which all of them agree.

    A bootstrap over two items has three different draws; that all lie on one side says nothing of a third item.
    """
    return float(0.5 ** (items - 1))


def leads(better: Floats, worse: Floats, level: float, items: int) -> bool:
    """Whether the paired interval of the difference lies above 0, and its items are enough to say so."""
    found = interval(better - worse, level)
    return found is not None and found[0] > 0 and least_p(items) < 1 - level


def difference_p(first: Floats, second: Floats, items: int) -> float | None:
    """Two-sided p-value of the paired difference: twice the smaller share of draws on either side of 0.

    One draw is added to both counts (Davison and Hinkley 1997, section 4.2), so 1,000 draws give no less than 0.002;
    few items give no less than ``least_p``. None without draws.

    Args:
        first: draws of one model.
        second: those of another over the same items.
        items: how many these are.
    """
    difference = (first - second)[np.isfinite(first - second)]
    if not len(difference):
        return None
    below, above = (difference <= 0).sum(), (difference >= 0).sum()
    drawn = float(min(1.0, 2 * (1 + min(below, above)) / (len(difference) + 1)))
    return max(drawn, min(1.0, least_p(items)))


def holm(p_values: Mapping[str, float | None]) -> dict[str, float | None]:
    """P-values corrected for their number (Holm 1979); None stays None and does not count.

    The values of statsmodels' ``multipletests(method="holm")``, which takes 50 ms a call: a board has a thousand.
    """
    known = sorted((value, name) for name, value in p_values.items() if value is not None)
    corrected: dict[str, float | None] = dict(p_values)
    highest = 0.0
    for place, (value, name) in enumerate(known):
        highest = max(highest, min(1.0, value * (len(known) - place)))
        corrected[name] = highest
    return corrected


def shared_ranks(means: Mapping[str, float], apart: Callable[[str, str], bool]) -> dict[str, int]:
    """Ranks from 1, best first. A model shares the rank of the best model that it cannot be told apart from.

    Going down the list, a model opens a new rank (its place) only where it is told apart from the model that leads the
    current rank. Equal means always share.

    Args:
        means: by model.
        apart: whether the first model, whose mean is higher, is told apart from the second.
    """
    order = sorted(means, key=lambda model: (-means[model], model))
    ranks: dict[str, int] = {}
    leader = ""
    for place, model in enumerate(order, start=1):
        if not leader or (means[leader] != means[model] and apart(leader, model)):
            leader = model
            ranks[model] = place
        else:
            ranks[model] = ranks[leader]
    return ranks
