"""Rounds: a checker draws some of each annotator's works, and the share passes or goes back."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from taxpraben.queue.audit import log
from taxpraben.queue.claims import lock_judgements, show_state
from taxpraben.queue.events import note_completion, note_rounds
from taxpraben.queue.measuring import settle_gold
from taxpraben.queue.policy import read_policy, write_policy
from taxpraben.queue.rulings import settle_if_agreed
from taxpraben.queue.states import QueueError
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Entry, RoundShare, Work


@dataclass(frozen=True)
class Draw:
    """What was drawn of one annotator's works in a round.

    Attributes:
        seed: the text that seeded the draw; with it and the list of works anybody can draw again.
        works: ids of the works drawn, ascending; all of them where the annotator has no more than asked for.
        waiting: those of them that no checker has ruled on.
    """

    person: str
    round: int
    attempt: int
    seed: str
    works: tuple[int, ...]
    waiting: tuple[int, ...]


def draw(seed: int, round_number: int, person: str, attempt: int, works: list[int], count: int) -> list[int]:
    """Draw ``count`` of the works, the same ones for the same arguments; in ascending order."""
    chance = random.Random(seed_text(seed, round_number, person, attempt))  # noqa: S311  # a draw, not a secret
    return sorted(chance.sample(sorted(works), min(count, len(works))))


def seed_text(seed: int, round_number: int, person: str, attempt: int) -> str:
    """The text that seeds the draw of one annotator's share."""
    return f"{seed}/{round_number}/{person}/{attempt}"


def draw_samples(queue: Queue, actor: str) -> list[Draw]:
    """Draw the spot checks of every share that has submitted works; what was drawn before stays drawn.

    Returns:
        The open draws, by round and person.
    """
    with queue.write() as session:
        at = queue.now()
        submitted = session.execute(
            select(Work.round, Work.person)
            .where(Work.state == "submitted", Work.person.is_not(None), Work.gold.is_(False))
            .distinct()
            .order_by(Work.round, Work.person)
        )
        for number, person in submitted.all():
            if person and _needs_draw(session, number, person):
                _draw_share(session, at, actor, number, person)
        session.flush()
        waiting = session.scalars(
            select(RoundShare).where(RoundShare.passed.is_(None)).order_by(RoundShare.round, RoundShare.person)
        )
        return [_as_draw(session, share) for share in waiting]


def _draw_share(session: Session, at: str, actor: str, number: int, person: str) -> None:
    policy = read_policy(session)
    attempt = (_last_share(session, number, person) or 0) + 1
    works = list(
        session.scalars(
            select(Work.work_id)
            .where(Work.round == number, Work.person == person, Work.state == "submitted", Work.gold.is_(False))
            .order_by(Work.work_id)
        )
    )
    drawn = draw(policy.seed, number, person, attempt, works, policy.spot_checks)
    for work in session.scalars(select(Work).where(Work.work_id.in_(drawn))):
        work.sampled, work.check_result = True, ""
    seed = seed_text(policy.seed, number, person, attempt)
    session.add(
        RoundShare(
            round=number,
            person=person,
            attempt=attempt,
            seed=seed,
            drawn=len(drawn),
            passed=None,
            pass_mark=None,
            accepted=False,
        )
    )
    log(session, at, actor, "drawn", round=number, person=person, seed=seed, of=works, works=drawn)


def _last_share(session: Session, number: int, person: str) -> int | None:
    return session.scalar(
        select(func.max(RoundShare.attempt)).where(RoundShare.round == number, RoundShare.person == person)
    )


def _open_share(session: Session, number: int, person: str) -> RoundShare | None:
    return session.scalar(
        select(RoundShare).where(RoundShare.round == number, RoundShare.person == person, RoundShare.passed.is_(None))
    )


def _needs_draw(session: Session, number: int, person: str) -> bool:
    """Whether nothing was drawn yet, or the last share went back and what is submitted again is drawn from anew."""
    attempt = _last_share(session, number, person)
    if attempt is None:
        return True
    share = session.get_one(RoundShare, (number, person, attempt))
    return share.passed is not None and not share.accepted


def _as_draw(session: Session, share: RoundShare) -> Draw:
    works = list(
        session.scalars(
            select(Work)
            .where(Work.round == share.round, Work.person == share.person, Work.sampled.is_(True))
            .order_by(Work.work_id)
        )
    )
    return Draw(
        person=share.person,
        round=share.round,
        attempt=share.attempt,
        seed=share.seed,
        works=tuple(work.work_id for work in works),
        waiting=tuple(work.work_id for work in works if work.state == "submitted" and not work.check_result),
    )


def close_share(queue: Queue, person: str, actor: str, round_number: int | None = None) -> bool:
    """Count an annotator's spot checks: at or above the pass mark the share is accepted, below it goes back.

    A work that failed its check stays with its annotator either way; it is settled when it passes.

    Returns:
        Whether the share passed.

    Raises:
        QueueError: nothing was drawn, or drawn works still wait for a checker.
    """
    with queue.write() as session:
        at = queue.now()
        policy = read_policy(session)
        number = round_number or policy.round
        theirs = select(Work.draft_id).where(Work.round == number, Work.person == person)
        lock_judgements(session, Work.draft_id.in_(theirs))
        share = _open_share(session, number, person)
        if share is None:
            raise QueueError(f"No open share of {person} in round {number}; draw the spot checks first")
        sampled = _as_draw(session, share)
        if sampled.waiting:
            raise QueueError(f"{len(sampled.waiting)} of {person}'s spot checks wait for a checker in round {number}")
        works = list(session.scalars(select(Work).where(Work.round == number, Work.person == person)))
        share.passed = sum(1 for work in works if work.sampled and work.check_result == "passed")
        share.pass_mark = policy.pass_mark
        share.accepted = share.drawn > 0 and share.passed / share.drawn >= policy.pass_mark
        session.flush()
        for work in works:
            entry = session.get_one(Entry, work.draft_id)
            if work.gold:
                _close_gold(work, share, policy.overlap)
            elif share.accepted:
                if work.state in ("submitted", "checked") and work.check_result != "failed":
                    settle_if_agreed(session, at, entry, work.checker)
            elif work.state in ("submitted", "checked"):
                work.state = "returned"
                work.note = _sent_back(share)
                work.sampled, work.check_result = False, ""
                show_state(session, entry)
            else:
                work.sampled = False
        log(session, at, actor, "share_closed", round=number, person=person, passed=share.passed, drawn=share.drawn)
        note_completion(session, at)
        note_rounds(session, at)
        return share.accepted


def _sent_back(share: RoundShare) -> str:
    return f"round {share.round}: {share.passed} of {share.drawn} spot checks passed"


def _close_gold(work: Work, share: RoundShare, overlap: int) -> None:
    """A gold work shares the fate of its round; with an overlap it is settled beside another work, as that one is."""
    if work.state != "submitted":
        return
    if not share.accepted:
        work.state, work.note = "returned", _sent_back(share)
    elif overlap == 1:
        settle_gold(work)


def next_round(queue: Queue, actor: str) -> int:
    """Open the next round: works submitted from now on belong to it. Returns its number.

    Shares of earlier rounds stay to be drawn and closed. An annotator whose share has passed is in the next round
    anyway; this moves everybody.
    """
    with queue.write() as session:
        policy = read_policy(session)
        write_policy(session, replace(policy, round=policy.round + 1))
        log(session, queue.now(), actor, "next_round", round=policy.round + 1)
        return policy.round + 1
