"""Likelihood: mean log p(reference | candidate) a token under a causal language model.

For machines without a BART: the same idea and scale as BARTScore, another model, so never called BARTScore. The
candidate and a line break stand before the reference; only the reference's tokens count.
"""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from taxpraben.metrics.base import PairScore, Progress
from taxpraben.metrics.loglikelihood import LogLikelihood, in_batches, token_log_probabilities
from taxpraben.metrics.weights import use_threads, versions, weights_label


class Likelihood(LogLikelihood):
    """Mean log-probability a token of the reference, after the candidate, under a causal language model."""

    max_tokens: int = Field(default=512, ge=8)
    batch_size: int = Field(default=8, ge=1)
    batch_tokens: int = Field(default=2048, ge=1)

    def signature(self) -> str:
        """For example ``likelihood|<model>@<revision>|ref-after-cand|max:512|…``."""
        return (
            f"{self.name}|{weights_label(self.model, self.revision)}|ref-after-cand|max:{self.max_tokens}|"
            f"{versions('transformers', 'torch')}"
        )

    def _score_unique(self, pairs: Sequence[tuple[str, str]], progress: Progress | None) -> list[PairScore]:
        import torch
        from torch.nn.utils.rnn import pad_sequence

        use_threads(self.threads)
        tokenizer, network = self._loaded("AutoModelForCausalLM")

        def encoded(text: str) -> list[int]:
            return list(tokenizer.encode(text, add_special_tokens=False, verbose=False))

        begin = [tokenizer.bos_token_id] if tokenizer.bos_token_id is not None else []
        breaks = encoded("\n")
        contexts = [encoded(candidate.strip()) for _, candidate in pairs]
        targets = [encoded(reference.strip()) for reference, _ in pairs]
        cuts = [
            len(context) > self.max_tokens or len(target) > self.max_tokens
            for context, target in zip(contexts, targets, strict=True)
        ]
        before = [[*begin, *context[: self.max_tokens], *breaks] for context in contexts]
        wanted = [target[: self.max_tokens] for target in targets]

        def run(places: Sequence[int]) -> list[float]:
            rows = [torch.tensor(before[place] + wanted[place]) for place in places]
            ids = pad_sequence(rows, batch_first=True, padding_value=0)
            mask = pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
            ids, mask = ids.to(network.device), mask.to(network.device)
            values: list[float] = []
            with torch.no_grad():
                states = network.base_model(input_ids=ids, attention_mask=mask).last_hidden_state
                for row, place in enumerate(places):
                    start, end = len(before[place]), len(before[place]) + len(wanted[place])
                    # Only the reference's positions go through the vocabulary layer, which is the dear part.
                    logits = network.get_output_embeddings()(states[row, start - 1 : end - 1])
                    found = token_log_probabilities(logits[None], ids[row : row + 1, start:end])
                    values.append(float(found.mean()))
            return values

        lengths = [len(first) + len(second) for first, second in zip(before, wanted, strict=True)]
        values = in_batches(lengths, self, run, progress)
        return [
            PairScore(value=value, flags=("truncated",) if cut else ()) for value, cut in zip(values, cuts, strict=True)
        ]


METRIC = Likelihood
