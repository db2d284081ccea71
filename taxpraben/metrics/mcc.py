"""Matthews correlation coefficient of several classes (appendix F.3), from -1 to 1."""

from __future__ import annotations

from typing import ClassVar

from taxpraben.metrics import confusion


class Mcc(confusion.LabelMetric):
    """See ``confusion.mcc``; where gold is a set, each label of a row counts as one."""

    RANGE: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    @classmethod
    def from_counts(
        cls, hits: confusion.Floats, golds: confusion.Floats, picks: confusion.Floats, rows: confusion.Floats | float
    ) -> confusion.Floats:
        """The metric from the counts of each label."""
        return confusion.mcc(hits, golds, picks, rows)


METRIC = Mcc
