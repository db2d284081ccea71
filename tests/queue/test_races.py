"""Two acts on one draft at the same moment: the later one sees what the earlier one did."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest
from queue_samples import content, draft, fill

from taxpraben.queue import claims, intake, rulings
from taxpraben.queue.claims import claim, claim_work, hand_over, release
from taxpraben.queue.intake import bring_in, export_decisions
from taxpraben.queue.pieces import disputed_drafts, open_piece
from taxpraben.queue.rounds import close_share, draw_samples
from taxpraben.queue.rulings import Submitted, check, submit
from taxpraben.queue.states import FrozenError
from taxpraben.queue.store import Queue
from taxpraben.queue.texts import texts


@pytest.mark.parametrize("second", ["accepted", "rejected"])
def test_the_two_last_judgements_of_a_draft_at_one_moment_settle_it_or_make_a_dispute(
    queue: Queue, monkeypatch: pytest.MonkeyPatch, second: str
) -> None:
    fill(queue, 1, overlap=2)
    (first_work,), (second_work,) = claim(queue, "a01"), claim(queue, "a02")
    both, show = threading.Barrier(2), rulings.show_state

    def show_when_both_looked(*given: Any) -> None:
        # Where one waits for the other, as it should, the barrier breaks.
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(timeout=0.5)
        show(*given)

    monkeypatch.setattr(rulings, "show_state", show_when_both_looked)
    with ThreadPoolExecutor(2) as pool:
        done = [
            pool.submit(submit, queue, first_work, "a01", "accepted"),
            pool.submit(submit, queue, second_work, "a02", second, None, "资料不全"),
        ]
        assert [one.result().kind for one in done] == ["submitted", "submitted"]
    assert len(export_decisions(queue)) == (second == "accepted")
    assert len(disputed_drafts(queue)) == (second == "rejected")


def test_a_check_while_the_share_of_the_other_annotator_is_closed_waits_its_turn(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each would hold what the other needs: the one its work, the other the draft.
    fill(queue, 1, overlap=2, spot_checks=1)
    works = [*claim(queue, "a01"), *claim(queue, "a02")]
    for work, person in zip(works, ("a01", "a02"), strict=True):
        submit(queue, work, person, "accepted")
    draw_samples(queue, "c01")
    check(queue, works[0], "c01", True)
    both = threading.Barrier(2)

    def when_both_are_here(act: Any) -> Any:
        def wait_and_act(*given: Any, **more: Any) -> Any:
            with contextlib.suppress(threading.BrokenBarrierError):
                both.wait(timeout=0.5)
            return act(*given, **more)

        return wait_and_act

    monkeypatch.setattr(rulings, "_decide", when_both_are_here(rulings._decide))
    monkeypatch.setattr(rulings, "log", when_both_are_here(rulings.log))
    with ThreadPoolExecutor(2) as pool:
        closing = pool.submit(close_share, queue, "a01", "c01")
        checking = pool.submit(check, queue, works[1], "c02", True)
        assert closing.result()
        with contextlib.suppress(FrozenError):  # the share was closed first, and the draft is settled
            assert checking.result() == "checked"
    assert len(export_decisions(queue)) == 1


def handed_in_during(
    queue: Queue, monkeypatch: pytest.MonkeyPatch, room: Any, act: str, doing: Callable[[], object]
) -> tuple[int, Submitted]:
    """Something is done to the queue while a fix is handed in, just where the act is written to the log."""
    (work,) = claim(queue, "a01")
    write = room.log
    with ThreadPoolExecutor(1) as pool:
        handed_in: list[Future[Submitted]] = []

        def hand_in_meanwhile(session: Any, at: str, actor: str, logged: str, *rest: Any, **more: Any) -> None:
            if logged == act:
                handed_in.append(pool.submit(submit, queue, work, "a01", "fixed", content("改正后的答案。")))
                threading.Event().wait(0.5)
            write(session, at, actor, logged, *rest, **more)

        monkeypatch.setattr(room, "log", hand_in_meanwhile)
        doing()
        return work, handed_in[0].result()


def test_a_submission_during_a_hand_over_stands_or_is_kept_as_late(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(queue, 1, spot_checks=5)
    work, outcome = handed_in_during(
        queue, monkeypatch, claims, "handed_over", lambda: hand_over(queue, "a01", None, "c01")
    )
    assert open_piece(queue, work).state == ("submitted" if outcome.kind == "submitted" else "open")
    assert outcome.kind == "submitted" or [text.kind for text in texts(queue, work)] == ["late"]


@pytest.mark.parametrize("named", [10_000, 0], ids=["named", "all"])
def test_a_submission_while_its_draft_changes_is_kept_as_late(
    queue: Queue, monkeypatch: pytest.MonkeyPatch, named: int
) -> None:
    monkeypatch.setattr(intake, "MOST_NAMED", named)
    fill(queue, 1, spot_checks=5)
    work, outcome = handed_in_during(
        queue, monkeypatch, intake, "draft_changed", lambda: bring_in(queue, [draft(0, "新的答案。")], [])
    )
    assert (outcome.kind, open_piece(queue, work).state) == ("late", "open")
    assert [text.kind for text in texts(queue, work)] == ["late"]


def test_one_person_taking_two_works_of_a_draft_at_one_moment_gets_one(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(queue, 1, overlap=2)
    works = [*claim(queue, "a01"), *claim(queue, "a02")]
    release(queue, works[0], "a01")
    release(queue, works[1], "a02")
    both, show = threading.Barrier(2), claims._show_claimed

    def show_when_both_took(*given: Any) -> None:
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(timeout=0.5)
        show(*given)

    monkeypatch.setattr(claims, "_show_claimed", show_when_both_took)
    with ThreadPoolExecutor(2) as pool:
        taken = list(pool.map(lambda work: claim_work(queue, work, "a03"), works))
    assert sorted(taken) == [False, True]


def test_a_work_that_is_judged_anew_after_its_share_passed_is_drawn_from_in_the_next_round(queue: Queue) -> None:
    fill(queue, 1, spot_checks=1)
    (work,) = claim(queue, "a01")
    submit(queue, work, "a01", "accepted")
    draw_samples(queue, "c01")
    check(queue, work, "c01", True)
    assert close_share(queue, "a01", "c01")
    bring_in(queue, [draft(0, "另一个答案。")], [])
    assert claim(queue, "a01") == [work]
    assert submit(queue, work, "a01", "accepted").state == "submitted"
    assert open_piece(queue, work).round == 2
    assert export_decisions(queue) == []
