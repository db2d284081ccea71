"""Standings: means in range and inside their intervals; groups that are their datasets' mean, or blank."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean

from stages.check.rules import Row, Suite, filled, present, sound, unique, within
from taxpraben.records.standing import Standing
from taxpraben.tasks.groups import members
from taxpraben.tasks.spec import TaskSpec

_SLACK = 1e-9

SUITE = Suite(
    name="standings",
    remedy="`dvc repro -f rank` makes the standings again",
    rules=(
        present("至少有一行名次", "there is a standing"),
        unique("row", "每格只有一行", "each cell of the board stands once"),
        sound("model_problem", "模型在名册之内", "the model is in the roster"),
        sound("range_problem", "数据集与分组的得分在 0 与 1 之间", "a dataset's or group's score lies between 0 and 1"),
        sound("interval_problem", "区间有下限与上限且下限不大于上限", "an interval has two ends in order"),
        sound("mean_outside", "均值在区间之内", "the mean lies inside its interval", "warning",
              "a bootstrap over few items may miss it; more items or draws help"),
        sound("blank_problem", "缺数据集的分组留空，不补零", "a group that lacks a dataset is blank, never a zero"),
        sound("group_problem", "分组为其数据集得分的平均", "a group is the plain mean of its datasets"),
        sound("rank_problem", "名次从 1 起，有均值才有名次", "ranks begin at 1 and stand beside means only"),
        sound("order_problem", "均值高者名次不低", "a higher mean never ranks lower", "warning",
              "a paired comparison can part from the order of means; look at the two models' items"),
        within("shares", 0, 1, "未读、拒答、截断与失败之比在 0 与 1 之间",
               "shares of unread, refused, truncated and failed lie between 0 and 1"),
        sound("signature_problem", "有均值即有签名", "each mean is signed"),
        filled("metric", "写明指标", "the metric is named"),
    ),
)  # fmt: skip


def columns(standings: Sequence[Standing], roster: Sequence[str], tasks: Mapping[str, TaskSpec]) -> list[Row]:
    """One row a standing, in the given order.

    Args:
        standings: of all models.
        roster: the models that may stand on the board.
        tasks: the tasks that make up the groups, by name.
    """
    datasets: dict[tuple[str, str, str, str], float | None] = {
        (row.model, row.setting, row.protocol, row.name): row.mean for row in standings if row.scope == "dataset"
    }
    firsts = _first_ranks(standings)
    orders = _order_problems(standings)
    return [
        {
            "row": standing_id(row),
            "metric": row.metric,
            "model_problem": "" if row.model in roster else f"{row.model!r} is not in models.yaml's roster",
            "range_problem": range_problem(row),
            "interval_problem": interval_problem(row),
            "mean_outside": mean_outside(row),
            "blank_problem": blank_problem(row),
            "group_problem": group_problem(row, datasets, tasks),
            "rank_problem": rank_problem(row, firsts[_cell(row)]),
            "order_problem": orders.get(row.key, ""),
            "shares": max((row.unread, row.refused, row.truncated, row.failed), key=lambda share: abs(share - 0.5)),
            "signature_problem": "no signature" if row.mean is not None and not row.signature.strip() else "",
        }
        for row in standings
    ]


def standing_id(row: Standing) -> str:
    """``zero-shot aligned group KA S demo``: how a standing is named to people."""
    return f"{row.setting} {row.protocol} {row.scope} {row.name} {row.metric} {row.model}"


def range_problem(row: Standing) -> str:
    """Says that a score S is outside 0 to 1; single metrics keep their own ranges."""
    if row.mean is None or row.scope == "metric" or -_SLACK <= row.mean <= 1 + _SLACK:
        return ""
    return f"{row.mean} outside 0 to 1"


def interval_problem(row: Standing) -> str:
    """Says that an interval has one end only, is turned round, or stands without a mean."""
    if (row.low is None) != (row.high is None):
        return "only one end"
    if row.low is None or row.high is None:
        return ""
    if row.mean is None:
        return "an interval without a mean"
    return "" if row.low <= row.high + _SLACK else f"{row.low} above {row.high}"


def mean_outside(row: Standing) -> str:
    """Says that the mean lies outside its interval."""
    if row.mean is None or row.low is None or row.high is None:
        return ""
    return "" if row.low - _SLACK <= row.mean <= row.high + _SLACK else f"{row.mean} outside {row.low} to {row.high}"


def blank_problem(row: Standing) -> str:
    """Says that a mean stands beside missing datasets."""
    return f"a mean, but {', '.join(row.missing)} missing" if row.missing and row.mean is not None else ""


def group_problem(
    row: Standing, datasets: Mapping[tuple[str, str, str, str], float | None], tasks: Mapping[str, TaskSpec]
) -> str:
    """Says that a group's mean is not its datasets' plain mean, or that ``missing`` does not name what is missing."""
    if row.scope != "group":
        return ""
    names = members(row.name, list(tasks.values()))
    means = {name: datasets.get((row.model, row.setting, row.protocol, name)) for name in names}
    lacking = [name for name, mean in means.items() if mean is None]
    if sorted(lacking) != sorted(row.missing):
        return f"missing is {row.missing}, but {lacking} have no score"
    known = [mean for mean in means.values() if mean is not None]
    if row.mean is None or lacking or not known:
        return ""
    return "" if abs(fmean(known) - row.mean) < 1e-6 else f"{row.mean} instead of {fmean(known)}"


def rank_problem(row: Standing, first: int | None) -> str:
    """Says that a rank stands without a mean, lacks beside one, or that a table does not begin at 1."""
    if (row.rank is None) != (row.mean is None):
        return "a rank without a mean" if row.mean is None else "a mean without a rank"
    if row.rank is not None and row.rank < 1:
        return f"rank {row.rank}"
    return "" if first in (None, 1) else f"the best rank is {first}"


def _cell(row: Standing) -> tuple[str, ...]:
    return (row.setting, row.protocol, row.scope, row.name, row.metric)


def _first_ranks(standings: Sequence[Standing]) -> dict[tuple[str, ...], int | None]:
    firsts: dict[tuple[str, ...], int | None] = {}
    for row in standings:
        before = firsts.setdefault(_cell(row), row.rank)
        if row.rank is not None and (before is None or row.rank < before):
            firsts[_cell(row)] = row.rank
    return firsts


def _order_problems(standings: Sequence[Standing]) -> dict[tuple[object, ...], str]:
    problems: dict[tuple[object, ...], str] = {}
    cells: defaultdict[tuple[str, ...], list[tuple[float, int, Standing]]] = defaultdict(list)
    for row in standings:
        if row.mean is not None and row.rank is not None:
            cells[_cell(row)].append((row.mean, row.rank, row))
    for ranked in cells.values():
        ranked.sort(key=lambda entry: -entry[0])
        worst_mean, worst_rank, worst = ranked[0]
        for mean, rank, row in ranked[1:]:
            if rank < worst_rank and mean < worst_mean - _SLACK:
                problems[row.key] = f"rank {rank} with {mean}; {worst.model} has rank {worst_rank} with {worst_mean}"
            if rank > worst_rank:
                worst_mean, worst_rank, worst = mean, rank, row
    return problems
