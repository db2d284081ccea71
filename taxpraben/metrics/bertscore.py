"""BERTScore (Zhang et al. 2019; appendix F.3): greedy matching of token embeddings, the F value.

Embedding and matching are the bert-score package's own, so that values agree with it; what is added here: references
are embedded once and kept, equal pairs are computed once, batches go by length, empty texts are 0 and counted, and a
text that is longer than the encoder takes is embedded in overlapping windows instead of being cut in silence.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from pydantic import Field, PrivateAttr

from taxpraben.metrics.base import Kind, Metric, MetricError, Pair, PairScore, Progress
from taxpraben.metrics.batches import batches_by_length, run_shrinking
from taxpraben.metrics.weights import (
    load_network,
    load_tokenizer,
    longest_input,
    use_threads,
    versions,
    weights_label,
)

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
        batch_tokens: most tokens of a batch, padding included.
        threads: torch threads; 0 leaves them as they are.
        keep_megabytes: how much of embedded references is kept for later calls.
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
    batch_tokens: int = Field(default=8192, ge=1)
    threads: int = Field(default=0, ge=0)
    keep_megabytes: int = Field(default=512, ge=0)

    _kept: OrderedDict[str, Any] = PrivateAttr(default_factory=OrderedDict)
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
            references = sorted({reference for reference, _ in chunk})
            embedded = self._embed(
                [text for text in references if text not in self._kept], tokenizer, network, weigh, limit
            )
            known = {text: self._kept.get(text) or embedded[text] for text in references}
            self._keep(embedded)
            candidates = sorted({candidate for _, candidate in chunk} - known.keys())
            known.update(self._embed(candidates, tokenizer, network, weigh, limit))
            for pair, value in zip(chunk, _match(chunk, known, self.batch_size), strict=True):
                flags = sorted(known[pair[0]].flags | known[pair[1]].flags)
                scores[pair] = PairScore(value=value, flags=tuple(flags))
            done += len(chunk)
            if progress:
                progress(done, len(pairs))
        return scores

    def _loaded(self) -> tuple[Any, Any]:
        if self._network is None:
            network = load_network(self.model, self.revision, "AutoModel")
            self._network = _cut_layers(network, self._layer(), self.model)
        return load_tokenizer(self.model, self.revision), self._network

    def _embed(
        self, texts: Sequence[str], tokenizer: Any, network: Any, weigh: Any, limit: int
    ) -> dict[str, _Embedded]:
        pieces = {text: _pieces(tokenizer, text, limit, self.long_texts) for text in texts}
        flat = [(text, piece) for text in texts for piece in pieces[text].windows]
        vectors: list[Any] = [None] * len(flat)
        lengths = [len(piece) for _, piece in flat]
        for batch in batches_by_length(lengths, self.batch_size, self.batch_tokens):
            outputs = run_shrinking(
                [flat[place][1] for place in batch], lambda windows: _encode(windows, tokenizer, network)
            )
            for place, output in zip(batch, outputs, strict=True):
                vectors[place] = output
        embedded: dict[str, _Embedded] = {}
        place = 0
        for text in texts:
            count = len(pieces[text].windows)
            embedded[text] = _joined(pieces[text], vectors[place : place + count], weigh)
            place += count
        return embedded

    def _keep(self, embedded: dict[str, _Embedded]) -> None:
        if self.idf:
            return  # weights belong to the call's references
        self._kept.update(embedded)
        size = sum(one.vectors.nbytes for one in self._kept.values())
        while self._kept and size > self.keep_megabytes * 2**20:
            size -= self._kept.popitem(last=False)[1].vectors.nbytes


class _Pieces:
    """A text's windows of token ids, which tokens of each window count, and what to flag."""

    def __init__(self, windows: list[list[int]], spans: list[tuple[int, int]], flags: frozenset[str]) -> None:
        self.windows, self.spans, self.flags = windows, spans, flags


class _Embedded:
    """A text's token vectors (tokens x width), their weights, and its flags."""

    def __init__(self, vectors: Any, weights: Any, flags: frozenset[str]) -> None:
        self.vectors, self.weights, self.flags = vectors, weights, flags


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
    for path in _LAYERS:
        owner = network
        *parents, last = path.split(".")
        for name in parents:
            owner = getattr(owner, name, None)
        layers = getattr(owner, last, None)
        if isinstance(layers, torch.nn.ModuleList):
            if layer > len(layers):
                raise MetricError(f"Metric 'bertscore': {model!r} has {len(layers)} layers, not {layer}")
            setattr(owner, last, layers[:layer])
            return network
    raise MetricError(f"Metric 'bertscore': no stack of layers found in {model!r}")


def _pieces(tokenizer: Any, text: str, limit: int, long_texts: str) -> _Pieces:
    text = text.strip()
    whole = tokenizer.encode(text, add_special_tokens=True, truncation=False, verbose=False)
    if not limit or len(whole) <= limit:
        return _Pieces([whole], [(0, len(whole))], frozenset())
    if long_texts == "cut":
        cut = tokenizer.encode(text, add_special_tokens=True, truncation=True, max_length=limit)
        return _Pieces([cut], [(0, len(cut))], frozenset({"truncated"}))
    content = tokenizer.encode(text, add_special_tokens=False, verbose=False)
    before, after = _frame(whole, content)
    room = limit - len(before) - len(after)
    step = max(room // 2, 1)
    windows: list[list[int]] = []
    spans: list[tuple[int, int]] = []
    start = taken = 0
    while taken < len(content):
        stretch = content[start : start + room]
        first, last = start == 0, start + room >= len(content)
        windows.append([*before, *stretch, *after])
        # Of the overlap, the half that has more context around it counts; special tokens only at the text's ends.
        end = len(stretch) if last else len(stretch) - step // 2
        opened = 0 if first else len(before) + taken - start
        spans.append((opened, len(before) + end + (len(after) if last else 0)))
        taken = start + end
        start += step
    return _Pieces(windows, spans, frozenset({"windowed"}))


def _frame(whole: list[int], content: list[int]) -> tuple[list[int], list[int]]:
    extra = len(whole) - len(content)
    for front in range(extra + 1):
        if whole[front : front + len(content)] == content:
            return whole[:front], whole[front + len(content) :]
    return [], []


def _encode(windows: Sequence[list[int]], tokenizer: Any, network: Any) -> list[Any]:
    from bert_score.utils import bert_encode, padding

    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0
    padded, lengths, mask = padding(list(windows), pad)
    states = bert_encode(network, padded, attention_mask=mask)
    return [states[row, : int(length)].clone() for row, length in enumerate(lengths)]


def _joined(pieces: _Pieces, vectors: Sequence[Any], weigh: Any) -> _Embedded:
    import torch

    kept = [vector[start:end] for vector, (start, end) in zip(vectors, pieces.spans, strict=True)]
    ids = [
        token for window, (start, end) in zip(pieces.windows, pieces.spans, strict=True) for token in window[start:end]
    ]
    weights = torch.tensor([weigh[token] for token in ids], dtype=torch.float)
    return _Embedded(kept[0] if len(kept) == 1 else torch.cat(kept), weights, pieces.flags)


def _match(pairs: Sequence[tuple[str, str]], known: dict[str, _Embedded], size: int) -> list[float]:
    from bert_score.utils import greedy_cos_idf
    from torch.nn.utils.rnn import pad_sequence

    def run(places: Sequence[int]) -> list[float]:
        sides = []
        for side in (0, 1):
            one = [known[pairs[place][side]] for place in places]
            vectors = pad_sequence([each.vectors for each in one], batch_first=True, padding_value=2.0)
            weights = pad_sequence([each.weights for each in one], batch_first=True)
            masks = pad_sequence([each.weights.new_ones(len(each.weights)) for each in one], batch_first=True).bool()
            sides.append((vectors, masks, weights))
        _, _, f = greedy_cos_idf(*sides[0], *sides[1], False)
        return [float(value) for value in f]

    values = [0.0] * len(pairs)
    lengths = [len(known[reference].weights) + len(known[candidate].weights) for reference, candidate in pairs]
    for batch in batches_by_length(lengths, size, 64 * 512):
        for place, value in zip(batch, run_shrinking(batch, run), strict=True):
            values[place] = value
    return values


METRIC = BertScore
