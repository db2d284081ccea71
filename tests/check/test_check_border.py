"""A border of a whole workspace: report, Data Docs, exit status, and what a person is told."""

import json
import re
import sys
from pathlib import Path

import pytest
import yaml
from checked_world import MODEL, World, standing

from stages.check import __main__ as stage
from stages.console import run_stage
from taxpraben.records.answer import Answer
from taxpraben.records.base import read_jsonl, revise, write_jsonl, write_records
from taxpraben.records.check import BORDERS, BorderReport, read_report
from taxpraben.records.decision import Decision
from taxpraben.records.document import Document
from taxpraben.records.draft import Draft
from taxpraben.records.item import Item
from taxpraben.records.reading import Reading
from taxpraben.records.score import Score
from taxpraben.records.standing import Standing
from taxpraben.tasks.catalog import load_catalog
from taxpraben.workspace import Workspace, open_workspace

OUTSIDE = re.compile(r"""(?:href|src|action)\s*=\s*["']?\s*(?:[a-z]+:)?//|url\(|@import""", re.IGNORECASE)


def lay_out(root: Path, world: World) -> Workspace:
    """Write the world's records as the files of a workspace."""
    params = {"profile": "p", "defaults": {}, "profiles": {"p": {"infer": {"runs": 1}}}}
    (root / "params.yaml").write_text(yaml.safe_dump(params))
    model = {"title": "示范", "backend": "baseline", "access": "none", "group": "baseline", "baseline": "random"}
    roster = {"roster": [MODEL], "models": {MODEL: model}, "weights": {}}
    (root / "models.yaml").write_text(yaml.safe_dump(roster, allow_unicode=True))
    workspace = open_workspace(root)
    write_records(workspace.documents, Document, [world.document])
    for name in load_catalog():
        own = [item for item in world.items if item.task == name]
        write_records(workspace.drafts / f"{name}.parquet", Draft, [row for row in world.drafts if row.task == name])
        write_records(workspace.benchmark / "0.1.0" / f"{name}.parquet", Item, own)
        write_jsonl(workspace.benchmark / "0.1.0" / f"{name}.jsonl", sorted(own, key=lambda item: item.key))
    write_records(workspace.decisions, Decision, world.decisions)
    write_records(workspace.answers(MODEL), Answer, world.answers)
    write_records(workspace.readings(MODEL), Reading, world.readings)
    write_records(workspace.scores(MODEL), Score, world.scores)
    write_records(workspace.standings, Standing, world.standings or [standing(MODEL, "dataset", "TaxSCQ", 0.5, 1)])
    return workspace


def check(border: str, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> tuple[int, BorderReport]:
    """Run the stage as its command does; gives the exit status and the report."""
    monkeypatch.chdir(workspace.root)
    monkeypatch.setattr(sys, "argv", ["stages.check", "--border", border])
    with pytest.raises(SystemExit) as ended:
        run_stage(stage.main)
    return int(ended.value.code or 0), read_report(workspace.checks / f"{border}.json")


@pytest.mark.parametrize("border", BORDERS)
def test_a_right_workspace_passes_every_border(
    border: str, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status, report = check(border, lay_out(tmp_path, world), monkeypatch)
    assert (status, report.failures) == (0, 0)
    assert report.expectations > 10


def test_a_question_with_two_equal_options_stops_the_border_and_names_file_row_and_remedy(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = world.items[1].item_id
    world.items[1] = revise(world.items[1], choices=["千分之一", "万分之五", "千分之一", "万分之三"])
    status, report = check("build", lay_out(tmp_path, world), monkeypatch)
    said = capsys.readouterr().err
    assert status == 1
    found = {check.column: check for suite in report.suites for check in suite.broken("failure")}
    assert [line.row for line in found["equal_options"].failing] == [broken]
    [line] = [line for line in said.splitlines() if "no two options have the same text" in line]
    assert line.startswith("data/p/benchmark/0.1.0/TaxSCQ.parquet: not so: ")
    assert f"{broken}: A and C are both '千分之一'" in line
    assert "Remedy: correct the decision in the portal" in line
    assert said.splitlines()[-1].startswith("Error: ")


def test_lengths_outside_table_c3_are_warnings_with_their_share_and_pass(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = " A.是 B.否 C.均可 D.均否"
    short = "印花税由谁缴纳？" + options  # 21 characters; Table C3 gives 35 to 328
    world.items[0] = revise(world.items[0], text=short)
    world.decisions[0] = revise(
        world.decisions[0],
        verdict="fixed",
        content={**world.decisions[0].content.model_dump(), "text": short},
    )
    status, report = check("build", lay_out(tmp_path, world), monkeypatch)
    [suite] = [suite for suite in report.suites if suite.name == "items TaxSCQ"]
    [found] = suite.broken("warning")
    assert (status, found.column, found.observed) == (0, "text_length", "1 of 3 (33.3 %) not as expected")
    assert [(line.row, line.value) for line in found.failing] == [(world.items[0].item_id, str(len(short)))]


def test_reports_hold_no_time_and_no_absolute_path_and_are_equal_to_the_byte(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    contents = []
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        workspace = lay_out(tmp_path / name, world)
        check("build", workspace, monkeypatch)
        contents.append((workspace.checks / "build.json").read_bytes())
    assert contents[0] == contents[1]
    assert str(tmp_path).encode() not in contents[0]
    assert json.loads(contents[0])["counts"]["failures"] == 0


def test_data_docs_refer_to_nothing_outside_and_escape_what_rows_say(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = "<img src=x onerror=alert(1)>"
    world.items[1] = revise(world.items[1], choices=[evil, "乙", evil, "丁"])
    workspace = lay_out(tmp_path, world)
    for border in BORDERS:
        check(border, workspace, monkeypatch)
    pages = sorted((workspace.out / "data_docs").glob("*.html"))
    assert [page.name for page in pages] == ["build.html", "draft.html", "index.html", "ingest.html", "rank.html"]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert OUTSIDE.findall(text) == []
        assert "http" not in text.replace("http-equiv", "")
        assert evil not in text
    assert "&lt;img src=x" in (workspace.out / "data_docs" / "build.html").read_text(encoding="utf-8")
    raw = json.loads((workspace.out / "data_docs" / "results" / "build" / "items-TaxSCQ.json").read_text())
    assert raw["statistics"]["unsuccessful_expectations"] > 0


def test_json_lines_that_differ_from_the_release_are_told_by_name(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    workspace = lay_out(tmp_path, world)
    lines = workspace.benchmark / "0.1.0" / "TaxSCQ.jsonl"
    write_jsonl(lines, read_jsonl(lines, Item)[1:])
    monkeypatch.chdir(workspace.root)
    monkeypatch.setattr(sys, "argv", ["stages.check", "--border", "build"])
    with pytest.raises(SystemExit) as ended:
        run_stage(stage.main)
    assert ended.value.code == 1
    assert "TaxSCQ.jsonl: other items than in TaxSCQ.parquet" in capsys.readouterr().err


def test_json_lines_with_a_byte_order_mark_load_as_the_same_items(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = lay_out(tmp_path, world)
    lines = workspace.benchmark / "0.1.0" / "TaxSCQ.jsonl"
    lines.write_bytes(b"\xef\xbb\xbf" + lines.read_bytes())
    status, report = check("build", workspace, monkeypatch)
    assert (status, report.failures) == (0, 0)


def test_a_lost_answer_stops_the_border_of_rank(world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = world.answers[0]
    world.answers = world.answers[1:]
    status, report = check("rank", lay_out(tmp_path, world), monkeypatch)
    assert status == 1
    broken = {(suite.suite, found.column): found for suite in report.suites for found in suite.broken("failure")}
    assert set(broken) == {("plan", "missing"), ("readings", "answer_problem")}
    assert lost.item_id in broken["plan", "missing"].failing[0].value
