"""explain, rescore, compare and standings as a person calls them, on a made-up release."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from taxpraben.records.base import read_records, write_records
from taxpraben.records.reading import Reading
from taxpraben.records.standing import Standing
from tests.rank.samples import write_workspace
from tests.rank.test_pipeline import MODELS, evaluate, run


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace that was read, scored and ranked."""
    write_workspace(tmp_path, MODELS, items=3)
    evaluate(monkeypatch, tmp_path)
    return tmp_path


def call(*arguments: str) -> str:
    """What the command prints."""
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize(
    "named", [("TaxSCQ", "TaxSCQ-000000000001"), ("TaxSCQ", "000000000001"), ("TaxSCQ-000000000001",)]
)
def test_explain_goes_from_the_item_to_both_scores(root: Path, named: tuple[str, ...]) -> None:
    text = call("explain", "wordy", *named, "--run", "1")
    for part in (
        "TaxSCQ-000000000001 of TaxSCQ (虚构, release 0.1.0)",
        "第1题：示例企业应如何申报？",
        "zero-shot, run 1: prompt",
        "zero-shot: raw answer (ok)\n答案：B",
        'one-shot: reading (read by rules)\nvalue    "B"\nstrict   null',
        "accuracy  strict 0.0000  aligned 1.0000",
        "macro_f1  strict gold B, picked -  aligned gold B, picked B",
        "macro_f1|labels:task",
    ):
        assert part in text, part


def test_explain_of_an_item_that_is_not_there_names_where_ids_stand(root: Path) -> None:
    with pytest.raises(ValueError, match=r"no item '7' in .*TaxSCQ\.parquet"):
        CliRunner().invoke(app, ["explain", "wordy", "TaxSCQ", "7"], catch_exceptions=False)
    with pytest.raises(ValueError, match="did you mean 'TaxSCQ'"):
        CliRunner().invoke(app, ["explain", "wordy", "TaxSQC", "7"], catch_exceptions=False)


def test_standings_show_both_protocols_side_by_side_and_what_format_cost(root: Path) -> None:
    text = call("standings", "--datasets")
    rows = [line.split() for line in text.splitlines() if line.startswith("TaxSCQ")]
    by_model = {row[1]: row for row in rows[:3]}
    assert by_model["knows"][2:5] == ["1.000", "1.000", "+0.000"]
    assert by_model["wordy"][2:5] == ["0.000", "1.000", "+1.000"]
    assert by_model["silent"][-4:] == ["50%", "50%", "0%", "0%"]
    assert "cost" in text.splitlines()[1]


def test_compare_prints_the_difference_of_two_models(root: Path) -> None:
    text = call("compare", "knows", "silent", "--setting", "zero-shot")
    line = next(line for line in text.splitlines() if line.startswith("TaxCalc"))
    assert line.split()[:5] == ["TaxCalc", "3", "1.000", "0.000", "+1.000"]
    assert "one-shot" not in text
    assert '"p_corrected"' in call("compare", "knows", "silent", "--json")


def test_rescore_reads_scores_and_ranks_stored_answers_again_and_asks_no_model(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def stages(_: Path, targets: list[str], alone: bool = False, force: bool = False) -> None:
        """DVC's part, without DVC: the named stages, and only they, in their order."""
        assert alone
        assert force
        asked.append(list(targets))
        for target in targets:
            step, _, model = target.partition("@")
            if step in ("read", "score", "rank"):
                assert run(monkeypatch, root, step, *(["--model", model] if model else [])) == 0

    monkeypatch.setattr("flows.pipeline.repro", stages)
    before = {path: path.read_bytes() for path in (root / "data/trial").rglob("*.parquet")}
    # An earlier reader had lost an answer; the stored answer itself is as it was.
    path = root / "data/trial/readings/knows.parquet"
    readings = read_records(path, Reading)
    nothing = {"status": "unread", "value": None, "strict_value": None, "method": ""}
    write_records(path, Reading, [row.model_copy(update=nothing) for row in readings])
    assert run(monkeypatch, root, "score", "--model", "knows") == 0
    assert run(monkeypatch, root, "rank") == 0
    assert _overall(root, "knows") == 0.0
    call("rescore", "knows")
    assert asked == [["read@knows", "score@knows", "rank", "check_rank", "publish"]]
    assert _overall(root, "knows") == pytest.approx(1.0)
    assert {path: path.read_bytes() for path in before} == before


def test_rescore_names_a_model_that_is_not_there_or_has_no_answers(root: Path) -> None:
    with pytest.raises(ValueError, match="'nobody' is not on the roster"):
        CliRunner().invoke(app, ["rescore", "nobody"], catch_exceptions=False)
    (root / "data/trial/answers/silent.parquet").unlink()
    result = CliRunner().invoke(app, ["rescore", "silent"])
    assert result.exit_code == 1
    assert "silent: no answers stored" in result.output


def _overall(root: Path, model: str) -> float | None:
    rows = read_records(root / "data/trial/standings.parquet", Standing)
    return next(
        row.mean
        for row in rows
        if (row.model, row.name, row.setting, row.protocol) == (model, "overall", "zero-shot", "aligned")
    )
