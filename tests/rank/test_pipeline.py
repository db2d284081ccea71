"""read, score and rank as they are called, over every task, on a made-up release."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path

import pytest

from taxpraben.records.base import read_records
from taxpraben.records.reading import Reading
from taxpraben.records.score import Score
from taxpraben.records.standing import Standing
from tests.rank.samples import write_workspace

MODELS = ("knows", "wordy", "silent")


def run(monkeypatch: pytest.MonkeyPatch, root: Path, stage: str, *arguments: str) -> int:
    """Run a stage's main in this process, from the workspace's root; its exit status."""
    monkeypatch.chdir(root)
    monkeypatch.setattr(sys, "argv", [f"stages.{stage}", *arguments])
    for name in [name for name in sys.modules if name == f"stages.{stage}.__main__"]:
        del sys.modules[name]
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(f"stages.{stage}", run_name="__main__", alter_sys=True)
    return int(ended.value.code or 0)


def evaluate(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    """All three stages for all models."""
    for model in MODELS:
        assert run(monkeypatch, root, "read", "--model", model) == 0
        assert run(monkeypatch, root, "score", "--model", model) == 0
    assert run(monkeypatch, root, "rank") == 0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with a release and answers."""
    write_workspace(tmp_path, MODELS, items=3)
    return tmp_path


def test_answers_become_standings_and_the_second_run_computes_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluate(monkeypatch, root)
    standings = read_records(root / "data/trial/standings.parquet", Standing)
    overall = {
        (row.model, row.protocol): row
        for row in standings
        if (row.name, row.setting, row.scope) == ("overall", "zero-shot", "group")
    }
    assert overall["knows", "strict"].mean == pytest.approx(1.0)
    assert overall["knows", "aligned"].mean == pytest.approx(1.0)
    assert overall["silent", "aligned"].mean == pytest.approx(0.0)
    assert overall["silent", "aligned"].refused == pytest.approx(0.5)
    wordy = overall["wordy", "aligned"].mean, overall["wordy", "strict"].mean
    assert wordy[0] is not None
    assert wordy[1] is not None
    assert wordy[0] - wordy[1] > 0.3  # the sentence around the answer costs it the strict protocol
    shown = capsys.readouterr().out
    assert "Groups, zero-shot, aligned" in shown
    assert "What format cost" in shown
    before = {path.name: path.read_bytes() for path in (root / "data/trial").rglob("*.parquet")}
    lines = (root / "data/trial/standings.txt").read_bytes()
    evaluate(monkeypatch, root)
    assert {path.name: path.read_bytes() for path in (root / "data/trial").rglob("*.parquet")} == before
    assert (root / "data/trial/standings.txt").read_bytes() == lines
    tallies = [
        line for line in capsys.readouterr().err.splitlines() if " rows, " in line and line.startswith(("r", "ch"))
    ]
    assert len(tallies) == 6
    assert all(line.endswith(" 0 new") for line in tallies)


def test_scores_carry_the_metric_that_was_really_used(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(monkeypatch, root, "read", "--model", "knows")
    run(monkeypatch, root, "score", "--model", "knows")
    scores = read_records(root / "data/trial/scores/knows.parquet", Score)
    assert {row.metric for row in scores} == {"accuracy", "weighted_f1", "macro_f1", "exact_match", "rouge_l", "chrf"}
    assert {row.signature.split("|")[0] for row in scores} == {row.metric for row in scores}


def test_strict_and_aligned_readings_differ_only_in_form(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(monkeypatch, root, "read", "--model", "wordy")
    readings = read_records(root / "data/trial/readings/wordy.parquet", Reading)
    topics = [row for row in readings if row.task == "TaxTopic"]
    assert {row.value for row in topics} == {"A", "B", "C"}
    assert {row.strict_value for row in topics} == {None}
    assert {row.method for row in topics} == {"rules"}


def test_unknown_metric_parameter_is_one_clear_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    params = root / "params.yaml"
    params.write_text(
        params.read_text(encoding="utf-8").replace("chrf}}", "chrf}, metrics: {rouge_l: {layer: 3}}}"), encoding="utf-8"
    )
    run(monkeypatch, root, "read", "--model", "knows")
    assert run(monkeypatch, root, "score", "--model", "knows") == 1
    assert "rouge_l" in capsys.readouterr().err.splitlines()[-1]


def test_missing_readings_are_one_clear_line(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, root, "score", "--model", "knows") == 1
    assert "run the stage that writes it" in capsys.readouterr().err


def test_answer_to_another_release_is_refused_by_name(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from taxpraben.records.item import Item

    path = root / "data/trial/benchmark/0.1.0/TaxQA.parquet"
    from taxpraben.records.base import write_records

    write_records(path, Item, read_records(path, Item)[:1])
    assert run(monkeypatch, root, "read", "--model", "knows") == 1
    assert "belongs to no item of the release" in capsys.readouterr().err


def test_standings_of_every_scope_are_written_as_json_lines_too(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluate(monkeypatch, root)
    rows = [json.loads(line) for line in (root / "data/trial/standings.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {row["scope"] for row in rows} == {"metric", "dataset", "group"}
    assert len(rows) == len(read_records(root / "data/trial/standings.parquet", Standing))
