"""BERTScore (Zhang et al. 2019; appendix F.3): greedy matching of token embeddings, the F value.

Embedding and matching are the bert-score package's own, so that values agree with it; what is added here: references
are embedded once and kept (in memory, and on disk for other processes), equal pairs are computed once, batches go by
length, empty texts are 0 and counted, and a text that is longer than the encoder takes is embedded in overlapping
windows instead of being cut in silence.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import Field, PrivateAttr

from taxpraben.metrics.base import Kind, Metric, MetricError, Pair, PairScore, Progress
from taxpraben.metrics.batches import batches_by_length, run_shrinking
from taxpraben.metrics.shelf import VectorShelf
from taxpraben.metrics.weights import (
    device_of,
    load_network,
    load_tokenizer,
    longest_input,
    settle_revision,
    use_threads,
    versions,
    weights_label,
)
from taxpraben.metrics.windows import windows_of

_LAYERS = ("layer", "encoder.layer", "layers", "encoder.block", "transformer.layer", "encoder.layers", "block")


class BertScore(Metric):
    """F of greedily matched token embeddings, about 0 to 1.

    Attributes:
        model: a local folder or hub id of an encoder.
        revision: the hub revision.
        layer: the layer whose output is compared; 0 takes bert-score's choice for models that it knows.
        idf: weigh tokens by their inverse document frequency over the references of the call.
        max_tokens: most tokens of a text at once; 0 takes the model's own limit.
        long_texts: ``window`` embeds an over-long text in overlapping stretches, ``cut`` cuts it; both are flagged.
        batch_size: most texts of a batch.
        batch_tokens: most tokens of a batch, padding included; 0 takes 2,048 on a CPU, where a small batch stays in its
            cache and is a quarter faster than one of 8,192, and 32,768 on a GPU.
        threads: torch threads; 0 leaves them as they are.
        device: torch device, for example ``cuda:0``; empty takes a GPU where there is one, else the CPU.
        keep_megabytes: most of embedded references kept in memory for later calls.
        disk_megabytes: most of them kept on disk for other processes; 0 keeps none there.
    """

    KIND: ClassVar[Kind] = "texts"
    # A similarity of vectors may fall below 0.
    RANGE: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    model: str = "hfl/chinese-xlnet-base"
    revision: str = ""
    layer: int = Field(default=0, ge=0)
    idf: bool = False
    max_tokens: int = Field(default=0, ge=0)
    long_texts: Literal["window", "cut"] = "window"
    batch_size: int = Field(default=64, ge=1)
    batch_tokens: int = Field(default=0, ge=0)
    threads: int = Field(default=0, ge=0)
    device: str = ""
    keep_megabytes: int = Field(default=512, ge=0)
    disk_megabytes: int = Field(default=2048, ge=0)

    _kept: OrderedDict[str, Any] = PrivateAttr(default_factory=OrderedDict)
    _shelf: VectorShelf | None = PrivateAttr(default=None)
    _network: Any = PrivateAttr(default=None)

    @property
    def independent(self) -> bool:
        """False with idf, whose weights come from all references of the call."""
        return not self.idf

    def signature(self) -> str:
        """For example ``bertscore|<model>@<revision>|layer:7|idf:no|long:window|bert-score=…``."""
        limit = f"|max:{self.max_tokens}" if self.max_tokens else ""
        idf = "yes" if self.idf else "no"
        return (
            f"{self.name}|{weights_label(self.model, self.revision)}|layer:{self._layer()}|idf:{idf}"
            f"{limit}|long:{self.long_texts}|{versions('bert-score', 'transformers', 'torch')}"
        )

    def prepare(self, folder: Path | None = None) -> None:
        """Settle the revision of a hub id; keep embedded references in ``references.sqlite`` of this folder."""
        settle_revision(self.model, self.revision)
        if folder is not None and self.disk_megabytes:
            self._shelf = VectorShelf(folder / "references.sqlite", self.disk_megabytes)

    def _layer(self) -> int:
        if self.layer:
            return self.layer
        from bert_score.utils import model2layers

        if self.model not in model2layers:
            raise MetricError(
                f"Metric 'bertscore': bert-score knows no layer for {self.model!r}; set params.bertscore.layer"
            )
        return int(model2layers[self.model])

    def score_pairs(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[PairScore]:
        """F for each pair, in their order; 0 with flag ``empty`` where a text is empty, ``unread`` where none is."""
        texts = {(pair.reference, pair.candidate) for pair in pairs if pair.candidate and _filled(pair)}
        scores: dict[tuple[str, str | None], PairScore] = {}
        if texts:
            scores.update(self._score_unique(sorted((ref, cand or "") for ref, cand in texts), progress))
        out: list[PairScore] = []
        for pair in pairs:
            if pair.candidate is None:
                out.append(PairScore(value=0.0, flags=("unread",)))
            elif not _filled(pair):
                out.append(PairScore(value=0.0, flags=("empty",)))
            else:
                out.append(scores[pair.reference, pair.candidate])
        return out

    def _score_unique(
        self, pairs: Sequence[tuple[str, str]], progress: Progress | None
    ) -> dict[tuple[str, str | None], PairScore]:
        use_threads(self.threads)
        tokenizer, network = self._loaded()
        weigh = _idf(tokenizer, [reference for reference, _ in pairs] if self.idf else [])
        limit = longest_input(tokenizer, network, self.max_tokens)
        scores: dict[tuple[str, str | None], PairScore] = {}
        done = 0
        for chunk in _chunks(pairs, self.batch_size * 8):
            known = self._references({reference for reference, _ in chunk}, tokenizer, network, limit)
            candidates = sorted({candidate for _, candidate in chunk} - known.keys())
            known.update(self._embed(candidates, tokenizer, network, limit))
            values = _match(chunk, known, weigh, self.batch_size, network.device)
            for pair, value in zip(chunk, values, strict=True):
                flags = sorted(known[pair[0]].flags | known[pair[1]].flags)
                scores[pair] = PairScore(value=value, flags=tuple(flags))
            done += len(chunk)
            if progress:
                progress(done, len(pairs))
        return scores

    def _references(self, texts: set[str], tokenizer: Any, network: Any, limit: int) -> dict[str, _Embedded]:
        """Embedded references: from memory, from disk, and only then from the network."""
        import torch

        known = {text: self._kept[text] for text in texts if text in self._kept}
        made_by = ""
        if self._shelf is not None and len(known) < len(texts):
            made_by = self.signature().replace("|idf:yes", "|idf:no") + f"|limit:{limit}"
            for text, (vectors, ids, flags) in self._shelf.find(made_by, sorted(texts - known.keys())).items():
                known[text] = _Embedded(torch.from_numpy(vectors.copy()), ids, flags)
        fresh = self._embed(sorted(texts - known.keys()), tokenizer, network, limit)
        if self._shelf is not None:
            self._shelf.add(made_by, {text: (one.vectors.numpy(), one.ids, one.flags) for text, one in fresh.items()})
        known.update(fresh)
        self._keep(known)
        return known

    def _loaded(self) -> tuple[Any, Any]:
        if self._network is None:
            network = _cut_layers(load_network(self.model, self.revision, "AutoModel"), self._layer(), self.model)
            self._network = network.to(device_of(self.device))
        return load_tokenizer(self.model, self.revision), self._network

    def _embed(self, texts: Sequence[str], tokenizer: Any, network: Any, limit: int) -> dict[str, _Embedded]:
        pieces = {text: windows_of(tokenizer, text, limit, self.long_texts) for text in texts}
        flat = [window for text in texts for window in pieces[text].ids]
        vectors: list[Any] = [None] * len(flat)
        most = self.batch_tokens or (2048 if network.device.type == "cpu" else 32768)
        for batch in batches_by_length([len(window) for window in flat], self.batch_size, most):
            outputs = run_shrinking(
                [flat[place] for place in batch], lambda windows: _encode(windows, tokenizer, network)
            )
            for place, output in zip(batch, outputs, strict=True):
                vectors[place] = output
        embedded: dict[str, _Embedded] = {}
        place = 0
        for text in texts:
            count = len(pieces[text].ids)
            kept = [
                vector[start:end]
                for vector, (start, end) in zip(vectors[place : place + count], pieces[text].spans, strict=True)
            ]
            embedded[text] = _Embedded(_joined(kept), pieces[text].counting, pieces[text].flags)
            place += count
        return embedded

    def _keep(self, known: dict[str, _Embedded]) -> None:
        self._kept.update(known)
        size = sum(one.vectors.nbytes for one in self._kept.values())
        while self._kept and size > self.keep_megabytes * 2**20:
            size -= self._kept.popitem(last=False)[1].vectors.nbytes


@dataclass(frozen=True)
class _Embedded:
    """A text's token vectors (tokens x width), its token ids, and its flags."""

    vectors: Any
    ids: list[int]
    flags: frozenset[str]


def _filled(pair: Pair) -> bool:
    return bool(pair.reference.strip()) and bool((pair.candidate or "").strip())


def _chunks(pairs: Sequence[tuple[str, str]], size: int) -> list[Sequence[tuple[str, str]]]:
    """The pairs, which are sorted by reference, in stretches that never divide a reference's pairs without need."""
    return [pairs[start : start + size] for start in range(0, len(pairs), size)]


def _idf(tokenizer: Any, references: Sequence[str]) -> Any:
    if references:
        from bert_score.utils import get_idf_dict

        return get_idf_dict(list(references), tokenizer, nthreads=0)
    weigh: defaultdict[int, float] = defaultdict(lambda: 1.0)
    for special in (tokenizer.sep_token_id, tokenizer.cls_token_id):
        if special is not None:
            weigh[special] = 0.0
    return weigh


def _cut_layers(network: Any, layer: int, model: str) -> Any:
    """The network without the layers above the asked one, as bert-score has it."""
    import torch

    if hasattr(network, "decoder") and hasattr(network, "encoder"):
        network = network.encoder
    if hasattr(network, "n_layers"):  # XLM counts its layers itself
        network.n_layers = _within(layer, network.n_layers, model)
        return network
    if hasattr(getattr(network, "encoder", None), "albert_layer_groups"):  # ALBERT runs the same ones many times
        config = network.encoder.config
        config.num_hidden_layers = _within(layer, config.num_hidden_layers, model)
        return network
    for path in _LAYERS:
        owner = network
        *parents, last = path.split(".")
        for name in parents:
            owner = getattr(owner, name, None)
        layers = getattr(owner, last, None)
        if isinstance(layers, torch.nn.ModuleList):
            setattr(owner, last, layers[: _within(layer, len(layers), model)])
            return network
    raise MetricError(f"Metric 'bertscore': no stack of layers found in {model!r}")


def _within(layer: int, layers: int, model: str) -> int:
    if layer > layers:
        raise MetricError(f"Metric 'bertscore': {model!r} has {layers} layers, not {layer}")
    return layer


def _encode(windows: Sequence[list[int]], tokenizer: Any, network: Any) -> list[Any]:
    from bert_score.utils import bert_encode, padding

    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
    padded, lengths, mask = padding(list(windows), pad)
    states = bert_encode(network, padded.to(network.device), attention_mask=mask.to(network.device)).cpu()
    return [states[row, : int(length)].clone() for row, length in enumerate(lengths)]


def _joined(vectors: Sequence[Any]) -> Any:
    import torch

    # A part of a window would keep the whole of it in memory.
    return vectors[0].clone() if len(vectors) == 1 else torch.cat(list(vectors))


def _match(
    pairs: Sequence[tuple[str, str]], known: dict[str, _Embedded], weigh: Any, size: int, device: Any
) -> list[float]:
    import torch
    from bert_score.utils import greedy_cos_idf
    from torch.nn.utils.rnn import pad_sequence

    weights = {
        text: torch.tensor([weigh[token] for token in known[text].ids], dtype=torch.float)
        for text in {text for pair in pairs for text in pair}
    }

    def run(places: Sequence[int]) -> list[float]:
        sides = []
        for side in (0, 1):
            texts = [pairs[place][side] for place in places]
            vectors = pad_sequence([known[text].vectors for text in texts], batch_first=True, padding_value=2.0)
            weighed = pad_sequence([weights[text] for text in texts], batch_first=True)
            masks = pad_sequence([torch.ones(len(known[text].ids)) for text in texts], batch_first=True).bool()
            sides.append((vectors.to(device), masks.to(device), weighed.to(device)))
        _, _, f = greedy_cos_idf(*sides[0], *sides[1], False)
        return [float(value) for value in f]

    values = [0.0] * len(pairs)
    lengths = [len(known[reference].ids) + len(known[candidate].ids) for reference, candidate in pairs]
    for batch in batches_by_length(lengths, size, 64 * 512):
        for place, value in zip(batch, run_shrinking(batch, run), strict=True):
            values[place] = value
    return values


METRIC = BertScore
