"""Readings into score rows: equal comparisons computed once, kept ones not at all."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from stages.score.comparisons import Comparison, compare
from stages.score.keep import ScoreKeep
from stages.score.values import values_of
from taxpraben.metrics import Metric, PairScore
from taxpraben.records.item import Item
from taxpraben.records.reading import Reading
from taxpraben.records.score import Score
from taxpraben.tasks.spec import TaskSpec

Say = Callable[[str], None]


class ScoreStageError(ValueError):
    """Readings that do not fit the release; the message names the row and the remedy."""


@dataclass(frozen=True)
class Tally:
    """What scoring one metric took: comparisons, distinct pairs, kept ones, computed ones, and flags by row."""

    metric: str
    rows: int
    distinct: int
    kept: int
    computed: int
    flags: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        """One line for the person who watches: nothing that was empty, cut or unread goes unsaid."""
        flags = "".join(f", {count} {flag}" for flag, count in sorted(self.flags.items()))
        return (
            f"{self.metric}: {self.rows} rows, {self.distinct} distinct{flags}; {self.kept} kept, {self.computed} new"
        )


def score_all(
    readings: Sequence[Reading],
    items: Mapping[tuple[str, str], Item],
    tasks: Mapping[str, TaskSpec],
    metrics: Mapping[str, Metric],
    substitute: Mapping[str, str],
    keep: ScoreKeep | None = None,
    say: Say = print,
) -> tuple[list[Score], list[Tally]]:
    """Score rows for every reading under both protocols, grouped by metric, and what it took.

    Args:
        readings: the readings of one model.
        items: the release's items by task and item id.
        tasks: the task catalogue.
        metrics: the metrics by name, with their parameters; every metric that a task uses after substitution.
        substitute: see ``ScoreParams``.
        keep: scores of earlier runs.
        say: gets lines of progress.

    Raises:
        ScoreStageError: a reading belongs to no item of the release.
    """
    by_metric: defaultdict[str, list[Comparison]] = defaultdict(list)
    for reading in readings:
        key = (reading.task, reading.item_id)
        if key not in items:
            raise ScoreStageError(
                f"reading {reading.item_id} of {reading.task} ({reading.model}) belongs to no item of the release; "
                f"run `dvc repro read@{reading.model}`"
            )
        for comparison in compare(reading, items[key], tasks[reading.task], substitute):
            by_metric[comparison.metric].append(comparison)
    rows: list[Score] = []
    tallies: list[Tally] = []
    for name in sorted(by_metric):
        comparisons = by_metric[name]
        found = values_of(metrics[name], [comparison.pair for comparison in comparisons], keep, say)
        scores, signature = found.scores, found.signature
        flags = Counter(flag for comparison in comparisons for flag in scores[comparison.pair].flags)
        tallies.append(Tally(name, len(comparisons), len(scores), found.kept, found.computed, flags))
        rows.extend(_row(comparison, scores[comparison.pair], signature) for comparison in comparisons)
    return rows, tallies


def _row(comparison: Comparison, score: PairScore, signature: str) -> Score:
    reading, pair = comparison.reading, comparison.pair
    letters = pair.compared == "letters"
    passed_on = {"no_answer", "length", "truncated"} & set(reading.flags)
    return Score(
        item_id=reading.item_id,
        task=reading.task,
        model=reading.model,
        setting=reading.setting,
        run=reading.run,
        protocol=comparison.protocol,
        metric=comparison.metric,
        field=comparison.field,
        value=score.value,
        gold=pair.reference if letters else "",
        predicted=(pair.candidate or "") if letters else "",
        signature=signature,
        status=comparison.status,
        flags=sorted({*score.flags, *passed_on}),
    )
