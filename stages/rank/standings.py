"""Standings: every metric, dataset and group, for every model, setting and protocol."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from stages.rank.bootstrap import holm, interval, shared_ranks
from stages.rank.columns import ScoreColumns
from stages.rank.datasets import Grid, MetricOf, Result, Shares, parts_of, place
from stages.rank.pairing import WHOLE, Dataset, pair_p, told_apart
from stages.rank.params import RankParams
from taxpraben.records.answer import SETTINGS, Setting
from taxpraben.records.score import PROTOCOLS, Protocol
from taxpraben.records.standing import Standing
from taxpraben.tasks.groups import GROUPS, members
from taxpraben.tasks.spec import TaskSpec

S = "S"

Scope = Literal["metric", "dataset", "group"]
Cell = tuple[Setting, Protocol]
Say = Callable[[str], None]


def rank(
    scores: ScoreColumns,
    models: Sequence[str],
    tasks: Sequence[TaskSpec],
    metric_of: MetricOf,
    substitute: Mapping[str, str],
    params: RankParams,
    say: Say = print,
) -> list[Standing]:
    """The standings of these models on these tasks.

    A dataset's S is the plain mean of its parts on the scale from 0 to 1; a group is the plain mean of its datasets' S
    and stays blank, with the missing ones listed, where a model lacks one of them. Means and intervals are over each
    model's own items; whether two models share a rank is decided over the items that both answered.

    Args:
        scores: score rows of all models.
        models: the roster; a model without scores gets blank groups.
        tasks: the tasks that make up the groups, in table order.
        metric_of: gives a metric's class by name.
        substitute: metrics that stood in for others.
        params: draws, level and seed.
        say: gets a line a dataset.
    """
    datasets: dict[tuple[Cell, str], Dataset] = {}
    rows: list[Standing] = []
    for task in tasks:
        of_task = scores.where(scores.coded["task"].equal(task.name))
        if not len(of_task):
            continue
        names = of_task.coded["item_id"].names
        items = sorted(names[code] for code in np.unique(of_task.coded["item_id"].codes))
        parts = parts_of(task, substitute)
        for setting, protocol, grid in grids(of_task, models, items):
            cell = (setting, protocol)
            dataset = Dataset(grid, task, parts, models, metric_of, params)
            datasets[cell, task.name] = dataset
            for number, part in enumerate(parts):
                rows.extend(
                    _cells(cell, "metric", task.name, part.label, dataset.found[number], [dataset], params, number)
                )
            rows.extend(_cells(cell, "dataset", task.name, S, dataset.found[WHOLE], [dataset], params))
        say(f"{task.name}: {len(of_task)} score rows, {len(items)} items")
    cells = list(dict.fromkeys(cell for cell, _ in datasets))
    for cell in cells:
        for group in GROUPS:
            rows.extend(_group(cell, group, members(group, tasks), models, datasets, params))
    return rows


def grids(rows: ScoreColumns, models: Sequence[str], items: Sequence[str]) -> Iterator[tuple[Setting, Protocol, Grid]]:
    """The rows of each setting and protocol that occur, placed by model, run and item."""
    for setting in SETTINGS:
        for protocol in PROTOCOLS:
            mask = rows.coded["setting"].equal(setting) & rows.coded["protocol"].equal(protocol)
            if mask.any():
                yield setting, protocol, place(rows.where(mask), models, items)


def _group(
    cell: Cell,
    group: str,
    names: Sequence[str],
    models: Sequence[str],
    datasets: Mapping[tuple[Cell, str], Dataset],
    params: RankParams,
) -> list[Standing]:
    if not names:
        return []
    by_dataset = {name: datasets[cell, name].found[WHOLE] for name in names if (cell, name) in datasets}
    whole: dict[str, Result] = {}
    blanks: list[Standing] = []
    for model in models:
        found = [by_dataset[name][model] for name in names if model in by_dataset.get(name, {})]
        missing = [name for name in names if model not in by_dataset.get(name, {})]
        if missing:
            blanks.append(_blank(cell, group, model, found, missing))
            continue
        runs = min(len(result.runs) for result in found)
        whole[model] = Result(
            np.mean([result.runs[:runs] for result in found], axis=0)
            if len({len(result.runs) for result in found}) == 1
            else np.array([np.mean([result.mean for result in found])]),
            np.mean([result.draws for result in found], axis=0),
            sum(result.items for result in found),
            " ".join(dict.fromkeys(part for result in found for part in result.signature.split(" "))),
            sum((result.shares for result in found), Shares()),
        )
    # A model without one of the datasets is blank, so where there is a comparison, all datasets are there.
    compared = [datasets[cell, name] for name in names] if whole else []
    return [*_cells(cell, "group", group, S, whole, compared, params), *blanks]


def _blank(cell: Cell, group: str, model: str, found: Sequence[Result], missing: list[str]) -> Standing:
    return Standing(
        model=model,
        setting=cell[0],
        protocol=cell[1],
        scope="group",
        name=group,
        metric=S,
        mean=None,
        items=sum(result.items for result in found),
        runs=max((len(result.runs) for result in found), default=0),
        missing=missing,
        **_shares(sum((result.shares for result in found), Shares())),
    )


def _cells(
    cell: Cell,
    scope: Scope,
    name: str,
    metric: str,
    found: Mapping[str, Result],
    compared: Sequence[Dataset],
    params: RankParams,
    part: int = WHOLE,
) -> list[Standing]:
    """One row a model; ranks by the difference over ``compared``, of their parts at ``part``."""

    def apart(first: str, second: str) -> bool:
        return told_apart([dataset.pair(first, second, part) for dataset in compared], params.level)

    means = {model: result.mean for model, result in found.items()}
    ranks = shared_ranks(means, apart)
    from_best = _p_of_best(means, compared, part)
    rows: list[Standing] = []
    for model, result in found.items():
        bounds = interval(result.draws, params.level)
        rows.append(
            Standing(
                model=model,
                setting=cell[0],
                protocol=cell[1],
                scope=scope,
                name=name,
                metric=metric,
                mean=_rounded(means[model]),
                deviation=_rounded(float(result.runs.std(ddof=1))) if len(result.runs) > 1 else None,
                low=_rounded(bounds[0]) if bounds else None,
                high=_rounded(bounds[1]) if bounds else None,
                rank=ranks[model],
                p_best=from_best.get(model),
                items=result.items,
                runs=len(result.runs),
                signature=result.signature,
                **_shares(result.shares),
            )
        )
    return rows


def _p_of_best(means: Mapping[str, float], compared: Sequence[Dataset], part: int) -> dict[str, float | None]:
    """For each model but the best: the corrected p-value of its difference from the best."""
    if len(means) < 2:
        return {}
    best, *others = sorted(means, key=lambda model: (-means[model], model))
    found = {model: pair_p([dataset.pair(best, model, part) for dataset in compared]) for model in others}
    return {model: None if value is None else _rounded(value) for model, value in holm(found).items()}


def _rounded(value: float) -> float:
    """Ten places: sums in another order must not change a file."""
    return round(value, 10)


def _shares(shares: Shares) -> dict[str, float]:
    answers = max(shares.answers, 1)
    return {
        "unread": shares.unread / answers,
        "refused": shares.refused / answers,
        "truncated": shares.truncated / answers,
        "failed": shares.failed / answers,
    }


def format_costs(standings: Sequence[Standing]) -> dict[tuple[str, Setting, str], float]:
    """What format cost a model: aligned minus strict, by name of dataset or group, setting and model."""
    by_key: defaultdict[tuple[str, Setting, str], dict[Protocol, float]] = defaultdict(dict)
    for row in standings:
        if row.scope != "metric" and row.mean is not None:
            by_key[row.name, row.setting, row.model][row.protocol] = row.mean
    return {key: pair["aligned"] - pair["strict"] for key, pair in by_key.items() if len(pair) == 2}
