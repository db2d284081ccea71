"""Who has what: atomic claims with a time limit, release, hand-over."""

from __future__ import annotations

from sqlalchemy import Select, exists, select, update
from sqlalchemy.orm import Session, aliased

from taxpraben.queue.audit import SYSTEM, log
from taxpraben.queue.policy import read_policy
from taxpraben.queue.states import FrozenError, NotFoundError, NotYoursError, QueueError
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Entry, Work

ATTEMPTS = 20
"""How often a claim that lost a race looks for the next piece of work."""


def claim(
    queue: Queue, person: str, count: int = 1, task: str | None = None, minutes: float | None = None
) -> list[int]:
    """Take the next open works, in the order of the drafts; each has one owner, however many ask at once.

    A person never gets two works of the same draft.

    Args:
        queue: the queue.
        person: who takes them.
        count: how many at most.
        task: of one task only.
        minutes: how long the claim holds; the policy's limit by default.

    Returns:
        The ids of the works taken, in order; fewer than asked for, or none, when no more are open.
    """
    taken: list[int] = []
    with queue.write() as session:
        at = queue.now()
        expire(session, at)
        until = queue.later(minutes if minutes is not None else read_policy(session).claim_minutes)
        for _ in range(ATTEMPTS):
            query = _open_for(person, task).limit(count - len(taken))
            if queue.locks_rows:
                query = query.with_for_update(skip_locked=True, of=Work)
            candidates = list(session.scalars(query))
            if not candidates:
                break
            drafts: set[str] = set()
            for work in candidates:
                # With an overlap the list holds several works of a draft; a person gets one of them.
                if work.draft_id not in drafts and _take(session, work.work_id, person, until):
                    drafts.add(work.draft_id)
                    session.refresh(work)
                    _show(session, work)
                    log(session, at, person, "claimed", work, until=until)
                    taken.append(work.work_id)
            if len(taken) >= count:
                break
    return taken


def claim_work(queue: Queue, work_id: int, person: str) -> bool:
    """Take one certain work; returns False when it is not open (any more) or the person judged the draft already."""
    with queue.write() as session:
        at = queue.now()
        expire(session, at)
        until = queue.later(read_policy(session).claim_minutes)
        open_for_person = session.scalar(_open_for(person, None).where(Work.work_id == work_id)) is not None
        if not open_for_person or not _take(session, work_id, person, until):
            return False
        work = session.get_one(Work, work_id)
        session.refresh(work)
        _show(session, work)
        log(session, at, person, "claimed", work, until=until)
        return True


def _open_for(person: str, task: str | None) -> Select[Work]:
    other = aliased(Work)
    query = (
        select(Work)
        .join(Entry, Entry.draft_id == Work.draft_id)
        .where(
            Work.state == "open",
            Entry.active.is_(True),
            ~exists().where(other.draft_id == Work.draft_id, other.work_id != Work.work_id, other.person == person),
        )
        .order_by(Work.place, Work.slot)
    )
    return query.where(Work.task == task) if task else query


def _take(session: Session, work_id: int, person: str, until: str) -> bool:
    # The condition on the state makes the claim atomic even where the rows were read without a lock.
    taken = session.scalar(
        update(Work)
        .where(Work.work_id == work_id, Work.state == "open")
        .values(state="claimed", person=person, claimed_until=until)
        .returning(Work.work_id)
        .execution_options(synchronize_session=False)
    )
    return taken is not None


def _show(session: Session, work: Work) -> None:
    show_state(session, session.get_one(Entry, work.draft_id))


def show_state(session: Session, entry: Entry) -> None:
    """Set an entry's state from its works: the least advanced one says how far the entry is."""
    session.flush()
    order = ("open", "claimed", "returned", "skipped", "submitted", "checked", "rejected", "accepted")
    states = list(session.scalars(select(Work.state).where(Work.draft_id == entry.draft_id)))
    if states and entry.state not in ("accepted", "rejected"):
        entry.state = min(states, key=order.index)


def extend(queue: Queue, work_id: int, person: str) -> str:
    """Begin the time limit of a claim anew, while somebody is at it; returns the new limit.

    Raises:
        NotYoursError: the work is no longer claimed by this person.
    """
    with queue.write() as session:
        at = queue.now()
        expire(session, at)
        work = find_work(session, work_id)
        if work.person != person or work.state != "claimed":
            raise NotYoursError(f"Work {work_id} is not claimed by {person}; take it again from the queue")
        work.claimed_until = queue.later(read_policy(session).claim_minutes)
        return work.claimed_until


def expire(session: Session, at: str) -> int:
    """Put works whose claim ended back in the queue; submitted ones stay submitted. Returns how many."""
    ended = list(
        session.scalars(
            select(Work).where(Work.state == "claimed", Work.claimed_until < at).with_for_update(skip_locked=True)
        )
    )
    for work in ended:
        log(session, at, SYSTEM, "claim_ended", work, person=work.person, until=work.claimed_until)
        work.state, work.person, work.claimed_until = "open", None, None
        _show(session, work)
    return len(ended)


def release(queue: Queue, work_id: int, actor: str) -> None:
    """Give a claimed or returned work back; what was typed stays in its history.

    Args:
        queue: the queue.
        work_id: the work.
        actor: its owner; what others hold is freed by ``hand_over``.

    Raises:
        NotYoursError: it is not the actor's.
        FrozenError: it is settled.
        QueueError: there is nothing to release in its state.
    """
    with queue.write() as session:
        work = find_work(session, work_id)
        _must_not_be_settled(work)
        if work.person != actor:
            raise NotYoursError(f"Work {work_id} is not {actor}'s")
        if work.state not in ("claimed", "returned"):
            raise QueueError(f"Work {work_id} is {work.state}; only claimed and returned work can be given back")
        log(session, queue.now(), actor, "released", work, person=work.person, state=work.state)
        work.state, work.person, work.claimed_until = "open", None, None
        _show(session, work)


def hand_over(queue: Queue, person: str, to: str | None, actor: str) -> int:
    """Free a person's claimed and returned works (for leave), or give them to somebody else.

    Returned works keep their note. A work whose draft the other person judged already is freed instead.

    Returns:
        How many works changed hands.
    """
    with queue.write() as session:
        at = queue.now()
        until = queue.later(read_policy(session).claim_minutes)
        held = list(session.scalars(select(Work).where(Work.person == person, Work.state.in_(("claimed", "returned")))))
        for work in held:
            judged = to is not None and session.scalar(
                select(Work.work_id).where(Work.draft_id == work.draft_id, Work.person == to)
            )
            log(session, at, actor, "handed_over", work, person=person, to=None if judged else to)
            if to is None or judged:
                work.state, work.person, work.claimed_until = "open", None, None
            else:
                work.person = to
                work.claimed_until = until if work.state == "claimed" else None
            _show(session, work)
        return len(held)


def reopen_skipped(queue: Queue, work_id: int, actor: str) -> None:
    """Put a skipped work back in the queue for everybody.

    Raises:
        QueueError: it was not skipped.
    """
    with queue.write() as session:
        work = find_work(session, work_id)
        if work.state != "skipped":
            raise QueueError(f"Work {work_id} is {work.state}, not skipped")
        log(session, queue.now(), actor, "reopened", work, note=work.note)
        work.state, work.person, work.claimed_until = "open", None, None
        _show(session, work)


def find_work(session: Session, work_id: int) -> Work:
    """The work of this id, locked for the transaction where the database locks rows.

    Raises:
        NotFoundError: no such work.
    """
    work = session.scalar(select(Work).where(Work.work_id == work_id).with_for_update())
    if work is None:
        raise NotFoundError(f"No work {work_id} in the queue")
    return work


def _must_not_be_settled(work: Work) -> None:
    if work.state in ("accepted", "rejected"):
        raise FrozenError(f"Work {work.work_id} is {work.state}; what is settled stays as it is")
