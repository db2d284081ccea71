"""F1, weighted by support: the ``F1`` of the paper's tables, as in the harness family that it builds on."""

from __future__ import annotations

from taxpraben.metrics import confusion


class WeightedF1(confusion.LabelMetric):
    """The mean of the labels' F1, each weighted by how often it is gold."""

    @classmethod
    def from_counts(
        cls, hits: confusion.Floats, golds: confusion.Floats, picks: confusion.Floats, rows: confusion.Floats | float
    ) -> confusion.Floats:
        """The metric from the counts of each label."""
        del rows
        return confusion.weighted_f1(hits, golds, picks)


METRIC = WeightedF1
