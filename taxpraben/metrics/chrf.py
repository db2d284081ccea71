"""chrF (Popović 2015): the F value of character n-grams, 0 to 100, by sacrebleu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from taxpraben.metrics.base import Kind, Metric, Pair, PairScore, Progress


class Chrf(Metric):
    """Sentence chrF as sacrebleu has it.

    Attributes:
        word_order: 2 makes it chrF++.
    """

    KIND: ClassVar[Kind] = "texts"
    RANGE: ClassVar[tuple[float, float]] = (0.0, 100.0)

    word_order: int = 0

    def signature(self) -> str:
        """The name and sacrebleu's own signature."""
        metric = self._metric()
        metric.corpus_score(["文"], [["文"]])  # sacrebleu knows the number of references only after scoring
        return f"{self.name}|{metric.get_signature()}"

    @classmethod
    def to_unit(cls, value: np.ndarray[Any, Any] | float) -> Any:
        """X / 100."""
        return np.asarray(value) / 100.0

    def score_pairs(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[PairScore]:
        """The value for each pair, in their order; 0 where a text is missing or empty."""
        del progress
        metric = self._metric()
        out: list[PairScore] = []
        for pair in pairs:
            if pair.candidate is None:
                out.append(PairScore(value=0.0, flags=("unread",)))
            elif not pair.candidate.strip() or not pair.reference.strip():
                out.append(PairScore(value=0.0, flags=("empty",)))
            else:
                out.append(PairScore(value=float(metric.sentence_score(pair.candidate, [pair.reference]).score)))
        return out

    def _metric(self) -> Any:
        from sacrebleu.metrics import CHRF

        return CHRF(word_order=self.word_order)


METRIC = Chrf
