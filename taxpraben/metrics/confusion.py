"""Counts behind F1 and MCC: letter answers as rows of flags, one a label of the task.

A gold set has several flags; an unread answer has none, so it costs recall of its gold label and is never a class.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, TypeAlias

import numpy as np

from taxpraben.metrics.base import Kind, Metric, Pair, PairScore, Progress

Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


def letter_flags(answers: Sequence[str], labels: str) -> Flags:
    """One row an answer, one column a label, in the order of ``labels``; an empty answer is a row of False.

    Raises:
        ValueError: an answer has a letter that is no label.
    """
    places = {label: column for column, label in enumerate(labels)}
    flags = np.zeros((len(answers), len(labels)), dtype=np.bool_)
    for row, answer in enumerate(answers):
        for letter in answer:
            if letter not in places:
                raise ValueError(f"answer {answer!r} has a letter that is none of the task's labels {labels!r}")
            flags[row, places[letter]] = True
    return flags


def pair_flags(pairs: Sequence[Pair], labels: str) -> tuple[Flags, Flags]:
    """The flags of references and of candidates."""
    golds = letter_flags([pair.reference for pair in pairs], labels)
    return golds, letter_flags([pair.candidate or "" for pair in pairs], labels)


def f1_by_label(hits: Floats, golds: Floats, picks: Floats) -> Floats:
    """F1 of each label: twice the hits over golds and picks; 0 where a label was neither gold nor picked.

    The counts have equal shape; the last axis is the label.
    """
    return np.divide(2 * hits, golds + picks, out=np.zeros_like(hits, dtype=np.float64), where=golds + picks > 0)


def weighted_f1(hits: Floats, golds: Floats, picks: Floats) -> Floats:
    """The mean of the labels' F1, weighted by how often each is gold; NaN where nothing is gold."""
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = golds / golds.sum(axis=-1, keepdims=True)
    return np.asarray((f1_by_label(hits, golds, picks) * shares).sum(axis=-1), dtype=np.float64)


def macro_f1(hits: Floats, golds: Floats, picks: Floats) -> Floats:
    """The plain mean of F1 over the labels that are gold somewhere; NaN where nothing is gold.

    A label that no item has as gold could only be 0 and would cap a perfect model, so it is left out; which labels
    these are depends on the items alone, never on what a model picked.
    """
    asked = golds > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        total = np.where(asked, f1_by_label(hits, golds, picks), 0.0).sum(axis=-1)
        return np.asarray(total / asked.sum(axis=-1), dtype=np.float64)


def counted(golds: Flags, picked: Flags) -> tuple[Floats, Floats, Floats]:
    """Hits, golds and picks of each label over all rows."""
    return (
        (golds & picked).sum(axis=0).astype(np.float64),
        golds.sum(axis=0).astype(np.float64),
        picked.sum(axis=0).astype(np.float64),
    )


def mcc(hits: Floats, golds: Floats, picks: Floats, rows: Floats | float) -> Floats:
    """Matthews correlation of several classes (appendix F.3, in the form of Gorodkin 2004), from counts.

    ``(c n - sum t p) / sqrt((n² - sum p²) (n² - sum t²))`` with c hits, n rows, t golds and p picks a label; an unread
    answer adds to n only. 0 where the denominator is 0 (one class only), as scikit-learn has it.
    """
    total = np.asarray(rows, dtype=np.float64)
    upper = hits.sum(axis=-1) * total - (golds * picks).sum(axis=-1)
    lower = (total**2 - (picks**2).sum(axis=-1)) * (total**2 - (golds**2).sum(axis=-1))
    found = np.divide(upper, np.sqrt(np.maximum(lower, 0)), out=np.zeros_like(upper), where=lower > 0)
    return np.asarray(found, dtype=np.float64)


class LabelMetric(Metric):
    """A metric that exists over a list of letter answers only, computed from the counts of each label."""

    KIND: ClassVar[Kind] = "labels"

    def signature(self) -> str:
        """The name and where the labels come from."""
        return f"{self.name}|labels:task"

    def score_pairs(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[PairScore]:
        """No value a pair, only the flag ``unread`` where it holds."""
        del progress
        return [PairScore(value=None, flags=("unread",) if pair.candidate is None else ()) for pair in pairs]

    def aggregate(self, pairs: Sequence[Pair], labels: str = "") -> float | None:
        """The metric over all pairs, with ``labels`` the task's letters; None for an empty list."""
        if not pairs:
            return None
        return float(self.from_counts(*counted(*pair_flags(pairs, labels)), len(pairs)))

    @classmethod
    @abstractmethod
    def from_counts(cls, hits: Floats, golds: Floats, picks: Floats, rows: Floats | float) -> Floats:
        """The metric from counts (last axis: the label) of hits, golds and picks, and the number of rows."""
