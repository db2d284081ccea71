"""Drafts and decisions in, decisions out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from queue_samples import DOCUMENT, Clock, content, draft, fill

from taxpraben.queue.audit import history
from taxpraben.queue.claims import claim
from taxpraben.queue.files import SheetRow, import_file, write_decisions, write_sheet
from taxpraben.queue.intake import Unseen, accept_unseen, bring_in, export_decisions, import_decisions, set_policy
from taxpraben.queue.policy import Policy
from taxpraben.queue.rulings import submit
from taxpraben.queue.states import QueueError
from taxpraben.queue.status import task_status
from taxpraben.queue.store import Queue, open_queue
from taxpraben.queue.texts import texts
from taxpraben.records.base import read_jsonl, revise, write_jsonl
from taxpraben.records.decision import Decision
from taxpraben.records.draft import Draft


def decision(number: int, verdict: str = "accepted", answer: str = "应当补缴税款。", hour: int = 8) -> Decision:
    return Decision(
        draft_id=draft(number).draft_id,
        task="TaxQA",
        draft_digest=content().digest,
        verdict=verdict,
        content=None if verdict == "rejected" else content(answer),
        reason="与原文不符" if verdict == "rejected" else "",
        annotator="a01",
        decided_at=f"2026-03-01T{hour:02d}:00:00Z",
    )


def test_bringing_the_same_drafts_in_twice_changes_nothing(queue: Queue) -> None:
    drafts = fill(queue, 3)
    again = bring_in(queue, drafts, [DOCUMENT])
    assert len(again.kept) == 3
    assert (again.new, again.reopened, again.withdrawn) == ([], [], [])


@pytest.mark.parametrize("verdict", ["accepted", "rejected"])
def test_a_ruling_on_a_content_that_changed_is_open_again(queue: Queue, verdict: str) -> None:
    fill(queue, 1)
    import_decisions(queue, [decision(0, verdict)])
    report = bring_in(queue, [draft(0, "另一个答案。")], [DOCUMENT])
    assert report.reopened == [draft(0).draft_id]
    assert export_decisions(queue) == []
    assert claim(queue, "a02") != []


def test_a_fix_holds_whatever_the_drafter_says_later(queue: Queue) -> None:
    fill(queue, 1)
    fix = decision(0, "fixed", "应当补缴税款并缴纳滞纳金。")
    import_decisions(queue, [fix])
    report = bring_in(queue, [draft(0, "另一个答案。")], [DOCUMENT])
    assert report.held == [draft(0).draft_id]
    assert export_decisions(queue) == [fix]


def test_a_changed_draft_takes_nothing_that_was_typed_away(queue: Queue) -> None:
    fill(queue, 1)
    (work,) = claim(queue, "a01")
    submit(queue, work, "a01", "fixed", content("旧稿的修改。"), version=1)  # stale: kept as a text
    bring_in(queue, [draft(0, "另一个答案。")], [DOCUMENT])
    assert texts(queue, work)[0].form["content"]["answer"] == "旧稿的修改。"


def test_a_draft_that_is_gone_is_withdrawn_and_comes_back_with_its_decision(queue: Queue) -> None:
    drafts = fill(queue, 2)
    import_decisions(queue, [decision(0), decision(1)])
    bring_in(queue, drafts[:1], [DOCUMENT])
    assert [row.draft_id for row in export_decisions(queue)] == [drafts[0].draft_id]
    bring_in(queue, drafts, [DOCUMENT])
    assert len(export_decisions(queue)) == 2


def test_filtered_drafts_need_no_person_and_failed_ones_do(queue: Queue) -> None:
    set_policy(queue, Policy(spot_checks=0))
    bring_in(queue, [draft(0), draft(1, status="filtered"), draft(2, status="failed")], [DOCUMENT])
    (status,) = task_status(queue)
    assert (status.needed, status.filtered, status.failed) == (2, 1, 1)
    first, failed = claim(queue, "a01", count=5)
    with pytest.raises(QueueError, match="nothing to accept"):
        submit(queue, failed, "a01", "accepted")
    assert submit(queue, failed, "a01", "fixed", content("补上的答案。")).state == "accepted"
    submit(queue, first, "a01", "accepted")
    assert [(row.verdict, row.draft_digest) for row in export_decisions(queue)] == [
        ("accepted", content().digest),
        ("fixed", ""),
    ]


def test_what_is_not_imported_is_named_with_its_cause(queue: Queue) -> None:
    fill(queue, 3)
    import_decisions(queue, [decision(0, hour=12), decision(1, hour=12)])
    report = import_decisions(
        queue,
        [
            decision(0, "rejected", hour=9),
            decision(1, "rejected", hour=12),
            revise(decision(2), draft_digest=content("旧").digest, content=content("旧")),
            decision(7),
        ],
    )
    ids = [draft(number).draft_id for number in (0, 1, 2, 7)]
    assert [report.older, report.conflicts, report.stale, report.unknown] == [[each] for each in ids]
    assert [row.verdict for row in export_decisions(queue)] == ["accepted", "accepted"]


def test_a_later_decision_takes_the_place_of_an_earlier_one(queue: Queue) -> None:
    fill(queue, 1)
    import_decisions(queue, [decision(0, hour=8)])
    import_decisions(queue, [decision(0, "rejected", hour=9)])
    assert [row.verdict for row in export_decisions(queue)] == ["rejected"]


def test_an_acceptance_of_another_content_than_it_names_is_refused(queue: Queue) -> None:
    fill(queue, 1)
    with pytest.raises(QueueError, match="'fixed'"):
        import_decisions(queue, [revise(decision(0), content=content("改了"))])


@pytest.mark.parametrize("suffix", ["jsonl", "parquet"])
def test_export_import_export_gives_the_same_bytes(queue: Queue, tmp_path: Path, clock: Clock, suffix: str) -> None:
    drafts = fill(queue, 4)
    rulings: list[Callable[[int], object]] = [
        lambda work: submit(queue, work, "a02", "accepted"),
        lambda work: submit(queue, work, "a02", "fixed", content("含有“引号”、换行\n与𠮷字。")),
        lambda work: submit(queue, work, "a02", "rejected", reason="与原文不符"),
    ]
    for work, rule in reversed(list(zip(claim(queue, "a02", count=3), rulings, strict=True))):
        clock.move(1)
        rule(work)
    first, second = tmp_path / f"first.{suffix}", tmp_path / f"second.{suffix}"
    assert write_decisions(queue, first) == 3
    other = open_queue(f"sqlite:///{tmp_path / 'other.sqlite'}", clock)
    bring_in(other, drafts, [DOCUMENT])
    clock.move(60)
    import_file(other, first, "somebody")
    write_decisions(other, second)
    other.close()
    assert first.read_bytes() == second.read_bytes()


def test_a_sheet_filled_in_offline_comes_back_as_decisions(queue: Queue, tmp_path: Path) -> None:
    fill(queue, 3)
    path = tmp_path / "sheet.jsonl"
    assert write_sheet(queue, path) == 3
    rows = read_jsonl(path, SheetRow)
    assert "应当补缴税款" in rows[0].source
    write_jsonl(
        path, [revise(rows[0], verdict="accepted"), revise(rows[1], verdict="rejected", reason="重复"), rows[2]]
    )
    report, empty = import_file(queue, path, "a09")
    assert (len(report.imported), empty) == (2, 1)
    assert [(row.annotator, row.verdict) for row in export_decisions(queue)] == [
        ("a09", "accepted"),
        ("a09", "rejected"),
    ]


def test_what_a_rule_accepted_gives_way_to_any_person(queue: Queue) -> None:
    fill(queue, 2)
    assert len(accept_unseen(queue, ["model"]).accepted) == 2
    assert accept_unseen(queue, ["model"]) == Unseen()
    import_decisions(queue, [decision(1, "rejected")])
    assert [(row.annotator, row.verdict) for row in export_decisions(queue)] == [
        ("rule:model", "accepted"),
        ("a01", "rejected"),
    ]


def parsed(number: int, error: str = "") -> Draft:
    return revise(draft(number, status="failed" if error else "drafted"), method="parsed", error=error)


def test_a_rule_rejects_parsed_drafts_that_failed_for_the_parsers_reason_and_nothing_waits(queue: Queue) -> None:
    bring_in(queue, [parsed(0), parsed(1, "答案缺失")], [DOCUMENT])
    assert accept_unseen(queue, ["parsed"]) == Unseen(accepted=[draft(0).draft_id], rejected=[draft(1).draft_id])
    assert [(row.verdict, row.annotator, row.reason, row.draft_digest) for row in export_decisions(queue)] == [
        ("accepted", "rule:parsed", "", content().digest),
        ("rejected", "rule:parsed", "答案缺失", ""),
    ]
    assert task_status(queue)[0].waiting == 0
    assert history(queue, draft(1).draft_id)[-1].act == "rejected_by_rule"


def test_a_failed_draft_of_a_model_waits_for_people_under_any_rule(queue: Queue) -> None:
    bring_in(queue, [draft(0, status="failed")], [DOCUMENT])
    assert accept_unseen(queue, ["parsed", "model"]) == Unseen()
    assert task_status(queue)[0].waiting == 1


def test_a_persons_later_ruling_wins_over_a_rejection_by_rule(queue: Queue) -> None:
    bring_in(queue, [parsed(0, "答案缺失")], [DOCUMENT])
    accept_unseen(queue, ["parsed"])
    fix = revise(decision(0, "fixed", "补写的答案。"), draft_digest="")
    assert import_decisions(queue, [fix]).imported == [fix.draft_id]
    bring_in(queue, [parsed(0, "答案缺失")], [DOCUMENT])
    assert accept_unseen(queue, ["parsed"]) == Unseen()
    assert export_decisions(queue) == [fix]


def test_a_rejection_by_rule_follows_the_parser(queue: Queue) -> None:
    for error in ("答案缺失", "选项不足两个"):
        bring_in(queue, [parsed(0, error)], [DOCUMENT])
        assert accept_unseen(queue, ["parsed"]).rejected == [draft(0).draft_id]
        assert [row.reason for row in export_decisions(queue)] == [error]
    bring_in(queue, [parsed(0)], [DOCUMENT])
    assert accept_unseen(queue, ["parsed"]).accepted == [draft(0).draft_id]
    assert [row.verdict for row in export_decisions(queue)] == ["accepted"]
