"""Spot checks, shares that go back, disputes, completion."""

from __future__ import annotations

import pytest
from queue_samples import content, fill

from taxpraben.queue.claims import claim
from taxpraben.queue.events import COMPLETED, DATASET_COMPLETED, mark_delivered, pending_events
from taxpraben.queue.intake import export_decisions
from taxpraben.queue.pieces import disputed_drafts, open_piece, pieces_to_check
from taxpraben.queue.rounds import close_share, draw, draw_samples, next_round
from taxpraben.queue.rulings import check, settle, submit
from taxpraben.queue.states import FrozenError, QueueError
from taxpraben.queue.store import Queue


def hand_in(queue: Queue, person: str, count: int) -> list[int]:
    works = claim(queue, person, count=count)
    for work in works:
        submit(queue, work, person, "accepted")
    return works


def test_five_of_each_annotator_are_drawn_and_the_recorded_seed_draws_them_again(queue: Queue) -> None:
    fill(queue, 50, spot_checks=5)
    handed = {person: hand_in(queue, person, 20) for person in ("a01", "a02")}
    draws = draw_samples(queue, "c01")
    assert [(one.person, len(one.works)) for one in draws] == [("a01", 5), ("a02", 5)]
    for one in draws:
        assert list(one.works) == draw(20241130, 1, one.person, 1, handed[one.person], 5)
        assert one.seed == f"20241130/1/{one.person}/1"
    assert draw_samples(queue, "c02") == draws


def test_a_share_at_the_pass_mark_is_settled_and_the_failed_work_waits_for_its_mending(queue: Queue) -> None:
    fill(queue, 10, spot_checks=5)
    hand_in(queue, "a01", 10)
    (drawn,) = draw_samples(queue, "c01")
    with pytest.raises(QueueError, match="5 of a01's spot checks wait"):
        close_share(queue, "a01", "c01")
    failed, *passed = drawn.works
    check(queue, failed, "c01", False, "金额抄错")
    for work in passed:
        check(queue, work, "c01", True)
    assert close_share(queue, "a01", "c01")  # 4 of 5 is the mark of 0.8
    assert len(export_decisions(queue)) == 9
    assert (open_piece(queue, failed).state, open_piece(queue, failed).note) == ("returned", "金额抄错")
    assert open_piece(queue, failed).person == "a01"
    submit(queue, failed, "a01", "fixed", content("改正后的金额。"))
    assert [piece.work_id for piece in pieces_to_check(queue, "c01")] == [failed]
    assert check(queue, failed, "c01", True) == "accepted"
    assert export_decisions(queue)[0].checker in ("c01", "")
    assert len(export_decisions(queue)) == 10


def test_a_share_below_the_pass_mark_goes_back_whole_and_is_drawn_anew(queue: Queue) -> None:
    fill(queue, 10, spot_checks=5)
    works = hand_in(queue, "a01", 10)
    (drawn,) = draw_samples(queue, "c01")
    for number, work in enumerate(drawn.works):
        check(queue, work, "c01", number > 1, "漏了依据")
    assert not close_share(queue, "a01", "c01")
    assert {open_piece(queue, work).state for work in works} == {"returned"}
    assert export_decisions(queue) == []
    for work in works:
        submit(queue, work, "a01", "accepted")
    (again,) = draw_samples(queue, "c01")
    assert (again.attempt, len(again.waiting)) == (2, 5)


def test_what_is_submitted_after_a_share_passed_belongs_to_the_next_round(queue: Queue) -> None:
    fill(queue, 4, spot_checks=1)
    hand_in(queue, "a01", 2)
    (drawn,) = draw_samples(queue, "c01")
    check(queue, drawn.works[0], "c01", True)
    close_share(queue, "a01", "c01")
    later = hand_in(queue, "a01", 2)
    assert [open_piece(queue, work).round for work in later] == [2, 2]
    assert [(one.round, one.person) for one in draw_samples(queue, "c01")] == [(2, "a01")]


def test_nobody_checks_their_own_work(queue: Queue) -> None:
    fill(queue, 1, spot_checks=5)
    (work,) = hand_in(queue, "c01", 1)
    draw_samples(queue, "c01")
    assert pieces_to_check(queue, "c01") == []
    with pytest.raises(QueueError, match="own work"):
        check(queue, work, "c01", True)


def test_an_accepted_draft_is_frozen(queue: Queue) -> None:
    fill(queue, 1)
    (work,) = hand_in(queue, "a01", 1)
    assert submit(queue, work, "a01", "rejected", reason="改主意").kind == "late"
    with pytest.raises(FrozenError):
        check(queue, work, "c01", False, "再看看")
    assert [row.verdict for row in export_decisions(queue)] == ["accepted"]


def test_two_who_agree_settle_a_draft_and_two_who_differ_wait_for_an_expert(queue: Queue) -> None:
    fill(queue, 2, overlap=2)
    first, second = claim(queue, "a01", count=2), claim(queue, "a02", count=2)
    submit(queue, first[0], "a01", "accepted")
    assert export_decisions(queue) == []
    submit(queue, second[0], "a02", "fixed", content())  # a fix that changes nothing is an acceptance
    submit(queue, first[1], "a01", "accepted")
    submit(queue, second[1], "a02", "rejected", reason="依据已废止")
    assert len(export_decisions(queue)) == 1
    (dispute,) = disputed_drafts(queue)
    assert [piece.verdict for piece in dispute] == ["accepted", "rejected"]
    settle(queue, dispute[0].draft_id, "e01", "rejected", reason="依据已废止")
    assert [(row.verdict, row.annotator) for row in export_decisions(queue)] == [
        ("accepted", "a01"),
        ("rejected", "e01"),
    ]


def test_completion_is_announced_once_for_the_same_drafts(queue: Queue) -> None:
    fill(queue, 2)
    hand_in(queue, "a01", 1)
    assert pending_events(queue) == []
    hand_in(queue, "a01", 1)
    events = pending_events(queue)
    assert sorted(event.name for event in events) == [COMPLETED, DATASET_COMPLETED]
    assert pending_events(queue) == events
    for event in events:
        mark_delivered(queue, event.event_id)
    assert pending_events(queue) == []


def test_drafts_that_come_later_are_announced_when_they_are_settled_too(queue: Queue) -> None:
    fill(queue, 1)
    hand_in(queue, "a01", 1)
    first = {event.event_id for event in pending_events(queue)}
    fill(queue, 2)
    assert {event.event_id for event in pending_events(queue)} == first
    hand_in(queue, "a01", 1)
    assert len({event.event_id for event in pending_events(queue)} - first) == 2


def test_the_next_round_holds_what_is_submitted_from_then_on_and_leaves_the_last_one_open(queue: Queue) -> None:
    fill(queue, 4, spot_checks=1)
    hand_in(queue, "a01", 2)
    assert next_round(queue, "c01") == 2
    later = hand_in(queue, "a01", 2)
    assert [open_piece(queue, work).round for work in later] == [2, 2]
    assert [one.round for one in draw_samples(queue, "c01")] == [1, 2]


def test_an_expert_cannot_settle_what_is_not_disputed_and_so_pass_over_the_spot_check(queue: Queue) -> None:
    fill(queue, 2, spot_checks=5)
    (own,) = hand_in(queue, "e01", 1)
    for draft_id in (open_piece(queue, own).draft_id, "TaxQA-000000000001"):  # submitted; open
        with pytest.raises(QueueError, match="not disputed"):
            settle(queue, draft_id, "e01", "accepted")
    assert export_decisions(queue) == []
    assert open_piece(queue, own).state == "submitted"


def test_a_draft_that_one_of_two_has_yet_to_judge_is_not_disputed(queue: Queue) -> None:
    fill(queue, 1, overlap=2)
    hand_in(queue, "a01", 1)
    claim(queue, "a02")
    with pytest.raises(QueueError, match="not disputed"):
        settle(queue, "TaxQA-000000000000", "e01", "accepted")


def test_an_expert_who_judged_too_may_yield_and_not_prevail(queue: Queue) -> None:
    fill(queue, 1, overlap=2)
    hand_in(queue, "e01", 1)
    (other,) = claim(queue, "a01")
    submit(queue, other, "a01", "rejected", reason="依据已废止")
    draft_id = open_piece(queue, other).draft_id
    for verdict, fixed in (("accepted", None), ("fixed", content("第三种说法。"))):
        with pytest.raises(QueueError, match="own judgement"):
            settle(queue, draft_id, "e01", verdict, fixed)
    settle(queue, draft_id, "e01", "rejected", reason="依据已废止")
    assert [(row.verdict, row.annotator) for row in export_decisions(queue)] == [("rejected", "e01")]
