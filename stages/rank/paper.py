"""The check of the paper's Table 6 against its Table G: the published figures through this ranker's formulas."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from taxpraben.metrics import Metric, metric_class
from taxpraben.tasks.catalog import load_catalog
from taxpraben.tasks.groups import GROUPS, members
from taxpraben.tasks.spec import TaskSpec

TABLE_G = "table_g.csv"
TABLE_6 = "table_6.csv"
TOLERANCE = 0.0011
"""Both tables are rounded to three places, so a mean of them may differ by a little more than one thousandth."""

# How Table G names the metrics of the task files; EM accuracy is headed Accuracy there.
_PUBLISHED = {
    "accuracy": "Accuracy",
    "exact_match": "Accuracy",
    "weighted_f1": "F1",
    "macro_f1": "Macro F1",
    "bertscore": "BERTScore",
    "bartscore": "BARTScore",
}

GroupKey = tuple[str, str, str]
"""Setting, group, model."""


class PaperTableError(ValueError):
    """A table of the paper that is missing or not what it should be; the message names the file and the row."""


@dataclass(frozen=True)
class Published:
    """One figure of Table G."""

    setting: str
    dataset: str
    metric: str
    model: str
    value: float


@dataclass(frozen=True)
class Difference:
    """A cell of Table 6 and what follows for it from Table G."""

    setting: str
    group: str
    model: str
    printed: float
    from_table_g: float

    @property
    def agrees(self) -> bool:
        """Whether the two differ by rounding alone."""
        return abs(self.printed - self.from_table_g) <= TOLERANCE


def read_table_g(path: Path) -> list[Published]:
    """The rows of Table G, in file order."""
    return [
        Published(row["setting"], row["dataset"], row["metric"], row["model"], _number(path, number, row))
        for number, row in enumerate(_rows(path, ("setting", "dataset", "metric", "model", "value")), start=2)
    ]


def read_table_6(path: Path) -> dict[GroupKey, float]:
    """The cells of Table 6."""
    rows = enumerate(_rows(path, ("setting", "group", "model", "value")), start=2)
    return {(row["setting"], row["group"], row["model"]): _number(path, number, row) for number, row in rows}


def rank_published(
    rows: Iterable[Published], tasks: Sequence[TaskSpec], metric_of: Callable[[str], type[Metric]]
) -> dict[GroupKey, float]:
    """Group means from published metrics, by the task files' score rules; a group that lacks a dataset is left out.

    Raises:
        PaperTableError: a dataset lacks one of its metrics.
    """
    published: defaultdict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for row in rows:
        published[row.setting, row.model, row.dataset][row.metric] = row.value
    means: dict[GroupKey, float] = {}
    for setting, model in dict.fromkeys((setting, model) for setting, model, _ in published):
        scores = {
            task.name: _dataset_score(task, published[setting, model, task.name], metric_of)
            for task in tasks
            if published.get((setting, model, task.name))
        }
        for group in GROUPS:
            names = members(group, tasks)
            if names and all(name in scores for name in names):
                means[setting, group, model] = float(np.mean([scores[name] for name in names]))
    return means


def _dataset_score(task: TaskSpec, figures: Mapping[str, float], metric_of: Callable[[str], type[Metric]]) -> float:
    if task.score.groups:  # RiskScore, InspectScore, PlanScore are published as the whole already
        return next(iter(figures.values()))
    try:
        return float(np.mean([metric_of(name).to_unit(figures[_PUBLISHED[name]]) for name in task.score.metrics]))
    except KeyError as error:
        raise PaperTableError(f"Table G: {task.name} lacks {error}; it has {', '.join(figures)}") from error


def compare_published(means: Mapping[GroupKey, float], table_6: Mapping[GroupKey, float]) -> list[Difference]:
    """Every cell of Table 6 beside what follows from Table G, in table order."""
    return [Difference(*key, printed=value, from_table_g=means[key]) for key, value in table_6.items() if key in means]


def report(folder: Path) -> str:
    """What ``taxpraben paper`` prints.

    Args:
        folder: holds table_g.csv and table_6.csv.
    """
    tasks = [task for task in load_catalog().values() if task.domain == "tax"]
    means = rank_published(read_table_g(folder / TABLE_G), tasks, metric_class)
    differences = compare_published(means, read_table_6(folder / TABLE_6))
    wrong = [difference for difference in differences if not difference.agrees]
    lines = [
        f"{len(differences) - len(wrong)} of {len(differences)} cells of Table 6 follow from Table G "
        f"within {TOLERANCE}.",
        *(["The others are faults of the paper, not of the formulas:"] if wrong else []),
        *(
            f"  {each.model}, {each.setting}, {each.group}: printed {each.printed:.3f}, "
            f"from Table G {each.from_table_g:.3f}"
            for each in wrong
        ),
    ]
    return "\n".join(lines)


def _rows(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    if not path.exists():
        raise PaperTableError(f"{path}: no such file; it comes with the repository (`git checkout {path}`)")
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.DictReader(stream)
        lacking = [column for column in columns if column not in (reader.fieldnames or [])]
        if lacking:
            raise PaperTableError(f"{path}: no column {lacking[0]!r}; it has {', '.join(reader.fieldnames or [])}")
        return list(reader)


def _number(path: Path, number: int, row: Mapping[str, str]) -> float:
    try:
        return float(row["value"])
    except ValueError as error:
        raise PaperTableError(f"{path}, line {number}: value {row['value']!r} is no number") from error
