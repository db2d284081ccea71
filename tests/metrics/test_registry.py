"""Metrics are found by their module's name; a wrong name or parameter is answered with the right one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import taxpraben.metrics as package
from taxpraben.metrics import MetricError, Pair, find_metric, metric_class, metric_names
from taxpraben.tasks.catalog import load_catalog

EXPECTED = {
    "accuracy", "bartscore", "bertscore", "chrf", "exact_match",
    "likelihood", "macro_f1", "mcc", "rouge_l", "weighted_f1",
}  # fmt: skip


def test_every_metric_module_is_a_metric() -> None:
    assert set(metric_names()) == EXPECTED


def test_every_metric_that_a_task_names_exists() -> None:
    for task in load_catalog().values():
        assert set(task.metric_names) <= set(metric_names()), task.name


def test_unknown_metric_is_answered_with_the_nearest_name() -> None:
    with pytest.raises(MetricError, match=r"Unknown metric 'bertscroe' in task\.yaml; did you mean 'bertscore'\?"):
        find_metric("bertscroe", where="task.yaml")


def test_unknown_parameter_is_answered_with_the_nearest_one() -> None:
    with pytest.raises(MetricError, match="did you mean 'layer'"):
        find_metric("bertscore", {"layers": 3})


def test_signatures_have_no_blanks_and_name_the_metric() -> None:
    for name in metric_names():
        params = {"layer": 3} if name == "bertscore" else {"model": "some/model"} if name == "likelihood" else {}
        signature = find_metric(name, params).signature()
        assert signature.split("|")[0] == name
        assert " " not in signature


def test_signature_names_model_revision_layer_idf_and_versions() -> None:
    signature = find_metric("bertscore", {"model": "some/model", "revision": "abc", "layer": 5}).signature()
    for part in ("some/model@abc", "layer:5", "idf:no", "bert-score=0.3.13"):
        assert part in signature


def test_missing_model_is_named_with_a_remedy(tmp_path: Path) -> None:
    pair = Pair(reference="甲", candidate="乙", compared="text")
    with pytest.raises(MetricError, match="taxpraben models fetch"):
        find_metric("bertscore", {"model": str(tmp_path), "layer": 1}).score_pairs([pair])


def test_unit_scale_of_log_likelihoods_is_clipped_and_that_of_chrf_divided() -> None:
    bart = find_metric("bartscore")
    assert bart.to_unit(-4.0) == pytest.approx(0.6)
    assert bart.to_unit(-12.5) == 0.0
    assert find_metric("likelihood", {"model": "x"}).to_unit(0.3) == 1.0
    assert np.allclose(find_metric("chrf").to_unit(np.array([0.0, 50.0])), [0.0, 0.5])


def test_a_metric_is_added_by_one_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "length_ratio.py").write_text(
        "from taxpraben.metrics.base import Metric, PairScore\n\n\n"
        "class LengthRatio(Metric):\n"
        "    KIND = 'texts'\n\n"
        "    def score_pairs(self, pairs, progress=None):\n"
        "        return [PairScore(value=len(pair.candidate or '') / len(pair.reference)) for pair in pairs]\n\n\n"
        "METRIC = LengthRatio\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(package, "__path__", [*package.__path__, str(tmp_path)])
    metric = find_metric("length_ratio")
    assert metric.aggregate([Pair(reference="四个字呢", candidate="两字", compared="text")]) == 0.5
    assert metric.signature() == "length_ratio"


def test_kind_range_and_scale_need_no_parameter() -> None:
    likelihood = metric_class("likelihood")
    assert (likelihood.KIND, likelihood.RANGE, likelihood.to_unit(-4.0)) == ("texts", (float("-inf"), 0.0), 0.6)
    for name in metric_names():
        kind = metric_class(name)
        assert kind.RANGE[0] <= kind.WORST <= kind.RANGE[1], name
