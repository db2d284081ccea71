"""Macro F1 (appendix F.3): every label of the task that some item has as gold counts the same."""

from __future__ import annotations

from taxpraben.metrics import confusion


class MacroF1(confusion.LabelMetric):
    """The plain mean of the labels' F1."""

    @classmethod
    def from_counts(
        cls, hits: confusion.Floats, golds: confusion.Floats, picks: confusion.Floats, rows: confusion.Floats | float
    ) -> confusion.Floats:
        """The metric from the counts of each label."""
        del rows
        return confusion.macro_f1(hits, golds, picks)


METRIC = MacroF1
