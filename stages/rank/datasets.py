"""One dataset's score: its metrics over items and runs, for all models at once, at the mean and in every draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from stages.rank.bootstrap import Floats, draw_weights
from stages.rank.columns import Mask, ScoreColumns
from taxpraben.metrics import Metric
from taxpraben.metrics.confusion import LabelMetric, letter_flags
from taxpraben.tasks.spec import TaskSpec

MetricOf = Callable[[str], type[Metric]]


class RankError(ValueError):
    """Scores that cannot be ranked; the message names the task and the remedy."""


@dataclass(frozen=True)
class Part:
    """One part of a dataset's score: a metric, on some fields or on the whole answer.

    Attributes:
        label: how it is named in standings: the metric's name, with its fields where the name alone is not unique.
        fields: the fields; empty with ``kind`` groups (every row of the metric that has a field) and whole answers.
    """

    label: str
    metric: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shares:
    """Counts of answers by what became of them."""

    answers: int = 0
    unread: int = 0
    refused: int = 0
    truncated: int = 0
    failed: int = 0

    def __add__(self, other: Shares) -> Shares:
        """Counts of both."""
        return Shares(*(a + b for a, b in zip(self.counts(), other.counts(), strict=True)))

    def counts(self) -> tuple[int, int, int, int, int]:
        """The counts in field order."""
        return self.answers, self.unread, self.refused, self.truncated, self.failed


@dataclass(frozen=True)
class Result:
    """One model's result on a dataset, or on one part of it, under one setting and protocol.

    Attributes:
        runs: the value of each run, in run order.
        draws: the mean over runs in each bootstrap draw.
        items: items that the model has scores for.
    """

    runs: Floats
    draws: Floats
    items: int
    signature: str
    shares: Shares = field(default_factory=Shares)

    @property
    def mean(self) -> float:
        """The mean over runs."""
        return float(self.runs.mean())


def parts_of(task: TaskSpec, substitute: Mapping[str, str]) -> list[Part]:
    """The parts whose plain mean is the dataset's score (appendix F.3 and F.4), after substitution.

    Raises:
        RankError: two groups cannot be told apart in the scores.
    """
    raw: list[tuple[str, tuple[str, ...]]] = [(substitute.get(metric, metric), ()) for metric in task.score.metrics]
    raw += [(substitute.get(group.metric, group.metric), tuple(group.fields)) for group in task.score.groups]
    names = [metric for metric, _ in raw]
    if len(set(raw)) < len(raw):
        raise RankError(f"{task.name}: two score groups use one metric on fields chosen by kind; name their fields")
    return [
        Part(metric if names.count(metric) == 1 else f"{metric}:{'+'.join(fields)}", metric, fields)
        for metric, fields in raw
    ]


@dataclass(frozen=True)
class Grid:
    """Rows of one task, setting and protocol, placed by model, run and item.

    Attributes:
        rows: the rows.
        cell: the place of each row in the flattened (models, runs, items) grid.
        shape: models, runs, items.
    """

    rows: ScoreColumns
    cell: np.ndarray[tuple[int], np.dtype[np.int64]]
    shape: tuple[int, int, int]

    def items_of(self) -> Mask:
        """Which items each model has rows of: (models, items)."""
        models, runs, items = self.shape
        found = np.zeros(models * runs * items, dtype=np.bool_)
        found[self.cell] = True
        return np.asarray(found.reshape(self.shape).any(axis=1))

    def among(self, items: Mask) -> Grid:
        """The rows of some items only; the places of all stay."""
        kept = items[self.cell % self.shape[2]]
        return Grid(self.rows.where(kept), self.cell[kept], self.shape)

    def alone(self, model: int, items: Mask) -> Grid:
        """The rows of one model on some items; the grid has that model only, and all places of items."""
        _, runs, width = self.shape
        kept = (self.cell // (runs * width) == model) & items[self.cell % width]
        return Grid(self.rows.where(kept), self.cell[kept] % (runs * width), (1, runs, width))


def place(rows: ScoreColumns, models: Sequence[str], items: Sequence[str]) -> Grid:
    """The grid of these rows; every model and item of them must be named."""
    model = _places(rows.coded["model"].names, models)[rows.coded["model"].codes]
    item = _places(rows.coded["item_id"].names, items)[rows.coded["item_id"].codes]
    runs, run = np.unique(rows.run, return_inverse=True)
    shape = (len(models), max(len(runs), 1), len(items))
    return Grid(rows, (model * shape[1] + run) * shape[2] + item, shape)


def _places(names: Sequence[str], order: Sequence[str]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    index = {name: number for number, name in enumerate(order)}
    return np.array([index.get(name, 0) for name in names], dtype=np.int64)


def results(
    grid: Grid, task: TaskSpec, parts: Sequence[Part], metric_of: MetricOf, weights: Sequence[Floats]
) -> tuple[list[dict[int, Result]], dict[int, Result]]:
    """Each part's results by model number, and the dataset's own (S); models without rows are left out.

    A model that has rows for one part of the score and none for another has no S; see ``require_whole``.

    Args:
        grid: rows of the task under one setting and protocol.
        task: the task.
        parts: see ``parts_of``.
        metric_of: gives a metric's class by name.
        weights: for each model (draws, items), see ``weights_for``.
    """
    shares = _shares(grid)
    by_part: list[dict[int, Result]] = []
    units: list[dict[int, Result]] = []
    for part in parts:
        mask = grid.rows.coded["metric"].equal(part.metric)
        if part.fields:
            mask &= grid.rows.coded["field"].among(part.fields)
        if not mask.any():
            by_part.append({})
            units.append({})
            continue
        metric = metric_of(part.metric)
        one = Grid(grid.rows.where(mask), grid.cell[mask], grid.shape)
        found = (
            _label_results(one, metric, task, weights)
            if issubclass(metric, LabelMetric)
            else _mean_results(one, weights)
        )
        found = {model: _with_shares(result, shares.get(model, Shares())) for model, result in found.items()}
        by_part.append(found)
        units.append({model: _in_unit(result, metric) for model, result in found.items()})
    models = set.intersection(*(set(found) for found in units)) if units else set()
    return by_part, {model: _mean_of([found[model] for found in units]) for model in sorted(models)}


def require_whole(task: TaskSpec, parts: Sequence[Part], by_part: Sequence[Mapping[int, Result]]) -> None:
    """Each model has rows for all parts of the score, or for none.

    Raises:
        RankError: a model has rows for one part of the score and none for another.
    """
    for model in sorted({model for found in by_part for model in found}):
        lacking = [part.label for part, found in zip(parts, by_part, strict=True) if model not in found]
        if lacking:
            raise RankError(
                f"{task.name}: a model has no rows of {', '.join(lacking)}; run `dvc repro` to score it again"
            )


def _in_unit(result: Result, metric: type[Metric]) -> Result:
    return Result(
        np.asarray(metric.to_unit(result.runs)),
        np.asarray(metric.to_unit(result.draws)),
        result.items,
        result.signature,
        result.shares,
    )


def _with_shares(result: Result, shares: Shares) -> Result:
    return Result(result.runs, result.draws, result.items, result.signature, shares)


def _mean_of(parts: Sequence[Result]) -> Result:
    signature = " ".join(dict.fromkeys(part.signature for part in parts))
    runs = np.mean([part.runs for part in parts], axis=0)
    draws = np.mean([part.draws for part in parts], axis=0)
    return Result(runs, draws, max(part.items for part in parts), signature, parts[0].shares)


def _mean_results(grid: Grid, weights: Sequence[Floats]) -> dict[int, Result]:
    models, runs, items = grid.shape
    size = models * runs * items
    known = ~np.isnan(grid.rows.value)
    counts = np.bincount(grid.cell[known], minlength=size).reshape(models, runs, items)
    sums = np.bincount(grid.cell[known], weights=grid.rows.value[known], minlength=size).reshape(models, runs, items)
    present = counts > 0
    values = np.divide(sums, counts, out=np.zeros_like(sums), where=present)
    return _per_model(
        grid,
        present,
        lambda model, chosen, weigh: _weighted_mean(values[model, chosen], present[model, chosen], weigh),
        weights,
    )


def _weighted_mean(values: Floats, present: Mask, weigh: Floats) -> Floats:
    """(runs, items) values and (draws, items) weights into (runs, draws) means; NaN where a draw has no item."""
    mass = present.astype(np.float64) @ weigh.T
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((values @ weigh.T) / mass)


def _label_results(
    grid: Grid, metric: type[LabelMetric], task: TaskSpec, weights: Sequence[Floats]
) -> dict[int, Result]:
    models, runs, items = grid.shape
    labels = task.letters
    present = np.zeros(models * runs * items, dtype=np.bool_)
    present[grid.cell] = True
    golds = np.zeros((models * runs * items, len(labels)), dtype=np.bool_)
    picks = np.zeros_like(golds)
    for flags, name in ((golds, "gold"), (picks, "predicted")):
        column = grid.rows.coded[name]
        # The names are those of all tasks; only the ones in use here are letters of this task.
        used, codes = np.unique(column.codes, return_inverse=True)
        flags[grid.cell] = letter_flags([column.names[code] for code in used], labels)[codes]
    asked = present.reshape(models, runs, items)
    right, said = golds.reshape(models, runs, items, -1), picks.reshape(models, runs, items, -1)

    def value(model: int, chosen: Mask, weigh: Floats) -> Floats:
        hits, gold, picked = (
            np.tensordot(flags[model, chosen].astype(np.float64), weigh, axes=(1, 1)).swapaxes(1, 2)
            for flags in (right & said, right, said)
        )
        rows = asked[model, chosen].astype(np.float64) @ weigh.T
        return metric.from_counts(hits, gold, picked, rows)

    return _per_model(grid, asked, value, weights)


def _per_model(
    grid: Grid,
    present: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
    value: Callable[[int, Mask, Floats], Floats],
    weights: Sequence[Floats],
) -> dict[int, Result]:
    found: dict[int, Result] = {}
    signatures = _signatures(grid)
    flat = np.ones((1, grid.shape[2]))
    for model in range(grid.shape[0]):
        chosen = present[model].any(axis=1)
        if not chosen.any():
            continue
        runs = value(model, chosen, flat)[:, 0]
        draws = _mean_over_runs(value(model, chosen, weights[model])) if len(weights[model]) else np.zeros(0)
        found[model] = Result(runs, draws, int(present[model].any(axis=0).sum()), signatures.get(model, ""))
    return found


def _mean_over_runs(draws: Floats) -> Floats:
    """(runs, draws) into the mean of each draw, over the runs that have items in it; NaN where none has."""
    known = np.isfinite(draws)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(known, draws, 0.0).sum(axis=0) / known.sum(axis=0))


def _signatures(grid: Grid) -> dict[int, str]:
    runs_items = grid.shape[1] * grid.shape[2]
    column = grid.rows.coded["signature"]
    pairs = (
        np.unique(np.stack([grid.cell // runs_items, column.codes]), axis=1)
        if len(grid.cell)
        else np.zeros((2, 0), int)
    )
    out: dict[int, str] = {}
    for model, code in pairs.T:
        known = out.get(int(model), "")
        out[int(model)] = f"{known} {column.names[code]}".strip()
    return out


def _shares(grid: Grid) -> dict[int, Shares]:
    """Counts of answers, one an item and run, whatever number of rows an answer has."""
    cells, first = np.unique(grid.cell, return_index=True)
    status = grid.rows.coded["status"]
    failed = grid.rows.failed[first]
    masks = {
        "unread": (status.equal("unread") | status.equal("reader_error"))[first] & ~failed,
        "refused": status.equal("refused")[first] & ~failed,
        "truncated": status.equal("truncated")[first] & ~failed,
    }
    model_of = cells // (grid.shape[1] * grid.shape[2])
    out: dict[int, Shares] = {}
    for model in np.unique(model_of):
        here = model_of == model
        out[int(model)] = Shares(
            answers=int(here.sum()),
            unread=int((masks["unread"] & here).sum()),
            refused=int((masks["refused"] & here).sum()),
            truncated=int((masks["truncated"] & here).sum()),
            failed=int((failed & here).sum()),
        )
    return out


def weights_for(task: str, items: Mask, draws: int, seed: int) -> Floats:
    """The bootstrap weights over some items of a dataset: (draws, all items), 0 outside; no rows without any."""
    count = int(items.sum())
    found = np.zeros((draws if count else 0, len(items)))
    if count and draws:
        found[:, items] = draw_weights(count, draws, seed, task)
    return found
