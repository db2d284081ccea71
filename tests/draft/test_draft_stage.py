from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from stages.console import run_stage
from stages.draft.__main__ import main
from taxpraben.records.base import read_records, write_records
from taxpraben.records.document import Document
from taxpraben.records.draft import Draft
from taxpraben.tasks.catalog import load_catalog
from tests.backends.faulty_server import FaultyServer
from tests.draft.samples import make_document, make_question

Runner = Callable[..., str]


def workspace(folder: Path, documents: list[Document], url: str = "http://127.0.0.1:9/v1", asking: int = 0) -> Path:
    draft = {"drafter": "service", "shipped": "shipped.jsonl", "attempts": 1}
    params = {"profile": "t", "asking": asking, "sources": "s", "defaults": {}, "profiles": {"t": {"draft": draft}}}
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    entry = {"title": "S", "backend": "openai", "access": "api", "group": "chinese", "base_url": url}
    (folder / "models.yaml").write_text(yaml.safe_dump({"models": {"service": entry}}), encoding="utf-8")
    write_records(folder / "data" / "t" / "documents.parquet", Document, documents)
    return folder


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Runner:
    def runner(folder: Path, expect: int = 0) -> str:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["stages.draft"])
        with pytest.raises(SystemExit) as ended:
            run_stage(main)
        said = capsys.readouterr().err
        assert ended.value.code == expect, said
        return said

    return runner


def drafts(folder: Path, task: str) -> list[Draft]:
    return read_records(folder / "data" / "t" / "drafts" / f"{task}.parquet", Draft)


def test_every_task_of_the_catalogue_gets_a_file_and_a_line(tmp_path: Path, run: Runner) -> None:
    book = make_document("exam_book", [make_question("calculation", "计算1", stem="为xx元。", answer="5", unit="元")])
    said = run(workspace(tmp_path, [book]))  # nothing listens at the drafter's address: nothing is asked
    for name in load_catalog():
        assert len(drafts(tmp_path, name)) == (1 if name == "TaxCalc" else 0)
        assert f"{name}: {'1 drafted (parsed)' if name == 'TaxCalc' else 'nothing to draft from'}" in said
    assert "0 replies asked now, 0 from the journal, 0 shipped with the sources" in said


def test_a_shipped_journal_answers_in_asking_zero_and_only_there(tmp_path: Path, run: Runner) -> None:
    server = FaultyServer()
    try:
        news = make_document("news", summary="三项措施。", category="税收优惠")
        folder = workspace(tmp_path, [news], server.url)
        run(folder)
        asked = len(server.bodies)
        assert asked == 2  # TaxRead's question and its one repair: the server never says JSON
        (folder / "data/t/journals/0/draft.jsonl").replace(folder / "shipped.jsonl")
        before = (folder / "data/t/drafts/TaxRead.parquet").read_bytes()
        said = run(folder)
        assert "0 replies asked now, 0 from the journal, 2 shipped with the sources (shipped.jsonl)" in said
        assert (folder / "data/t/drafts/TaxRead.parquet").read_bytes() == before
        assert len(server.bodies) == asked
        said = run(workspace(folder, [news], server.url, asking=1))
        assert "2 replies asked now" in said
        assert len(server.bodies) == 2 * asked
    finally:
        server.close()


def test_limits_hold_for_each_task_and_what_is_beyond_is_counted(tmp_path: Path, run: Runner) -> None:
    questions = [make_question("single", f"单选{n}", stem="问", options=["甲", "乙"], answer="A") for n in range(9)]
    folder = workspace(tmp_path, [make_document("exam_book", questions)])
    params = yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8"))
    params["profiles"]["t"]["draft"]["limits"] = {"TaxSCQ": 4}
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    said = run(folder)
    assert "TaxSCQ: 4 drafted (parsed), 5 beyond the limit" in said
    params["profiles"]["t"]["draft"]["limits"] = {"TaxSQC": 4}
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    assert "did you mean 'TaxSCQ'?" in run(folder, expect=1)


def test_a_drafter_that_cannot_be_reached_fails_drafts_by_name_and_then_stops(tmp_path: Path, run: Runner) -> None:
    one = make_document("news", summary="三项措施。", category="税收优惠")
    run(workspace(tmp_path, [one]))
    (draft,) = drafts(tmp_path, "TaxRead")
    assert draft.status == "failed"
    assert "make: error: service: no connection to http://127.0.0.1:9/v1" in draft.error
    many = [make_document("news", document_id=f"doc-{n:012}", text=f"第{n}条新闻。") for n in range(20)]
    said = run(workspace(tmp_path, many), expect=1)
    assert "10 requests in a row failed, so the run stopped" in said
    assert "Traceback" not in said
