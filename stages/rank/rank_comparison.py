"""Two benchmarks side by side: how the models that both evaluated rank on each (the paper's Tables A2 and A3)."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from taxpraben.records.base import read_records
from taxpraben.records.standing import Standing

Column = dict[str, float]
"""A value for each model; more is better."""


class ComparisonError(ValueError):
    """Figures that cannot be compared; the message names the file and the remedy."""


@dataclass(frozen=True)
class RankPair:
    """A model's ranks among the jointly evaluated models; ``decline`` is how many places it loses on the second."""

    model: str
    first: int
    second: int

    @property
    def decline(self) -> int:
        """Places lost on the second benchmark; negative where it gains."""
        return self.second - self.first


@dataclass(frozen=True)
class RankComparison:
    """Ranks of the joint models, and how far the two orders agree.

    Attributes:
        rows: by rank on the second benchmark, then on the first, then by name.
        spearman, kendall: rank correlations (tau-b); None where one side does not vary.
        only_first, only_second: models that one benchmark alone has, left out.
    """

    rows: list[RankPair]
    spearman: float | None
    kendall: float | None
    only_first: list[str]
    only_second: list[str]


def compare_ranks(first: Sequence[Column], second: Sequence[Column]) -> RankComparison:
    """Rank the models that all columns of both benchmarks have.

    Only they are ranked, so that a place is a place among them (note to Table A2). With several columns a benchmark,
    the ranks of a model are averaged and rounded, halves up (note to Table A3, "Avg.R").

    Args:
        first: the metrics of one benchmark, at least one.
        second: those of the other.

    Raises:
        ComparisonError: fewer than three models are in both.
    """
    ours, theirs = (set.intersection(*(set(column) for column in side)) for side in (first, second))
    joint = sorted(ours & theirs)
    if len(joint) < 3:
        raise ComparisonError(f"only {len(joint)} models are in both ({', '.join(joint)}); three are needed")
    one, other = (_average_ranks(side, joint) for side in (first, second))
    rows = [RankPair(model, one[model], other[model]) for model in joint]
    rows.sort(key=lambda row: (row.second, row.first, row.model))
    spearman, kendall = _correlations([row.first for row in rows], [row.second for row in rows])
    return RankComparison(rows, spearman, kendall, sorted(ours - theirs), sorted(theirs - ours))


def _average_ranks(columns: Sequence[Column], models: Sequence[str]) -> dict[str, int]:
    ranks = [_ranks({model: column[model] for model in models}) for column in columns]
    return {model: math.floor(sum(rank[model] for rank in ranks) / len(ranks) + 0.5) for model in models}


def _ranks(values: Mapping[str, float]) -> dict[str, int]:
    """1 is best; equal values share the better place (7, 7, 9 as in Table A3's one-shot figures)."""
    return {model: 1 + sum(other > value for other in values.values()) for model, value in values.items()}


def _correlations(one: Sequence[int], other: Sequence[int]) -> tuple[float | None, float | None]:
    from scipy.stats import kendalltau, spearmanr

    if len(set(one)) == 1 or len(set(other)) == 1:
        return None, None
    return float(spearmanr(one, other).statistic), float(kendalltau(one, other).statistic)


def read_columns(path: Path, columns: Sequence[str], setting: str, name: str) -> list[Column]:
    """A benchmark's figures: a CSV with a column ``model`` and one a metric, or our standings.parquet.

    Args:
        path: the file.
        columns: the metrics to take from a CSV; all numeric ones where empty.
        setting: rows of a CSV with a column ``setting``, and of standings, are taken of this setting.
        name: rows of a CSV with a column ``group`` are taken of this group; of standings (aligned), this group or
            dataset.

    Raises:
        ComparisonError: the file, a column or a value is not what it should be; the message names the row.
    """
    if not path.is_file():
        raise ComparisonError(f"{path}: no such file; give a CSV with a column 'model', or standings.parquet")
    if path.suffix == ".parquet":
        rows = [row for row in read_records(path, Standing) if (row.name, row.metric) == (name, "S")]
        rows = [row for row in rows if (row.setting, row.protocol) == (setting, "aligned")]
        found = {row.model: row.mean for row in rows if row.mean is not None}
        if not found:
            raise ComparisonError(f"{path}: no figures of {name!r}, {setting}; see `taxpraben standings` for names")
        return [found]
    with path.open(encoding="utf-8-sig", newline="") as stream:
        table = list(csv.DictReader(stream))
    heads = list(table[0]) if table else []
    if "model" not in heads:
        raise ComparisonError(f"{path}: no column 'model'; columns are {', '.join(heads) or 'none'}")
    chosen = {"setting": setting, "group": name}
    wanted = list(columns) or [head for head in heads if head != "model" and head not in chosen]
    for column in wanted:
        if column not in heads:
            raise ComparisonError(f"{path}: no column {column!r}; columns are {', '.join(heads)}")
    numbered = [
        (number, row) for number, row in enumerate(table, start=2)
        if all(row[head] == value for head, value in chosen.items() if head in row)
    ]  # fmt: skip
    if not numbered:
        raise ComparisonError(f"{path}: no rows of {setting}, {name!r}; look at its columns setting and group")
    return [_column(path, numbered, column) for column in wanted]


def _column(path: Path, table: Sequence[tuple[int, dict[str, str]]], column: str) -> Column:
    out: Column = {}
    for number, row in table:
        model, text = (row["model"] or "").strip(), (row[column] or "").strip()
        if not text:
            continue  # a model without this figure is not jointly evaluated
        try:
            value = float(text)
        except ValueError:
            raise ComparisonError(f"{path}, row {number}: {column} is no number: {text!r}") from None
        if model in out:
            raise ComparisonError(f"{path}, row {number}: {model} stands twice; give one row a model and setting")
        out[model] = value
    return out
