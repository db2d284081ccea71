"""Which models of a dataset are told apart: their difference over the items that both answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from stages.rank.bootstrap import Floats, difference_p, leads
from stages.rank.columns import Mask
from stages.rank.datasets import Grid, MetricOf, Part, Result, require_whole, results, weights_for
from stages.rank.params import RankParams
from taxpraben.tasks.spec import TaskSpec

WHOLE = -1
"""The place of the dataset's S beside those of its parts."""

Draws = dict[int, Floats]
"""Draws by the place of the part."""


class Pair(NamedTuple):
    """Draws of two models over the items that both answered, and the number of these."""

    first: Floats
    second: Floats
    items: int


class Dataset:
    """The results of a task's models under one setting and protocol, and their comparison in pairs.

    Intervals and means are over each model's own items. Two models with other items are compared over the common ones
    only, for which their draws are made again.

    Attributes:
        found: results by place of the part (or ``WHOLE``) and by model.
    """

    found: dict[int, dict[str, Result]]

    def __init__(
        self,
        grid: Grid,
        task: TaskSpec,
        parts: Sequence[Part],
        models: Sequence[str],
        metric_of: MetricOf,
        params: RankParams,
    ) -> None:
        """Compute every model's results over its own items.

        Args:
            grid: rows of the task under the setting and protocol.
            task: the task.
            parts: see ``parts_of``.
            models: names in the order of the grid.
            metric_of: gives a metric's class by name.
            params: draws, level and seed.

        Raises:
            RankError: a model has rows for one part of the score and none for another.
        """
        self._task, self._parts, self._models, self._metric_of, self._params = task, parts, models, metric_of, params
        self._items = grid.items_of()
        self._common: dict[tuple[str, bytes], Draws] = {}
        weights: dict[bytes, Floats] = {}
        for items in self._items:
            if items.tobytes() not in weights:
                weights[items.tobytes()] = self._weights_over(items)
        by_part, whole = results(grid, task, parts, metric_of, [weights[items.tobytes()] for items in self._items])
        require_whole(task, parts, by_part)
        self.found = {
            place: {models[number]: result for number, result in found.items()}
            for place, found in [*enumerate(by_part), (WHOLE, whole)]
        }
        # Rows are kept only where they will be needed: a whole benchmark has millions.
        self._grid = grid if len({items.tobytes() for items in self._items if items.any()}) > 1 else None

    def pair(self, first: str, second: str, place: int = WHOLE) -> Pair | None:
        """Draws of two models over their common items; None where these make no value of both.

        Args:
            first: a model with results.
            second: another.
            place: of the part in ``parts``, or ``WHOLE``.
        """
        one, other = (self._items[self._models.index(model)] for model in (first, second))
        common = one & other
        if not common.any():
            return None
        draws = [
            self._over(model, common, place) if (own != common).any() else self._own(model, place)
            for model, own in ((first, one), (second, other))
        ]
        if draws[0] is None or draws[1] is None:
            return None
        return Pair(draws[0], draws[1], int(common.sum()))

    def _own(self, model: str, place: int) -> Floats | None:
        return self.found[place][model].draws if model in self.found[place] else None

    def _over(self, model: str, items: Mask, place: int) -> Floats | None:
        key = (model, items.tobytes())
        if key not in self._common and self._grid is not None:
            grid = self._grid.alone(self._models.index(model), items)
            by_part, whole = results(grid, self._task, self._parts, self._metric_of, [self._weights_over(items)])
            found = [*enumerate(by_part), (WHOLE, whole)]
            self._common[key] = {number: by_model[0].draws for number, by_model in found if 0 in by_model}
        return self._common[key].get(place)

    def _weights_over(self, items: Mask) -> Floats:
        return weights_for(self._task.name, items, self._params.draws, self._params.seed)


def told_apart(pairs: Sequence[Pair | None], level: float) -> bool:
    """Whether the first of two models leads by the mean of these datasets.

    False where a dataset has no common items. Without draws, the means alone decide, and they differ.

    Args:
        pairs: the two models, dataset by dataset.
        level: coverage of the interval.
    """
    mean = _mean(pairs)
    return mean is not None and (not len(mean.first) or leads(mean.first, mean.second, level, mean.items))


def pair_p(pairs: Sequence[Pair | None]) -> float | None:
    """The p-value of the difference of two models in the mean of these datasets; None where one has no common items."""
    mean = _mean(pairs)
    return None if mean is None else difference_p(*mean)


def _mean(pairs: Sequence[Pair | None]) -> Pair | None:
    known = [pair for pair in pairs if pair is not None]
    if not known or len(known) < len(pairs):
        return None
    return Pair(
        np.mean([pair.first for pair in known], axis=0),
        np.mean([pair.second for pair in known], axis=0),
        sum(pair.items for pair in known),
    )
