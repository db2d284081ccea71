"""Scores of one model: every reading scored under both protocols, values inside their metric's range, signed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

from stages.check.rules import Row, Suite, filled, present, sound, unique
from taxpraben.metrics import metric_class, metric_names
from taxpraben.records.reading import Reading
from taxpraben.records.score import PROTOCOLS, Score
from taxpraben.tasks.spec import TaskSpec

# A metric that this version does not know must give a finite number; that it is unknown, another rule says.
_ANY = (float("-inf"), float("inf"))
_SLACK = 1e-6
_FORMLESS = ("unread", "read")


def suite(model: str) -> Suite:
    """What must hold of the model's scores."""
    return Suite(
        name="scores",
        part=model,
        remedy=f"`dvc repro -f score@{model}` scores the readings again",
        rules=(
            present("至少有一个得分", "there is a score"),
            unique("row", "同一解读、规约、指标与字段只有一个得分",
                   "one score for each reading, protocol, metric and field"),
            sound("reading_problem", "得分对应已有的解读", "the score is of a reading that exists"),
            sound("metric_problem", "指标出自任务文件", "the metric is one of the task's"),
            sound("range_problem", "得分在指标范围之内", "the value lies inside its metric's range"),
            sound("label_problem", "只算总体的指标带有标准答案字母", "a metric of whole lists has its gold letters"),
            sound("status_problem", "状态与解读相同", "the status is the reading's"),
            filled("signature", "记有指标签名", "the metric's signature is kept"),
        ),
    )  # fmt: skip


def coverage_suite(model: str) -> Suite:
    """What must hold of each reading seen from its scores."""
    return Suite(
        name="scored",
        part=model,
        remedy=f"`dvc repro -f score@{model}` scores the readings again",
        rules=(sound("missing", "每条解读在两种规约、每项指标下都有得分",
                     "every reading has a score under both protocols and each of its task's metrics"),),
    )  # fmt: skip


def columns(
    scores: Sequence[Score],
    readings: Mapping[tuple[object, ...], Reading],
    tasks: Mapping[str, TaskSpec],
    substitute: Mapping[str, str],
) -> list[Row]:
    """One row a score, in the given order.

    Args:
        scores: of one model.
        readings: the model's readings by key.
        tasks: the catalogue by name.
        substitute: metrics that stand in for others.
    """
    return [
        {
            "row": score_id(score),
            "signature": score.signature,
            "reading_problem": "" if reading_key(score) in readings else "no such reading",
            "metric_problem": metric_problem(score, tasks.get(score.task), substitute),
            "range_problem": range_problem(score),
            "label_problem": "no value and no gold" if score.value is None and not score.gold else "",
            "status_problem": status_problem(score, readings.get(reading_key(score))),
        }
        for score in scores
    ]


def coverage_columns(
    scores: Sequence[Score],
    readings: Sequence[Reading],
    tasks: Mapping[str, TaskSpec],
    substitute: Mapping[str, str],
) -> list[Row]:
    """One row a reading, with the protocols and metrics under which it has no score; arguments as ``columns``."""
    found: dict[tuple[object, ...], set[tuple[str, str]]] = {}
    for score in scores:
        found.setdefault(reading_key(score), set()).add((score.protocol, score.metric))
    rows: list[Row] = []
    for reading in readings:
        spec = tasks.get(reading.task)
        scored = found.get(reading.key, set())
        # Where the item brings its own fields, it may have none of a kind, and then no score of that kind's metric.
        own = spec is not None and spec.fields_from_item
        metrics = [name for name in metrics_of(spec, substitute) if not own or _occurs(name, scored)]
        wanted = {(protocol, metric) for protocol in PROTOCOLS for metric in metrics or ["any metric"]}
        text = ", ".join(f"{protocol} {metric}" for protocol, metric in sorted(wanted - scored))
        rows.append({"row": f"{reading.item_id} {reading.setting} {reading.run}", "missing": text})
    return rows


def _occurs(metric: str, scored: set[tuple[str, str]]) -> bool:
    return any(name == metric for _, name in scored)


def reading_key(score: Score) -> tuple[object, ...]:
    """The key of the reading that was scored."""
    return (score.model, score.task, score.setting, score.run, score.item_id)


def score_id(score: Score) -> str:
    """``TaxSCQ-0123456789ab zero-shot 1 aligned accuracy``: how a score is named to people."""
    named = f"{score.item_id} {score.setting} {score.run} {score.protocol} {score.metric}"
    return f"{named} {score.field}" if score.field else named


def metrics_of(spec: TaskSpec | None, substitute: Mapping[str, str]) -> list[str]:
    """The metrics that score the task, those that stand in for others under their own names."""
    return [substitute.get(name, name) for name in (spec.metric_names if spec else [])]


def metric_problem(score: Score, spec: TaskSpec | None, substitute: Mapping[str, str]) -> str:
    """Says that the task or its metric is unknown."""
    if spec is None:
        return f"no task {score.task!r}"
    return "" if score.metric in metrics_of(spec, substitute) else f"{score.task} is not scored by {score.metric!r}"


def range_problem(score: Score) -> str:
    """Says that a value is not a number of its metric's range; metrics of whole lists have none."""
    if score.value is None:
        return ""
    low, high = metric_class(score.metric).RANGE if score.metric in metric_names() else _ANY
    inside = isfinite(score.value) and low - _SLACK <= score.value <= high + _SLACK
    return "" if inside else f"{score.value} outside {low} to {high}"


def status_problem(score: Score, reading: Reading | None) -> str:
    """Says that the reading has another status by now; under ``strict``, what was read may count as unread."""
    if reading is None or score.status == reading.status:
        return ""
    if score.protocol == "strict" and reading.strict_value is None and (score.status, reading.status) == _FORMLESS:
        return ""
    return f"{score.status}, but the reading is {reading.status}"
