"""Who has what."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from queue_samples import Clock, content, fill

from taxpraben.queue.audit import history
from taxpraben.queue.claims import claim, claim_work, extend, hand_over, release, reopen_skipped
from taxpraben.queue.people import come_back, create_person, find_session, leave, open_session, verify
from taxpraben.queue.pieces import open_piece
from taxpraben.queue.rulings import check, skip, submit
from taxpraben.queue.states import NotYoursError, QueueError
from taxpraben.queue.status import people_status, task_status
from taxpraben.queue.store import Queue
from taxpraben.queue.texts import latest_text, save


def test_one_of_fifty_who_claim_the_same_draft_at_once_gets_it(queue: Queue) -> None:
    fill(queue, 1)
    together = Barrier(50)

    def ask(number: int) -> list[int]:
        together.wait()
        return claim(queue, f"a{number:02d}")

    with ThreadPoolExecutor(50) as pool:
        answers = list(pool.map(ask, range(50)))
    owners = [f"a{number:02d}" for number, works in enumerate(answers) if works]
    assert len(owners) == 1
    (work,) = [work for works in answers for work in works]
    assert open_piece(queue, work).person == owners[0]


def test_fifty_people_share_out_a_hundred_drafts_without_overlap_or_rest(queue: Queue) -> None:
    fill(queue, 100)
    together = Barrier(50)

    def ask(number: int) -> list[int]:
        together.wait()
        return claim(queue, f"a{number:02d}") + claim(queue, f"a{number:02d}")

    with ThreadPoolExecutor(50) as pool:
        works = [work for taken in pool.map(ask, range(50)) for work in taken]
    assert sorted(works) == sorted(set(works))
    assert len(works) == 100


def test_works_are_handed_out_in_the_order_of_the_drafts(queue: Queue) -> None:
    drafts = fill(queue, 4)
    taken = claim(queue, "a01", count=3)
    assert [open_piece(queue, work).draft_id for work in taken] == [draft.draft_id for draft in drafts[:3]]


def test_nobody_judges_the_same_draft_twice_where_two_judge_each(queue: Queue) -> None:
    fill(queue, 2, overlap=2)
    own = claim(queue, "a01", count=10)
    assert len({open_piece(queue, work).draft_id for work in own}) == len(own) == 2
    assert len(claim(queue, "a02", count=10)) == 2
    assert claim(queue, "a03", count=10) == []


def test_a_claim_past_its_limit_goes_back_to_the_queue(queue: Queue, clock: Clock) -> None:
    fill(queue, 1)
    (work,) = claim(queue, "a01")
    clock.move(31)
    assert claim(queue, "a02") == [work]


def test_a_late_submission_is_kept_as_a_text_and_told_so(queue: Queue, clock: Clock) -> None:
    fill(queue, 1)
    (work,) = claim(queue, "a01")
    clock.move(31)
    outcome = submit(queue, work, "a01", "fixed", content("应当补缴税款和滞纳金。"))
    assert outcome.kind == "late"
    kept = latest_text(queue, work, "a01")
    assert kept is not None
    assert kept["content"]["answer"] == "应当补缴税款和滞纳金。"
    assert task_status(queue)[0].states["open"] == 1


def test_a_submitted_work_stays_submitted_when_the_limit_passes(queue: Queue, clock: Clock) -> None:
    fill(queue, 1, spot_checks=5)
    (work,) = claim(queue, "a01")
    submit(queue, work, "a01", "accepted")
    clock.move(600)
    assert claim(queue, "a02") == []
    assert open_piece(queue, work).state == "submitted"


def test_extending_a_claim_begins_its_limit_anew(queue: Queue, clock: Clock) -> None:
    fill(queue, 1)
    (work,) = claim(queue, "a01")
    clock.move(29)
    extend(queue, work, "a01")
    clock.move(29)
    assert claim(queue, "a02") == []
    clock.move(2)
    with pytest.raises(NotYoursError, match="take it again"):
        extend(queue, work, "a01")


def test_skipping_needs_a_reason_and_does_not_complete_the_draft(queue: Queue) -> None:
    fill(queue, 1)
    (work,) = claim(queue, "a01")
    with pytest.raises(QueueError, match="reason"):
        skip(queue, work, "a01", " ")
    skip(queue, work, "a01", "扫描件看不清")
    (status,) = task_status(queue)
    assert status.states["skipped"] == 1
    assert status.waiting == 1
    assert open_piece(queue, work).note == "扫描件看不清"
    reopen_skipped(queue, work, "admin")
    assert claim(queue, "a02") == [work]


def test_released_work_keeps_what_was_typed_in_its_history(queue: Queue) -> None:
    fill(queue, 1)
    (work,) = claim(queue, "a01")
    save(queue, work, "a01", 0, {"answer": "半句"})
    with pytest.raises(NotYoursError):
        release(queue, work, "a02")
    release(queue, work, "a01")
    assert latest_text(queue, work, "a01") == {"answer": "半句"}
    assert claim_work(queue, work, "a02")
    acts = [act.act for act in history(queue, open_piece(queue, work).draft_id)]
    assert acts == ["brought_in", "claimed", "released", "claimed"]


def test_open_items_of_someone_on_leave_go_to_a_colleague(queue: Queue) -> None:
    fill(queue, 3)
    taken = claim(queue, "a01", count=3)
    submit(queue, taken[0], "a01", "accepted")
    assert hand_over(queue, "a01", "a02", "admin") == 2
    assert [open_piece(queue, work).person for work in taken] == ["a01", "a02", "a02"]


def test_who_leaves_cannot_sign_in_and_what_they_hold_is_free_again(queue: Queue) -> None:
    create_person(queue, "a01", "annotator", "long enough")
    token = open_session(queue, "a01")
    fill(queue, 3, spot_checks=5)
    taken = claim(queue, "a01", count=2)
    submit(queue, taken[0], "a01", "accepted")
    assert leave(queue, "a01") == 1
    assert find_session(queue, token) is None
    assert verify(queue, "a01", "long enough") is None
    assert [open_piece(queue, work).state for work in taken] == ["submitted", "open"]
    check(queue, taken[0], "c01", False, "金额抄错")  # comes back to somebody who is gone
    assert [person.states["returned"] for person in people_status(queue)] == [1]
    assert leave(queue, "a01") == 1
    assert people_status(queue) == []
    assert len(claim(queue, "a02", count=5)) == 3
    come_back(queue, "a01")
    assert verify(queue, "a01", "long enough") is not None


def test_only_somebody_who_may_sign_in_takes_over_from_who_leaves(queue: Queue) -> None:
    for name in ("a01", "a02"):
        create_person(queue, name, "annotator", "long enough")
    fill(queue, 1)
    (work,) = claim(queue, "a01")
    for nobody in ("a01", "a09"):
        with pytest.raises(QueueError, match="take over"):
            leave(queue, "a01", nobody)
    assert leave(queue, "a01", "a02") == 1
    assert open_piece(queue, work).person == "a02"
    with pytest.raises(QueueError, match="take over"):
        leave(queue, "a02", "a01")
