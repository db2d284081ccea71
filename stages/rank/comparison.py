"""Two models compared item by item: the difference on each dataset and group, its interval and its significance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stages.rank.bootstrap import Floats, difference_p, holm, interval
from stages.rank.columns import ScoreColumns
from stages.rank.datasets import MetricOf, RankError, parts_of
from stages.rank.pairing import WHOLE, Dataset
from stages.rank.params import RankParams
from stages.rank.shown import table
from stages.rank.standings import grids
from taxpraben.records.answer import SETTINGS, Setting
from taxpraben.records.score import PROTOCOLS, Protocol
from taxpraben.tasks.groups import GROUPS, members
from taxpraben.tasks.spec import TaskSpec


@dataclass(frozen=True)
class Compared:
    """The first model against the second on one dataset or group, over the items that both answered.

    Attributes:
        items: common items.
        first, second: means over runs on the common items.
        low, high: paired bootstrap interval of the difference, first minus second.
        p: two-sided, of the paired bootstrap.
        p_corrected: by Holm, over the datasets (or over the groups) of the setting and protocol.
        draws: the difference in each draw.
    """

    setting: Setting
    protocol: Protocol
    scope: str
    name: str
    items: int
    first: float
    second: float
    low: float | None
    high: float | None
    p: float | None
    p_corrected: float | None
    draws: tuple[Floats, Floats]

    @property
    def difference(self) -> float:
        """First minus second."""
        return self.first - self.second

    def as_json(self) -> dict[str, Any]:
        """The figures by name."""
        names = ("setting", "protocol", "scope", "name", "items", "first", "second", "low", "high", "p", "p_corrected")
        return {**{name: getattr(self, name) for name in names}, "difference": self.difference}


def compare_models(
    scores: ScoreColumns,
    first: str,
    second: str,
    tasks: Sequence[TaskSpec],
    metric_of: MetricOf,
    substitute: Mapping[str, str],
    params: RankParams,
) -> list[Compared]:
    """The comparison on every dataset that both have scores of, and on every group whose datasets both have.

    Raises:
        RankError: the two are one, or have no items in common.
    """
    if first == second:
        raise RankError(f"{first!r} is compared with itself; name two models")
    found: list[Compared] = []
    for setting in SETTINGS:
        for protocol in PROTOCOLS:
            of_cell: dict[str, Compared] = {}
            for task in tasks:
                one = _on_task(scores, (first, second), task, setting, protocol, metric_of, substitute, params)
                if one is not None:
                    of_cell[task.name] = one
            groups = {
                group: _on_group(group, [of_cell[name] for name in members(group, tasks)], params)
                for group in GROUPS
                if members(group, tasks) and all(name in of_cell for name in members(group, tasks))
            }
            found += [*_corrected(of_cell), *_corrected(groups)]
    if not found:
        raise RankError(f"{first} and {second} answered no item in common; see `taxpraben status`")
    return found


def _on_task(
    scores: ScoreColumns,
    models: tuple[str, str],
    task: TaskSpec,
    setting: Setting,
    protocol: Protocol,
    metric_of: MetricOf,
    substitute: Mapping[str, str],
    params: RankParams,
) -> Compared | None:
    of_task = scores.where(scores.coded["task"].equal(task.name) & scores.coded["setting"].equal(setting))
    column = of_task.coded["item_id"]
    items = sorted(column.names[code] for code in np.unique(column.codes))
    for of, how, grid in grids(of_task, models, items):
        if (of, how) != (setting, protocol):
            continue
        both = np.asarray(grid.items_of().all(axis=0))
        if not both.any():
            return None
        dataset = Dataset(grid.among(both), task, parts_of(task, substitute), models, metric_of, params)
        results = dataset.found[WHOLE]
        if len(results) < len(models):
            return None
        one, other = (results[model] for model in models)
        return _compared(
            (setting, protocol, "dataset", task.name), int(both.sum()), (one.mean, other.mean),
            (one.draws, other.draws), params,
        )  # fmt: skip
    return None


def _on_group(group: str, parts: Sequence[Compared], params: RankParams) -> Compared:
    draws = tuple(np.mean([part.draws[side] for part in parts], axis=0) for side in (0, 1))
    means = tuple(float(np.mean([getattr(part, side) for part in parts])) for side in ("first", "second"))
    place = (parts[0].setting, parts[0].protocol, "group", group)
    return _compared(place, sum(part.items for part in parts), (means[0], means[1]), (draws[0], draws[1]), params)


def _compared(
    place: tuple[Setting, Protocol, str, str],
    items: int,
    means: tuple[float, float],
    draws: tuple[Floats, Floats],
    params: RankParams,
) -> Compared:
    low, high = interval(draws[0] - draws[1], params.level) or (None, None)
    return Compared(*place, items, *means, low, high, difference_p(*draws, items), None, draws)


def _corrected(rows: Mapping[str, Compared]) -> list[Compared]:
    corrected = holm({name: row.p for name, row in rows.items()})
    return [replace(row, p_corrected=corrected[name]) for name, row in rows.items()]


def comparison_text(rows: Sequence[Compared], first: str, second: str, level: float) -> str:
    """Tables by setting and protocol: datasets, then groups; ``*`` where the corrected p-value is below 1 - level."""
    blocks: list[str] = []
    for setting, protocol in dict.fromkeys((row.setting, row.protocol) for row in rows):
        lines = [["", "items", first, second, "difference", f"{level:.0%}", "p", "p (Holm)", ""]]
        for row in rows:
            if (row.setting, row.protocol) == (setting, protocol):
                lines.append(_line(row, level))
        blocks.append("\n".join([f"{first} against {second}, {setting}, {protocol}", *table(lines)]))
    blocks.append(
        f"*: p (Holm) below {1 - level:.2f}. Paired bootstrap over the items that both answered; p-values are\n"
        "corrected by Holm for the number of datasets, and apart from these of groups, in a table. Few items\n"
        "give no small p, whatever the draws: two give 0.5 or more, six 0.03 or more."
    )
    return "\n\n".join(blocks)


def _line(row: Compared, level: float) -> list[str]:
    span = f"[{row.low:+.3f}, {row.high:+.3f}]" if row.low is not None and row.high is not None else ""
    marked = row.p_corrected is not None and row.p_corrected < 1 - level
    return [
        row.name, str(row.items), f"{row.first:.3f}", f"{row.second:.3f}", f"{row.difference:+.3f}", span,
        *("" if value is None else f"{value:.3f}" for value in (row.p, row.p_corrected)), "*" if marked else "",
    ]  # fmt: skip
