"""BERTScore against the bert-score package called plainly, on small random networks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import bert_score.utils
import pytest
from bert_score import score as reference_score

from taxpraben.metrics import Metric, MetricError, Pair, batches, bertscore, find_metric
from tests.metrics.tiny import TEXTS, save_albert, save_bert, save_xlnet

ALL = [(reference, candidate) for reference in TEXTS for candidate in TEXTS]


def values(metric: Metric, texts: Sequence[tuple[str, str]]) -> list[float]:
    """F values of reference and candidate texts."""
    scores = metric.score_pairs([Pair(reference=one, candidate=two, compared="text") for one, two in texts])
    return [score.value if score.value is not None else float("nan") for score in scores]


def plain(folder: Path, layer: int, texts: Sequence[tuple[str, str]], idf: bool = False) -> list[float]:
    """The same from the package."""
    _, _, f = reference_score(
        [candidate for _, candidate in texts],
        [reference for reference, _ in texts],
        model_type=str(folder),
        num_layers=layer,
        idf=idf,
        device="cpu",
        nthreads=0,
        use_fast_tokenizer=True,
    )
    return [float(value) for value in f]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random BERT."""
    return save_bert(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def xlnet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random XLNet."""
    return save_xlnet(tmp_path_factory.mktemp("network"))


@pytest.mark.parametrize("layer", [1, 3])
@pytest.mark.parametrize("size", [1, 7])
def test_bert_values_equal_the_package(bert: Path, layer: int, size: int) -> None:
    metric = find_metric("bertscore", {"model": str(bert), "layer": layer, "batch_size": size})
    assert values(metric, ALL) == pytest.approx(plain(bert, layer, ALL), abs=1e-5)


def test_xlnet_values_equal_the_package_alone_and_in_padded_batches(xlnet: Path) -> None:
    metric = find_metric("bertscore", {"model": str(xlnet), "layer": 2})
    together = values(metric, ALL)
    alone = [values(find_metric("bertscore", {"model": str(xlnet), "layer": 2}), [pair])[0] for pair in ALL]
    assert together == pytest.approx(alone, abs=1e-5)
    assert together == pytest.approx(plain(xlnet, 2, ALL), abs=1e-5)


def test_idf_values_equal_the_package(bert: Path) -> None:
    texts = list(zip(TEXTS, TEXTS[1:] + TEXTS[:1], strict=True))
    metric = find_metric("bertscore", {"model": str(bert), "layer": 2, "idf": True})
    assert values(metric, texts) == pytest.approx(plain(bert, 2, texts, idf=True), abs=1e-5)
    assert not metric.independent


def test_texts_differ_in_more_than_rounding(bert: Path) -> None:
    found = values(find_metric("bertscore", {"model": str(bert), "layer": 3}), ALL)
    assert max(found) - min(found) > 0.05


def test_empty_candidate_is_zero_and_counted(bert: Path) -> None:
    metric = find_metric("bertscore", {"model": str(bert), "layer": 2})
    scores = metric.score_pairs(
        [Pair(reference=TEXTS[0], candidate=said, compared="text") for said in ("", "  \n", None, TEXTS[0])]
    )
    assert [score.value for score in scores[:3]] == [0.0, 0.0, 0.0]
    assert [score.flags for score in scores] == [("empty",), ("empty",), ("unread",), ()]
    assert scores[3].value == pytest.approx(1.0, abs=1e-5)


def test_text_beyond_the_encoder_is_windowed_and_flagged(bert: Path) -> None:
    long = "".join(TEXTS) * 4
    metric = find_metric("bertscore", {"model": str(bert), "layer": 2})
    same, other = metric.score_pairs(
        [Pair(reference=long, candidate=said, compared="text") for said in (long, TEXTS[1])]
    )
    assert same.value == pytest.approx(1.0, abs=1e-5)
    assert same.flags == other.flags == ("windowed",)
    end = "".join(TEXTS) * 3 + "甲乙丙丁戊己庚辛" * 4
    changed = metric.score_pairs([Pair(reference=long, candidate=end, compared="text")])[0]
    assert changed.value is not None
    assert changed.value < 0.999  # the end of a long text counts


def test_cut_text_is_flagged_as_truncated_and_equals_the_package(bert: Path) -> None:
    long = "".join(TEXTS) * 4
    metric = find_metric("bertscore", {"model": str(bert), "layer": 2, "long_texts": "cut"})
    score = metric.score_pairs([Pair(reference=long, candidate=TEXTS[1], compared="text")])[0]
    assert score.flags == ("truncated",)
    assert score.value == pytest.approx(plain(bert, 2, [(long, TEXTS[1])])[0], abs=1e-5)


def test_tokenizer_without_a_limit_takes_the_networks(tmp_path: Path) -> None:
    folder = save_bert(tmp_path / "free", longest=None)
    metric = find_metric("bertscore", {"model": str(folder), "layer": 2})
    score = metric.score_pairs([Pair(reference="".join(TEXTS) * 4, candidate=TEXTS[0], compared="text")])[0]
    assert score.flags == ("windowed",)


def test_equal_pairs_and_kept_references_are_embedded_once(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded: list[int] = []
    encode = bertscore._encode

    def counting(windows, tokenizer, network):  # type: ignore[no-untyped-def]
        embedded.append(len(windows))
        return encode(windows, tokenizer, network)

    monkeypatch.setattr(bertscore, "_encode", counting)
    metric = find_metric("bertscore", {"model": str(bert), "layer": 2})
    first = values(metric, [(TEXTS[0], TEXTS[1])] * 5)
    assert sum(embedded) == 2
    assert len(set(first)) == 1
    values(metric, [(TEXTS[0], TEXTS[2])])
    assert sum(embedded) == 3  # the reference was kept


NO_MEMORY = [
    RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
    RuntimeError("CUDA out of memory. Tried to allocate 9.00 GiB"),
    MemoryError(),
]


@pytest.mark.parametrize("error", NO_MEMORY, ids=["cpu", "gpu", "python"])
@pytest.mark.parametrize("place", ["_encode", "greedy_cos_idf"])
def test_batch_that_does_not_fit_is_halved_and_goes_on(
    bert: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, place: str
) -> None:
    owner = bertscore if place == "_encode" else bert_score.utils
    real = getattr(owner, place)
    sizes: list[int] = []

    def small_memory(batch, *more):  # type: ignore[no-untyped-def]
        sizes.append(len(batch))
        if len(batch) > 2:
            raise error
        return real(batch, *more)

    expected = values(find_metric("bertscore", {"model": str(bert), "layer": 2}), ALL)
    monkeypatch.setattr(owner, place, small_memory)
    assert values(find_metric("bertscore", {"model": str(bert), "layer": 2}), ALL) == pytest.approx(expected, abs=1e-5)
    assert max(sizes) > 2


def test_one_text_that_does_not_fit_alone_says_what_to_lower(bert: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr(bertscore, "_encode", no_memory)
    with pytest.raises(MemoryError, match="lower the metric's max_tokens"):
        values(find_metric("bertscore", {"model": str(bert), "layer": 2}), ALL[:1])


@pytest.mark.parametrize("layer", [1, 2])
def test_albert_which_runs_one_layer_many_times_equals_the_package(tmp_path: Path, layer: int) -> None:
    folder = save_albert(tmp_path / "shared")
    metric = find_metric("bertscore", {"model": str(folder), "layer": layer})
    assert values(metric, ALL) == pytest.approx(plain(folder, layer, ALL), abs=1e-5)


def test_other_errors_are_not_taken_for_memory() -> None:
    def broken(_: Sequence[int]) -> list[int]:
        raise RuntimeError("shape mismatch")

    with pytest.raises(RuntimeError, match="shape"):
        batches.run_shrinking([1, 2], broken)


def test_layer_that_is_not_there_is_named(bert: Path) -> None:
    with pytest.raises(MetricError, match="has 3 layers, not 9"):
        values(find_metric("bertscore", {"model": str(bert), "layer": 9}), ALL[:1])


def test_model_without_a_known_layer_asks_for_one(bert: Path) -> None:
    with pytest.raises(MetricError, match=r"params\.bertscore\.layer"):
        find_metric("bertscore", {"model": str(bert)}).signature()
