"""BARTScore (Yuan et al. 2021; appendix F.3): mean log p(reference | candidate) under a BART model.

The direction is that of the harness family that the paper builds on: the candidate is the source, the reference the
target, all target tokens with their special ones count, as in the authors' own program.
"""

from __future__ import annotations

from collections.abc import Sequence

from taxpraben.metrics.base import PairScore, Progress
from taxpraben.metrics.loglikelihood import LogLikelihood, in_batches, token_log_probabilities
from taxpraben.metrics.weights import (
    longest_input,
    use_threads,
    versions,
    weights_label,
)


class BartScore(LogLikelihood):
    """Mean log-probability a token of the reference, given the candidate, under a sequence-to-sequence model."""

    model: str = "facebook/bart-large-cnn"

    def signature(self) -> str:
        """For example ``bartscore|facebook/bart-large-cnn@main|ref-given-cand|max:1024|…``."""
        return (
            f"{self.name}|{weights_label(self.model, self.revision)}|ref-given-cand|max:{self.max_tokens}|"
            f"{versions('transformers', 'torch')}"
        )

    def _score_unique(self, pairs: Sequence[tuple[str, str]], progress: Progress | None) -> list[PairScore]:
        import torch
        from torch.nn.utils.rnn import pad_sequence

        use_threads(self.threads)
        tokenizer, network = self._loaded("AutoModelForSeq2SeqLM")
        limit = longest_input(tokenizer, network, self.max_tokens)

        def encoded(text: str) -> tuple[torch.Tensor, bool]:
            ids = tokenizer.encode(text, truncation=False, verbose=False)
            cut = tokenizer.encode(text, truncation=True, max_length=limit) if len(ids) > limit else ids
            return torch.tensor(cut), len(ids) > limit

        sources = [encoded(candidate) for _, candidate in pairs]
        targets = [encoded(reference) for reference, _ in pairs]
        pad = int(network.config.pad_token_id)

        def run(places: Sequence[int]) -> list[float]:
            source = pad_sequence([sources[place][0] for place in places], batch_first=True, padding_value=pad)
            target = pad_sequence([targets[place][0] for place in places], batch_first=True, padding_value=pad)
            lengths = torch.tensor([len(sources[place][0]) for place in places])
            mask = (torch.arange(source.shape[1]) < lengths[:, None]).long()
            source, target, mask = (tensor.to(network.device) for tensor in (source, target, mask))
            with torch.no_grad():
                # Labels make the model shift them into decoder inputs itself, as in the authors' program.
                logits = network(input_ids=source, attention_mask=mask, labels=target).logits
                found = token_log_probabilities(logits, target)
            sizes = [len(targets[place][0]) for place in places]
            return [float(row[:size].mean()) for row, size in zip(found, sizes, strict=True)]

        lengths = [len(source) + len(target) for (source, _), (target, _) in zip(sources, targets, strict=True)]
        values = in_batches(lengths, self, run, progress)
        return [
            PairScore(value=value, flags=("truncated",) if source[1] or target[1] else ())
            for value, source, target in zip(values, sources, targets, strict=True)
        ]


METRIC = BartScore
