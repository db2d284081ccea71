"""Readings into score rows: equal comparisons computed once, kept ones not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from stages.score.comparisons import Comparison, compare
from stages.score.keep import ScoreKeep, score_key
from taxpraben.metrics import Metric, Pair, PairScore
from taxpraben.records.item import Item
from taxpraben.records.reading import Reading
from taxpraben.records.score import Score
from taxpraben.tasks.spec import TaskSpec

Say = Callable[[str], None]
CHUNK = 256
PLACES = 6
"""Values are rounded to so many places: float noise of the batch that a text was in must not change a file."""


class ScoreStageError(ValueError):
    """Readings that do not fit the release; the message names the row and the remedy."""


@dataclass(frozen=True)
class Tally:
    """What scoring one metric took: comparisons, distinct pairs of texts, kept ones, computed ones."""

    metric: str
    rows: int
    distinct: int
    kept: int
    computed: int


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
        scores, tally = _score_metric(metrics[name], comparisons, keep, say)
        tallies.append(tally)
        signature = metrics[name].signature()
        rows.extend(_row(comparison, scores[comparison.pair], signature) for comparison in comparisons)
    return rows, tallies


def _score_metric(
    metric: Metric, comparisons: Sequence[Comparison], keep: ScoreKeep | None, say: Say
) -> tuple[dict[Pair, PairScore], Tally]:
    pairs = list(dict.fromkeys(comparison.pair for comparison in comparisons))
    if metric.KIND != "texts" or keep is None or not metric.independent:
        found = dict(zip(pairs, _rounded(metric.score_pairs(pairs)), strict=True))
        return found, Tally(metric.name, len(comparisons), len(pairs), 0, len(pairs))
    signature = metric.signature()
    silent = [pair for pair in pairs if pair.candidate is None]  # nothing to compute, nothing to keep
    found = dict(zip(silent, metric.score_pairs(silent), strict=True))
    keys = {pair: score_key(signature, pair) for pair in pairs if pair not in found}
    stored = keep.find(keys.values())
    found.update({pair: stored[key] for pair, key in keys.items() if key in stored})
    # Sorted by reference, so that one is embedded once and its answers stand together.
    open_pairs = sorted(
        (pair for pair in pairs if pair not in found), key=lambda pair: (pair.reference, pair.candidate or "")
    )
    for start in range(0, len(open_pairs), CHUNK):
        chunk = open_pairs[start : start + CHUNK]
        scores = _rounded(metric.score_pairs(chunk))
        keep.add({keys[pair]: score for pair, score in zip(chunk, scores, strict=True)})
        found.update(zip(chunk, scores, strict=True))
        say(f"{metric.name}: {min(start + CHUNK, len(open_pairs))} of {len(open_pairs)} pairs")
    return found, Tally(metric.name, len(comparisons), len(pairs), len(keys) - len(open_pairs), len(open_pairs))


def _rounded(scores: Sequence[PairScore]) -> list[PairScore]:
    return [
        score if score.value is None else PairScore(value=round(score.value, PLACES), flags=score.flags)
        for score in scores
    ]


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
