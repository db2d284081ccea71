"""`taxpraben explain`, `standings` and `status` show what lies in the workspace."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from taxpraben.records.answer import Answer
from taxpraben.records.base import write_records
from taxpraben.records.item import Item
from taxpraben.records.reading import Reading
from taxpraben.records.score import Score
from taxpraben.records.standing import Standing
from taxpraben.workspace import open_workspace

ITEM = {
    "item_id": "TaxCalc-000000000001",
    "task": "TaxCalc",
    "task_version": 1,
    "release": "0.1.0",
    "query": "请给出答案。",
    "prompt": 0,
    "text": "[甲]公司应纳增值税（　）万元。",
    "answer": "13",
    "choices": [],
    "gold": [],
    "fields": [],
    "unit": "万元",
    "example_id": "",
    "draft_id": "TaxCalc-000000000001",
    "document_id": "doc-1",
    "origin": "guide.pdf",
    "effective": "",
    "repealed": "",
}
PLACE = {"item_id": ITEM["item_id"], "task": "TaxCalc", "model": "copy", "setting": "zero-shot", "run": 0}


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "params.yaml").write_text("profile: trial\nprofiles: {trial: {}}\n", encoding="utf-8")
    (tmp_path / "models.yaml").write_text(
        "roster: [copy]\n"
        "models: {copy: {title: Copy, backend: baseline, access: none, group: baseline, baseline: copy}}\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    at = open_workspace()
    write_records(at.release / "TaxCalc.parquet", Item, [Item(**ITEM)])
    prompt = '[{"role": "user", "content": "请给出答案。"}]'
    answer = Answer(**PLACE, request="r", prompt=prompt, status="ok", text="[red]答案[/red]是13万元")
    write_records(at.answers("copy"), Answer, [answer])
    reading = Reading(
        **PLACE, request="r", status="read", value="13", strict_value=None, method="rules", evidence="13万元"
    )
    write_records(at.readings("copy"), Reading, [reading])
    score = Score(
        **PLACE, protocol="aligned", metric="exact_match", value=1.0, signature="exact_match|v1", status="read"
    )
    write_records(at.scores("copy"), Score, [score])
    standing = Standing(
        model="copy",
        setting="zero-shot",
        protocol="aligned",
        scope="group",
        name="overall",
        metric="S",
        mean=None,
        missing=["TaxSum"],
    )
    write_records(at.standings, Standing, [standing])
    return tmp_path


def test_explain_goes_from_the_item_to_its_score(workspace: Path) -> None:
    shown = CliRunner().invoke(app, ["explain", "copy", "TaxCalc-000000000001"])
    assert shown.exit_code == 0
    for part in (
        "guide.pdf",
        "[甲]公司应纳增值税",
        "[red]答案[/red]是13万元",
        "read by rules",
        "'13万元'",
        "exact_match|v1",
    ):
        assert part in shown.output


def test_explain_names_what_is_not_there(workspace: Path) -> None:
    with pytest.raises(ValueError, match="no item 'TaxCalc-9'"):
        CliRunner().invoke(app, ["explain", "copy", "TaxCalc-9"], catch_exceptions=False)
    with pytest.raises(ValueError, match="in run 4"):
        CliRunner().invoke(app, ["explain", "copy", "TaxCalc-000000000001", "--run", "4"], catch_exceptions=False)


def test_standings_leave_an_incomplete_group_blank(workspace: Path) -> None:
    shown = CliRunner().invoke(app, ["standings"]).output
    assert "copy" in shown
    assert "0.000" not in shown


def test_status_counts_answers_by_status(workspace: Path) -> None:
    assert "copy: 1 ok" in CliRunner().invoke(app, ["status"]).output
