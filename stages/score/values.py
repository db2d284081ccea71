"""A metric's values of pairs: equal pairs computed once, kept ones not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from stages.score.keep import ScoreKeep, score_key
from taxpraben.metrics import Metric, Pair, PairScore

CHUNK = 512
"""So many pairs are computed between two writes to disk, and so many texts share batches of like length."""
PLACES = 6
"""Values are rounded to so many places: float noise of the batch that a text was in must not change a file."""


@dataclass(frozen=True)
class Values:
    """What was found for the pairs.

    Attributes:
        scores: by distinct pair.
        signature: of the metric that made them.
        kept, computed: distinct pairs that an earlier run had scored, and that were scored now.
    """

    scores: Mapping[Pair, PairScore]
    signature: str
    kept: int
    computed: int


def values_of(
    metric: Metric, pairs: Sequence[Pair], keep: ScoreKeep | None = None, say: Callable[[str], None] = print
) -> Values:
    """The metric's value of every pair.

    Args:
        metric: a metric that was prepared (see ``Metric.prepare``) where things are to be kept.
        pairs: in any order, equal ones as often as they occur.
        keep: scores of earlier runs; what is computed goes there chunk by chunk, so a stop loses little.
        say: gets lines of progress.
    """
    distinct = list(dict.fromkeys(pairs))
    signature = metric.signature()
    if metric.KIND != "texts" or keep is None or not metric.independent:
        found = dict(zip(distinct, _rounded(metric.score_pairs(distinct)), strict=True))
        return Values(found, signature, 0, len(distinct))
    silent = [pair for pair in distinct if pair.candidate is None]  # nothing to compute, nothing to keep
    found = dict(zip(silent, metric.score_pairs(silent), strict=True))
    keys = {pair: score_key(signature, pair) for pair in distinct if pair not in found}
    stored = keep.find(keys.values())
    found.update({pair: stored[key] for pair, key in keys.items() if key in stored})
    # Sorted by reference, so that one is embedded once and its answers stand together.
    open_pairs = sorted(
        (pair for pair in distinct if pair not in found), key=lambda pair: (pair.reference, pair.candidate or "")
    )
    for start in range(0, len(open_pairs), CHUNK):
        chunk = open_pairs[start : start + CHUNK]
        scores = _rounded(metric.score_pairs(chunk))
        keep.add({keys[pair]: score for pair, score in zip(chunk, scores, strict=True)})
        found.update(zip(chunk, scores, strict=True))
        say(f"{metric.name}: {min(start + CHUNK, len(open_pairs))} of {len(open_pairs)} pairs")
    return Values(found, signature, len(keys) - len(open_pairs), len(open_pairs))


def _rounded(scores: Sequence[PairScore]) -> list[PairScore]:
    return [
        score if score.value is None else PairScore(value=round(score.value, PLACES), flags=score.flags)
        for score in scores
    ]
