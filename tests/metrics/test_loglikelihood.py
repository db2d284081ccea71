"""BARTScore and likelihood against plain references computed here, one pair at a time."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from taxpraben.metrics import Pair, find_metric, loglikelihood
from tests.metrics.tiny import TEXTS, save_bart, save_causal

ALL = [(reference, candidate) for reference in TEXTS for candidate in TEXTS]


@pytest.fixture(scope="module")
def bart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random BART."""
    return save_bart(tmp_path_factory.mktemp("seq2seq"))


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random causal model."""
    return save_causal(tmp_path_factory.mktemp("causal"))


def plain_bartscore(folder: Path, reference: str, candidate: str) -> float:
    """The authors' program for one pair: source is the candidate, every target token counts."""
    tokenizer, network = AutoTokenizer.from_pretrained(folder), AutoModelForSeq2SeqLM.from_pretrained(folder).eval()
    source, target = tokenizer(candidate, return_tensors="pt"), tokenizer(reference, return_tensors="pt")
    with torch.no_grad():
        logits = network(
            input_ids=source["input_ids"], attention_mask=source["attention_mask"], labels=target["input_ids"]
        ).logits
    lost = torch.nn.functional.nll_loss(logits[0].log_softmax(dim=1), target["input_ids"][0], reduction="none")
    return -float(lost.sum() / len(lost))


def plain_likelihood(folder: Path, reference: str, candidate: str) -> float:
    """Mean log-probability of the reference's tokens after candidate and line break."""
    tokenizer, network = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    before = tokenizer.encode(candidate) + tokenizer.encode("\n")
    ids = torch.tensor([before + tokenizer.encode(reference)])
    with torch.no_grad():
        chances = network(ids).logits[0].log_softmax(dim=1)
    picked = [float(chances[place - 1, ids[0, place]]) for place in range(len(before), ids.shape[1])]
    return sum(picked) / len(picked)


def test_bartscore_equals_the_plain_reference(bart: Path) -> None:
    metric = find_metric("bartscore", {"model": str(bart), "batch_size": 4})
    scores = metric.score_pairs([Pair(reference=one, candidate=two, compared="text") for one, two in ALL])
    expected = [plain_bartscore(bart, one, two) for one, two in ALL]
    assert [score.value for score in scores] == pytest.approx(expected, abs=1e-4)
    assert max(expected) - min(expected) > 0.1


def test_likelihood_equals_the_plain_reference(causal: Path) -> None:
    metric = find_metric("likelihood", {"model": str(causal), "batch_size": 4})
    scores = metric.score_pairs([Pair(reference=one, candidate=two, compared="text") for one, two in ALL])
    expected = [plain_likelihood(causal, one, two) for one, two in ALL]
    assert [score.value for score in scores] == pytest.approx(expected, abs=1e-4)
    assert max(expected) - min(expected) > 0.1


def test_direction_matters(bart: Path) -> None:
    metric = find_metric("bartscore", {"model": str(bart)})
    there, back = metric.score_pairs(
        [
            Pair(reference=TEXTS[0], candidate=TEXTS[3], compared="text"),
            Pair(reference=TEXTS[3], candidate=TEXTS[0], compared="text"),
        ]
    )
    assert there.value != pytest.approx(back.value, abs=1e-3)


@pytest.mark.parametrize("name", ["bartscore", "likelihood"])
def test_missing_text_is_the_foot_of_the_scale_and_counted(name: str, bart: Path, causal: Path) -> None:
    metric = find_metric(name, {"model": str(bart if name == "bartscore" else causal)})
    scores = metric.score_pairs([Pair(reference="甲", candidate=said, compared="text") for said in ("", None)])
    assert [(score.value, score.flags) for score in scores] == [(-10.0, ("empty",)), (-10.0, ("unread",))]
    assert metric.to_unit(-10.0) == 0.0


@pytest.mark.parametrize("name", ["bartscore", "likelihood"])
def test_cut_text_is_flagged(name: str, bart: Path, causal: Path) -> None:
    metric = find_metric(name, {"model": str(bart if name == "bartscore" else causal), "max_tokens": 20})
    scores = metric.score_pairs(
        [Pair(reference=one, candidate=TEXTS[4], compared="text") for one in (TEXTS[3], TEXTS[4])]
    )
    assert [score.flags for score in scores] == [("truncated",), ()]


@pytest.mark.parametrize("name", ["bartscore", "likelihood"])
def test_batch_that_does_not_fit_is_halved_and_goes_on(
    name: str, bart: Path, causal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"model": str(bart if name == "bartscore" else causal)}
    pairs = [Pair(reference=one, candidate=two, compared="text") for one, two in ALL]
    expected = [score.value for score in find_metric(name, given).score_pairs(pairs)]
    real = loglikelihood.batches_by_length
    batches: list[int] = []

    def noted(*arguments):  # type: ignore[no-untyped-def]
        for batch in real(*arguments):
            batches.append(len(batch))
            yield batch

    metric = find_metric(name, given)
    _, network = metric._loaded("AutoModelForSeq2SeqLM" if name == "bartscore" else "AutoModelForCausalLM")

    def small_memory(*_, **more):  # type: ignore[no-untyped-def]
        if len(more["input_ids"]) > 2:
            raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    inner = network if name == "bartscore" else network.base_model
    inner.register_forward_pre_hook(lambda _, args, kwargs: small_memory(*args, **kwargs), with_kwargs=True)
    monkeypatch.setattr(loglikelihood, "batches_by_length", noted)
    assert [score.value for score in metric.score_pairs(pairs)] == pytest.approx(expected, abs=1e-5)
    assert max(batches) > 2
