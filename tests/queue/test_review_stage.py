"""The stage: drafts into the queue, decisions out, and when the pipeline may go on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from queue_samples import DOCUMENT, content, draft

from stages.console import run_stage
from stages.review.__main__ import main
from stages.review.params import ReviewParams
from taxpraben.queue.batches import batch_status
from taxpraben.queue.policy import change_policy, current_policy, read_policy
from taxpraben.queue.rounds import next_round
from taxpraben.queue.store import Queue, open_queue
from taxpraben.records.base import read_records, revise, write_jsonl, write_records
from taxpraben.records.decision import Decision
from taxpraben.records.document import Document
from taxpraben.records.draft import Draft
from taxpraben.workspace import open_workspace


def decision(number: int) -> Decision:
    return Decision(
        draft_id=draft(number).draft_id,
        task="TaxQA",
        draft_digest=content().digest,
        verdict="accepted",
        content=content(),
        annotator="a01",
        decided_at="2026-03-01T08:00:00Z",
    )


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    drafts = [draft(0), draft(1), draft(2, status="filtered"), draft(3, status="failed")]
    write_records(tmp_path / "data/trial/drafts/TaxQA.parquet", Draft, drafts)
    write_records(tmp_path / "data/trial/documents.parquet", Document, [DOCUMENT])
    set_params(tmp_path)
    return tmp_path


def set_params(root: Path, **review: object) -> None:
    params = {"profile": "trial", "profiles": {"trial": {"review": review}}}
    (root / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")


def run() -> int:
    with pytest.raises(SystemExit) as ended:
        run_stage(main)
    return int(ended.value.code or 0)


def test_drafts_that_await_people_end_the_stage_with_status_3_and_what_to_do(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run() == 3
    said = capsys.readouterr().err
    assert "3 drafts await people (TaxQA 3)" in said
    assert "taxpraben portal" in said
    assert "http://127.0.0.1:8350/" in said
    assert "taxpraben review import" in said
    assert read_records(workspace / "data/trial/decisions.parquet", Decision) == []


def test_with_every_decision_in_place_the_stage_ends_well(workspace: Path) -> None:
    rejected = Decision(
        draft_id=draft(3).draft_id,
        task="TaxQA",
        draft_digest="",
        verdict="rejected",
        content=None,
        reason="起草失败",
        annotator="a01",
        decided_at="2026-03-01T08:00:00Z",
    )
    write_jsonl(workspace / "decisions.jsonl", [decision(0), decision(1), rejected])
    set_params(workspace, decisions=["decisions.jsonl"])
    assert run() == 0
    assert len(read_records(workspace / "data/trial/decisions.parquet", Decision)) == 3


@pytest.mark.parametrize(("share", "status"), [("all", 3), (0.6, 0), (0.7, 3), (0.0, 0)])
def test_a_share_of_each_task_may_be_enough(workspace: Path, share: object, status: int) -> None:
    write_jsonl(workspace / "decisions.jsonl", [decision(0), decision(1)])  # two of three that need a person
    set_params(workspace, decisions=["decisions.jsonl"], complete=share)
    assert run() == status


def test_a_file_of_decisions_that_is_not_there_is_an_error_and_not_a_wait(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_params(workspace, decisions=["decisions.jsonl"])
    assert run() == 1
    assert "decisions.jsonl: no such file" in capsys.readouterr().err


def test_the_same_drafts_and_decisions_give_the_same_bytes_in_a_new_queue(workspace: Path) -> None:
    write_jsonl(workspace / "decisions.jsonl", [decision(1)])
    set_params(workspace, decisions=["decisions.jsonl"], accept_unseen=["model"], complete=0.5)
    outputs = [workspace / "data/trial/decisions.parquet", workspace / "data/trial/review/status.json"]
    assert run() == 0
    first = [path.read_bytes() for path in outputs]
    for path in (workspace / "data/trial").glob("queue.sqlite*"):
        path.unlink()
    assert run() == 0
    assert [path.read_bytes() for path in outputs] == first


def test_the_status_counts_every_draft_once(workspace: Path) -> None:
    run()
    status = json.loads((workspace / "data/trial/review/status.json").read_text(encoding="utf-8"))
    task = status["tasks"]["TaxQA"]
    assert sum(task["states"].values()) + task["filtered"] == 4
    assert (task["failed_drafts"], status["waiting"], status["complete"]) == (1, 3, False)


def test_what_is_left_out_of_a_file_of_decisions_is_said(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_jsonl(workspace / "decisions.jsonl", [decision(0), decision(9)])
    set_params(workspace, decisions=["decisions.jsonl"])
    run()
    assert "1 on drafts that are not there (TaxQA-000000000009)" in capsys.readouterr().err


@pytest.mark.parametrize("share", [1.5, -0.1, "most"])
def test_a_share_that_is_none_is_refused(share: object) -> None:
    with pytest.raises(ValueError, match="complete"):
        ReviewParams.model_validate({"complete": share})


def test_one_unusable_question_does_not_hold_up_a_set_that_is_taken_by_rule(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drafts = [revise(draft(0), method="parsed"), revise(draft(3, status="failed"), method="parsed")]
    write_records(workspace / "data/trial/drafts/TaxQA.parquet", Draft, drafts)
    set_params(workspace, accept_unseen=["parsed"], complete="all")
    assert run() == 0
    said = capsys.readouterr().err
    assert "(parsed): 1 accepted; 1 rejected because the parser failed on them (TaxQA-000000000003)" in said
    rows = read_records(workspace / "data/trial/decisions.parquet", Decision)
    assert [(row.verdict, row.annotator) for row in rows] == [("accepted", "rule:parsed"), ("rejected", "rule:parsed")]


def test_the_stage_uses_the_database_that_the_environment_names_and_does_not_say_where(
    workspace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TAXPRABEN_QUEUE_URL", f"sqlite:///{tmp_path / 'elsewhere' / 'q.sqlite'}")
    assert run() == 3
    assert (tmp_path / "elsewhere/q.sqlite").exists()
    assert not list((workspace / "data/trial").glob("queue.sqlite*"))
    assert "elsewhere" not in capsys.readouterr().err


def test_the_round_that_a_checker_opened_outlasts_the_next_run_of_the_stage(workspace: Path) -> None:
    run()
    queue = open_queue(open_workspace().queue_url)
    assert next_round(queue, "c01") == 2
    run()
    with queue.read() as session:
        assert read_policy(session).round == 2
    queue.close()


def test_a_rule_changed_in_the_portal_holds_over_the_next_run_which_says_so(
    workspace: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    set_params(workspace, batch_size=2, claim_minutes=60)
    run()
    queue = open_queue(open_workspace().queue_url)
    assert read_batches(queue) == [("TaxQA", 1, 2), ("TaxQA", 2, 1)]  # of four drafts one is filtered out
    change_policy(queue, "admin", claim_minutes=45)
    capsys.readouterr()
    run()
    assert "claim_minutes 45 instead of 60" in capsys.readouterr().err
    assert current_policy(queue).claim_minutes == 45
    queue.close()


def read_batches(queue: Queue) -> list[tuple[str, int, int]]:
    return [(batch.task, batch.batch, batch.needed) for batch in batch_status(queue)]
