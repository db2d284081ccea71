"""ROUGE-L (Lin 2004): F of the longest common subsequence, over Chinese characters and other words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar

from taxpraben.metrics.base import Kind, Metric, Pair, PairScore, Progress
from taxpraben.metrics.weights import versions

_TOKEN = re.compile(r"[a-z0-9]+(?:\.[0-9]+)?|[^\s\W]", re.IGNORECASE)


class Characters:
    """A tokenizer for rouge-score, whose own keeps Latin letters and digits only."""

    def tokenize(self, text: str) -> list[str]:
        """Each Chinese character, each Latin word or number; no punctuation."""
        return [token.lower() for token in _TOKEN.findall(text)]


class RougeL(Metric):
    """F of the longest common subsequence, 0 to 1, by the rouge-score package."""

    KIND: ClassVar[Kind] = "texts"

    def signature(self) -> str:
        """The name, the tokens and the package's version."""
        return f"{self.name}|tokens:characters|{versions('rouge-score')}"

    def score_pairs(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[PairScore]:
        """F for each pair, in their order; 0 where a text is missing or empty."""
        from rouge_score.rouge_scorer import RougeScorer

        del progress
        scorer = RougeScorer(["rougeL"], tokenizer=Characters())
        out: list[PairScore] = []
        for pair in pairs:
            if pair.candidate is None:
                out.append(PairScore(value=0.0, flags=("unread",)))
            elif not pair.candidate.strip() or not pair.reference.strip():
                out.append(PairScore(value=0.0, flags=("empty",)))
            else:
                out.append(PairScore(value=float(scorer.score(pair.reference, pair.candidate)["rougeL"].fmeasure)))
        return out


METRIC = RougeL
