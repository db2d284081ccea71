"""Accuracy: the share of answers whose letters are exactly the gold ones (appendix F.3).

Where gold is a set, all of it and nothing else must be picked (subset accuracy). An unread answer is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from taxpraben.metrics.base import Kind, Metric, Pair, PairScore, Progress


class Accuracy(Metric):
    """1 where the sets of letters are equal, else 0."""

    KIND: ClassVar[Kind] = "values"

    def score_pairs(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[PairScore]:
        """1.0 or 0.0 a pair, in their order."""
        del progress
        return [
            PairScore(value=0.0, flags=("unread",))
            if pair.candidate is None
            else PairScore(value=float(set(pair.candidate) == set(pair.reference)))
            for pair in pairs
        ]


METRIC = Accuracy
