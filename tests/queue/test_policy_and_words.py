"""Rules that people change, comments, who agrees with whom."""

from __future__ import annotations

import pytest
from queue_samples import Clock, content, fill

from taxpraben.queue.audit import annotator_history, audit_page
from taxpraben.queue.claims import assign, claim, next_piece, release_all
from taxpraben.queue.comments import add_comment, comments, draft_comments
from taxpraben.queue.intake import bring_in, set_policy
from taxpraben.queue.judged import verdict_agreement
from taxpraben.queue.people import create_person
from taxpraben.queue.pieces import open_piece
from taxpraben.queue.policy import Policy, change_policy, current_policy, held_keys, release_held
from taxpraben.queue.rounds import close_share, draw_samples
from taxpraben.queue.rulings import check, settle, submit
from taxpraben.queue.states import NotFoundError, QueueError
from taxpraben.queue.status import put_back_ended, round_status
from taxpraben.queue.store import Queue
from taxpraben.queue.texts import save


def test_a_rule_changed_by_people_is_held_and_logged(queue: Queue) -> None:
    set_policy(queue, Policy())
    assert change_policy(queue, "admin", claim_minutes=45, spot_checks=3).claim_minutes == 45
    assert held_keys(queue) == {"claim_minutes": 45.0, "spot_checks": 3}
    assert current_policy(queue).spot_checks == 3
    assert audit_page(queue).acts[0].act == "policy"
    release_held(queue, "admin")
    assert held_keys(queue) == {}


@pytest.mark.parametrize(
    "change", [{"claim_minutes": 0}, {"overlap": 1.5}, {"pass_mark": 1.1}, {"seed": 1}, {"spot_checks": -1}]
)
def test_a_rule_out_of_range_is_refused_and_nothing_changes(queue: Queue, change: dict[str, float]) -> None:
    set_policy(queue, Policy())
    with pytest.raises(QueueError):
        change_policy(queue, "admin", **change)
    assert current_policy(queue) == Policy()


def test_a_save_begins_the_time_limit_anew(queue: Queue, clock: Clock) -> None:
    fill(queue, 1)
    (work,) = claim(queue, "a01")
    clock.move(29)
    saved = save(queue, work, "a01", 0, {"answer": "半句"})
    assert saved.until == open_piece(queue, work).claimed_until
    clock.move(29)
    assert put_back_ended(queue) == 0
    clock.move(2)
    assert put_back_ended(queue) == 1


def test_the_next_piece_is_the_next_in_hand_and_else_a_fresh_one(queue: Queue) -> None:
    fill(queue, 3)
    first, second = claim(queue, "a01", count=2)
    assert next_piece(queue, "a01", after=first) == second
    assert next_piece(queue, "a01", after=second) == first
    submit(queue, first, "a01", "accepted")
    submit(queue, second, "a01", "accepted")
    third = next_piece(queue, "a01", after=second)
    assert third not in (None, first, second)
    submit(queue, third or 0, "a01", "accepted")
    assert next_piece(queue, "a01") is None


def test_work_is_assigned_only_to_who_may_sign_in(queue: Queue) -> None:
    fill(queue, 2)
    with pytest.raises(NotFoundError):
        assign(queue, "a01", 1)
    create_person(queue, "a01", "annotator", "long enough")
    (work,) = assign(queue, "a01", 1, actor="c01")
    assert [(act.act, act.actor) for act in annotator_history(queue, work, "a01")] == [("assigned", "c01")]
    assert release_all(queue, "a01", "c01") == 1


def test_an_annotator_sees_the_comments_on_the_own_work_and_a_checker_all(queue: Queue) -> None:
    fill(queue, 1, overlap=2)
    (mine,), (other,) = claim(queue, "a01"), claim(queue, "a02")
    add_comment(queue, mine, "a01", "金额的单位是什么？")
    add_comment(queue, mine, "c01", "万元。")
    add_comment(queue, other, "a02", "<script>alert(1)</script>")
    assert [comment.person for comment in comments(queue, mine)] == ["a01", "c01"]
    assert len(draft_comments(queue, open_piece(queue, mine).draft_id)) == 3
    for empty in (" ", "长" * 2001):
        with pytest.raises(QueueError, match="1 to 2000"):
            add_comment(queue, mine, "a01", empty)


def test_agreement_is_shown_by_dataset_by_round_and_by_pair(queue: Queue) -> None:
    fill(queue, 4, overlap=3)
    verdicts = {"a01": "AAAA", "a02": "AAAR", "a03": "ARAR"}
    for person, row in verdicts.items():
        for work, verdict in zip(claim(queue, person, count=4), row, strict=True):
            submit(queue, work, person, "accepted" if verdict == "A" else "rejected", reason="x")
    rows = {(row.round, row.pair): row.figures for row in verdict_agreement(queue)}
    assert set(rows) == {(None, ()), (1, ()), (None, ("a01", "a02")), (None, ("a01", "a03")), (None, ("a02", "a03"))}
    # By hand, drafts AAA, AAR, AAA, ARR: P = (1 + 1/3 + 1 + 1/3) / 4 = 2/3; A 9 of 12: Pe = 9/16 + 1/16 = 10/16.
    assert rows[None, ()].percent == pytest.approx(2 / 3)
    assert rows[None, ()].kappa == pytest.approx((2 / 3 - 10 / 16) / (1 - 10 / 16))
    assert rows[None, ("a01", "a02")].percent == pytest.approx(3 / 4)
    assert rows[None, ("a02", "a03")].percent == pytest.approx(3 / 4)


def test_an_expert_may_write_a_third_version(queue: Queue) -> None:
    fill(queue, 1, overlap=2)
    (first,), (second,) = claim(queue, "a01"), claim(queue, "a02")
    submit(queue, first, "a01", "accepted")
    submit(queue, second, "a02", "fixed", content("甲说。"))
    draft_id = open_piece(queue, first).draft_id
    settle(queue, draft_id, "e01", "fixed", content("第三种说法。"))
    assert open_piece(queue, first).state == "accepted"
    with pytest.raises(NotFoundError):
        settle(queue, "TaxQA-nothing", "e01", "accepted")


def test_an_overlap_that_is_raised_opens_what_is_not_settled_for_another_judge(queue: Queue) -> None:
    drafts = fill(queue, 2)
    (done,) = claim(queue, "a01")
    submit(queue, done, "a01", "accepted")
    set_policy(queue, Policy(overlap=2, spot_checks=0))
    bring_in(queue, drafts, [])
    assert len(claim(queue, "a02", count=9)) == 1
    assert len(claim(queue, "a03", count=9)) == 1


def test_rounds_count_shares_spot_checks_and_what_waits(queue: Queue) -> None:
    fill(queue, 6, spot_checks=2)
    for work in claim(queue, "a01", count=4):
        submit(queue, work, "a01", "accepted")
    (drawn,) = draw_samples(queue, "c01")
    check(queue, drawn.works[0], "c01", True)
    check(queue, drawn.works[1], "c01", False, "金额抄错")
    assert not close_share(queue, "a01", "c01")  # 1 of 2 is below 0.8
    (status,) = round_status(queue)
    assert (status.people, status.waiting, status.settled) == (1, 4, 0)
    assert (status.accepted, status.sent_back, status.drawn, status.passed) == (0, 1, 2, 1)
