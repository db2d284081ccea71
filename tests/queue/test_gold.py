"""Gold items: mixed in unseen, scored, never items twice."""

from __future__ import annotations

import dataclasses

import pytest
from queue_samples import DOCUMENT, content, draft, fill

from taxpraben.queue.audit import annotator_history
from taxpraben.queue.claims import claim, expire, release
from taxpraben.queue.gold import GoldScore, add_gold, draw_gold, gold_drafts, gold_scores, remove_gold
from taxpraben.queue.intake import bring_in, export_decisions, set_policy
from taxpraben.queue.pieces import Piece, open_piece, pieces_of
from taxpraben.queue.policy import Policy
from taxpraben.queue.rounds import close_share, draw_samples
from taxpraben.queue.rulings import check, submit
from taxpraben.queue.states import NotFoundError, QueueError
from taxpraben.queue.status import task_status
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Work

RIGHT = content("应当补缴税款并缴纳滞纳金。")


def with_gold(queue: Queue, spot_checks: int = 0, overlap: int = 1, gold_every: int = 2) -> list[str]:
    """Forty drafts, of which ten are settled and gold; returns the gold drafts' ids."""
    drafts = fill(queue, 40, overlap=overlap)
    ids = [one.draft_id for one in drafts[:10]]
    for number, draft_id in enumerate(ids):
        if number % 2:
            add_gold(queue, draft_id, "e01", "accepted")
        else:
            add_gold(queue, draft_id, "e01", "fixed", RIGHT)
    set_policy(queue, Policy(overlap=overlap, spot_checks=spot_checks, claim_minutes=30, gold_every=gold_every))
    return ids


def of_gold(queue: Queue, works: list[int]) -> set[int]:
    with queue.read() as session:
        return {work for work in works if session.get_one(Work, work).gold}


def test_gold_items_are_mixed_in_and_nobody_gets_one_twice(queue: Queue) -> None:
    ids = with_gold(queue)
    works = claim(queue, "a01", count=15) + claim(queue, "a01", count=15)
    gold = of_gold(queue, works)
    assert 3 <= len(gold) <= 10  # 30 draws with chance 1/2, and ten gold drafts: fewer than 3 once in a million
    drafts = [open_piece(queue, work).draft_id for work in works]
    assert len(set(drafts)) == len(drafts)
    assert {open_piece(queue, work).draft_id for work in gold} <= set(ids)


def test_nothing_that_an_annotator_is_shown_tells_a_gold_item_from_another(queue: Queue) -> None:
    with_gold(queue)
    works = claim(queue, "a01", count=20)
    gold = of_gold(queue, works)
    assert gold
    assert "gold" not in {field.name for field in dataclasses.fields(Piece)}
    # What differs between any two pieces is the draft itself; all else has the same values on both sides.
    own = {"work_id", "draft_id", "slot"}
    kinds: dict[bool, set[str]] = {True: set(), False: set()}
    for work in works:
        piece = dataclasses.asdict(open_piece(queue, work))
        assert piece["state"] == "claimed"
        kinds[work in gold].add(str(sorted((name, str(value)) for name, value in piece.items() if name not in own)))
        acts = [(act.act, act.actor, sorted(act.detail)) for act in annotator_history(queue, work, "a01")]
        assert acts == [("claimed", "a01", ["until"])]
    assert kinds[True] == kinds[False]
    # Nor does its number or its place: numbers are drawn at random, and the list is not sorted gold last.
    listed = [piece.work_id in gold for piece in pieces_of(queue, "a01", ("claimed",))]
    assert sorted(listed) != listed or len(gold) == 1
    assert max(gold) < 2**31


def test_a_gold_item_ends_as_the_works_around_it_do(queue: Queue) -> None:
    with_gold(queue)
    works = claim(queue, "a01", count=20)
    for work in works:
        submit(queue, work, "a01", "accepted")
    assert {open_piece(queue, work).state for work in works} == {"accepted"}


def test_gold_items_are_scored_once_a_person_by_verdict_and_by_content(queue: Queue) -> None:
    with_gold(queue, gold_every=1)
    works = claim(queue, "a01", count=10)
    assert of_gold(queue, works) == set(works)
    for work in works:
        number = int(open_piece(queue, work).draft_id[-12:], 16)
        fixed = content("另一种改法。") if number == 0 else RIGHT
        verdict = "accepted" if number % 2 or number == 2 else "fixed"
        submit(queue, work, "a01", verdict, fixed if verdict == "fixed" else None)
    # Of ten, number 2 has the wrong verdict, and number 0 the right verdict with another text.
    assert gold_scores(queue) == [GoldScore("a01", 10, 9, 8)]
    assert gold_scores(queue)[0].share == pytest.approx(0.9)


def test_a_gold_item_stays_one_item_whoever_is_measured_by_it(queue: Queue) -> None:
    ids = with_gold(queue, gold_every=1)
    before = export_decisions(queue)
    for person in ("a01", "a02", "a03"):
        for work in claim(queue, person, count=10):
            submit(queue, work, person, "rejected", reason="看错了")
    assert export_decisions(queue) == before
    assert [row.annotator for row in before] == ["e01"] * len(ids)
    assert task_status(queue)[0].settled == len(ids)
    assert {each.judged for each in gold_drafts(queue)} == {3}


def test_gold_items_share_the_fate_of_their_round_and_are_never_drawn_for_a_check(queue: Queue) -> None:
    with_gold(queue, spot_checks=5)
    works = claim(queue, "a01", count=20)
    gold = of_gold(queue, works)
    for work in works:
        submit(queue, work, "a01", "accepted")
    (drawn,) = draw_samples(queue, "c01")
    assert not gold & set(drawn.works)
    for work in drawn.works:
        check(queue, work, "c01", False, "漏了依据")
    assert not close_share(queue, "a01", "c01")
    assert {open_piece(queue, work).state for work in works} == {"returned"}
    notes = {open_piece(queue, work).note for work in works if work not in drawn.works}
    assert len(notes) == 1
    for work in works:
        submit(queue, work, "a01", "accepted")
    (again,) = draw_samples(queue, "c01")
    for work in again.waiting:
        check(queue, work, "c01", True)
    assert close_share(queue, "a01", "c01")
    assert {open_piece(queue, work).state for work in gold} == {"accepted"}
    assert gold_scores(queue)[0].judged == len(gold)


def test_a_gold_item_given_back_or_run_out_waits_for_somebody_else(queue: Queue) -> None:
    ids = with_gold(queue, gold_every=1)
    works = claim(queue, "a01", count=2)
    release(queue, works[0], "a01")
    assert open_piece(queue, works[0]).state == "open"
    with queue.write() as session:
        assert expire(session, queue.later(60)) == 1
    taken = claim(queue, "a02", count=30)
    drafts = [open_piece(queue, work).draft_id for work in taken]
    assert len(set(drafts)) == len(drafts)
    assert set(drafts) >= set(ids[:1]) or set(drafts) & set(ids)


def test_without_open_work_there_is_no_gold_item_either(queue: Queue) -> None:
    drafts = fill(queue, 1)
    add_gold(queue, drafts[0].draft_id, "e01", "accepted")
    set_policy(queue, Policy(spot_checks=0, gold_every=1))
    assert claim(queue, "a01", count=5) == []


def test_a_gold_draft_that_changes_is_gold_no_more(queue: Queue) -> None:
    with_gold(queue, gold_every=1)
    works = claim(queue, "a01", count=10)
    changed = [draft(number, "全新的答案。") for number in range(40)]
    bring_in(queue, changed, [DOCUMENT])
    accepted = [one for one in gold_drafts(queue) if one.verdict == "accepted"]
    assert accepted == []
    assert {open_piece(queue, work).state for work in works} <= {"skipped", "claimed"}
    assert {one.verdict for one in gold_drafts(queue)} == {"fixed"}  # a fix holds


def test_gold_is_drawn_by_seed_among_what_people_settled(queue: Queue) -> None:
    fill(queue, 8)
    for work in claim(queue, "a01", count=6):
        submit(queue, work, "a01", "accepted")
    drawn = draw_gold(queue, "TaxQA", 3, 7, "admin")
    for one in drawn:
        remove_gold(queue, one, "admin")
    assert draw_gold(queue, "TaxQA", 3, 7, "admin") == drawn
    with pytest.raises(QueueError, match="3 drafts are settled"):
        draw_gold(queue, "TaxQA", 4, 7, "admin")


def test_a_known_answer_is_needed_once_and_only_where_there_is_none(queue: Queue) -> None:
    fill(queue, 3)
    (work,) = claim(queue, "a01")
    at_hand = open_piece(queue, work).draft_id
    for draft_id, verdict, cause in (
        ("TaxQA-000000000001", None, "not settled"),
        (at_hand, "accepted", "somebody is at it"),
    ):
        with pytest.raises(QueueError, match=cause):
            add_gold(queue, draft_id, "e01", verdict)
    with pytest.raises(NotFoundError):
        add_gold(queue, "TaxQA-nothing", "e01")
    submit(queue, work, "a01", "accepted")
    with pytest.raises(QueueError, match="give none"):
        add_gold(queue, at_hand, "e01", "rejected", reason="x")
    add_gold(queue, at_hand, "e01")
    assert [one.draft_id for one in gold_drafts(queue)] == [at_hand]
