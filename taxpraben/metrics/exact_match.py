"""Exact match (appendix F.3): letters, labels and spans after normalising, numbers at the precision of the gold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import ClassVar

from taxpraben.metrics.base import Kind, Metric, Pair, PairScore, Progress

_ENDS = "。．.，,、；;：:！!？?\"'“”‘’《》「」『』()（） "
_SPACE = re.compile(r"\s+")


class ExactMatch(Metric):
    """1 where the candidate is the gold answer, else 0; an unread answer is 0."""

    KIND: ClassVar[Kind] = "values"

    def signature(self) -> str:
        """The name and how numbers are compared."""
        return f"{self.name}|numbers:half-up-to-gold"

    def score_pairs(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[PairScore]:
        """1.0 or 0.0 a pair, in their order."""
        del progress
        return [
            PairScore(value=0.0, flags=("unread",))
            if pair.candidate is None
            else PairScore(value=float(_equal(pair.reference, pair.candidate, pair.compared)))
            for pair in pairs
        ]


def _equal(reference: str, candidate: str, compared: str) -> bool:
    if compared == "number":
        return same_number(reference, candidate)
    if compared == "letters":
        return set(reference) == set(candidate)
    return plain_span(reference) == plain_span(candidate)


def same_number(gold: str, candidate: str) -> bool:
    """Whether two decimals are equal once the candidate is rounded (half up) to the places that the gold shows."""
    try:
        right, said = Decimal(gold.replace(",", "")), Decimal(candidate.replace(",", ""))
        return right == said or said.quantize(right, rounding=ROUND_HALF_UP) == right
    except InvalidOperation:
        return plain_span(gold) == plain_span(candidate)


def plain_span(text: str) -> str:
    """One width and case, no white space, no marks and quotes at the ends: what a span is compared by."""
    return _SPACE.sub("", unicodedata.normalize("NFKC", text)).casefold().strip(_ENDS)


METRIC = ExactMatch
