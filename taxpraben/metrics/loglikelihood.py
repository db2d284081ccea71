"""What BARTScore and likelihood share: mean log-probabilities of a reference's tokens, and their scale.

A value is a mean natural log-probability a token (0 is certainty; about -8 to -3 in practice). On the scale from 0 to 1
it is (x + 10) / 10, clipped (appendix F.4).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, PrivateAttr

from taxpraben.metrics.base import Kind, Metric, Pair, PairScore, Progress
from taxpraben.metrics.batches import batches_by_length, run_shrinking
from taxpraben.metrics.weights import device_of, load_network, load_tokenizer, settle_revision


class LogLikelihood(Metric):
    """A mean log-probability of the reference given the candidate.

    Attributes:
        model: a local folder or hub id.
        revision: the hub revision.
        max_tokens: most tokens of either text; a longer one is cut and flagged ``truncated``.
        batch_size: most pairs of a batch.
        batch_tokens: most tokens of a batch, padding included.
        threads: torch threads; 0 leaves them as they are.
        device: torch device, for example ``cuda:0``; empty takes a GPU where there is one, else the CPU.
    """

    KIND: ClassVar[Kind] = "texts"
    WORST: ClassVar[float] = -10.0
    RANGE: ClassVar[tuple[float, float]] = (float("-inf"), 0.0)

    model: str
    revision: str = ""
    max_tokens: int = Field(default=1024, ge=8)
    batch_size: int = Field(default=16, ge=1)
    batch_tokens: int = Field(default=4096, ge=1)
    threads: int = Field(default=0, ge=0)
    device: str = ""

    _network: Any = PrivateAttr(default=None)

    def prepare(self, folder: Path | None = None) -> None:
        """Settle the revision of a hub id."""
        del folder
        settle_revision(self.model, self.revision)

    def _loaded(self, architecture: str) -> tuple[Any, Any]:
        """Tokenizer and network, loaded once."""
        if self._network is None:
            self._network = load_network(self.model, self.revision, architecture).to(device_of(self.device))
        return load_tokenizer(self.model, self.revision), self._network

    @classmethod
    def to_unit(cls, value: np.ndarray[Any, Any] | float) -> Any:
        """(x + 10) / 10, clipped to 0 and 1."""
        return np.clip((np.asarray(value) + 10.0) / 10.0, 0.0, 1.0)

    def score_pairs(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[PairScore]:
        """The value for each pair, in their order; -10 with flag ``empty`` or ``unread`` where there is no text."""
        unique = sorted({(pair.reference, pair.candidate or "") for pair in pairs if _filled(pair)})
        scores = dict(zip(unique, self._score_unique(unique, progress), strict=True)) if unique else {}
        out: list[PairScore] = []
        for pair in pairs:
            if not _filled(pair):
                out.append(PairScore(value=self.WORST, flags=("unread",) if pair.candidate is None else ("empty",)))
            else:
                out.append(scores[pair.reference, pair.candidate or ""])
        return out

    @abstractmethod
    def _score_unique(self, pairs: Sequence[tuple[str, str]], progress: Progress | None) -> list[PairScore]:
        """Scores of distinct pairs, by pair."""


def _filled(pair: Pair) -> bool:
    return bool(pair.reference.strip()) and bool((pair.candidate or "").strip())


def in_batches(
    lengths: Sequence[int],
    metric: LogLikelihood,
    run: Callable[[Sequence[int]], list[float]],
    progress: Progress | None,
) -> list[float]:
    """Run places of pairs in batches of like length; values in the order of the places."""
    values = [0.0] * len(lengths)
    done = 0
    for batch in batches_by_length(lengths, metric.batch_size, metric.batch_tokens):
        for place, value in zip(batch, run_shrinking(batch, run), strict=True):
            values[place] = value
        done += len(batch)
        if progress:
            progress(done, len(lengths))
    return values


def token_log_probabilities(logits: Any, targets: Any) -> Any:
    """Log-probability of each target token; logits are (batch, tokens, vocabulary), targets (batch, tokens).

    Row by row, so that no second array of the logits' size is made.
    """
    import torch

    rows = [
        row.log_softmax(dim=-1).gather(1, target.unsqueeze(1)).squeeze(1)
        for row, target in zip(logits, targets, strict=True)
    ]
    return torch.stack(rows)
