"""Who has what: atomic claims with a time limit, release, hand-over."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, Select, and_, exists, func, or_, select
from sqlalchemy.orm import Session, aliased

from taxpraben.queue.audit import SYSTEM, log
from taxpraben.queue.mixing import mix_in
from taxpraben.queue.policy import Policy, read_policy
from taxpraben.queue.states import FrozenError, NotFoundError, NotYoursError, QueueError
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Entry, Person, Work

_OTHER = aliased(Work)
"""Another work of the same draft. Made once: an alias costs more than the query that it stands in."""

ATTEMPTS = 20
"""How often a claim looks again where the list held several works of one draft."""


def claim(
    queue: Queue,
    person: str,
    count: int = 1,
    task: str | None = None,
    minutes: float | None = None,
    batch: int | None = None,
) -> list[int]:
    """Take the next open works, in the order of the drafts; each has one owner, however many ask at once.

    A person never gets two works of the same draft. By the policy's ``gold_every``, some of the works measure the
    person instead; nothing tells them from the others.

    Args:
        queue: the queue.
        person: who takes them.
        count: how many at most.
        task: of one task only.
        minutes: how long the claim holds; the policy's limit by default.
        batch: of one batch of the task only.

    Returns:
        The ids of the works taken, in order; fewer than asked for, or none, when no more are open.
    """
    with queue.write() as session:
        return claim_within(queue, session, person, person, count, task, minutes, batch)


def assign(
    queue: Queue, person: str, count: int, task: str | None = None, batch: int | None = None, actor: str = SYSTEM
) -> list[int]:
    """Claim works for somebody else, as a checker or an admin hands them out.

    Raises:
        NotFoundError: nobody of this name may sign in.
    """
    with queue.write() as session:
        known = session.get(Person, person)
        if known is None or not known.active:
            raise NotFoundError(f"Nobody called {person!r} may sign in; add them with `taxpraben review person`")
        return claim_within(queue, session, person, actor, count, task, None, batch)


def next_piece(queue: Queue, person: str, after: int = 0) -> int | None:
    """The work to go to: the next one in hand after ``after``, else any in hand, else a fresh claim; None without."""
    with queue.read() as session:
        held = list(
            session.scalars(
                select(Work.work_id)
                .join(Entry, Entry.draft_id == Work.draft_id)
                .where(Work.person == person, Entry.active.is_(True))
                .where(or_(Work.state == "returned", and_(Work.state == "claimed", Work.claimed_until >= queue.now())))
                .order_by(Work.place, Work.slot)
            )
        )
    others = [work for work in held if work != after]
    later = held[held.index(after) + 1 :] if after in held else []
    return next(iter(later or others or claim(queue, person)), None)


def claim_within(
    queue: Queue,
    session: Session,
    person: str,
    actor: str,
    count: int,
    task: str | None,
    minutes: float | None,
    batch: int | None,
) -> list[int]:
    """``claim`` within a transaction; ``actor`` is who asked for it."""
    at = queue.now()
    policy = read_policy(session)
    expire(session, at)
    _wait_for_own_claims(queue, session, person, policy)
    until = queue.later(minutes if minutes is not None else policy.claim_minutes)
    gold = mix_in(session, person, until, policy.gold_every, count, _open_for(person, task, batch))
    taken: list[tuple[Work, Entry]] = []
    for _ in range(ATTEMPTS):
        if len(taken) >= count - len(gold):
            break
        query = _open_for(person, task, batch).limit(count - len(gold) - len(taken))
        if queue.locks_rows:
            query = query.with_for_update(skip_locked=True, of=Work)
        candidates = [(work, entry) for work, entry in session.execute(query)]
        if not candidates:
            break
        drafts = {work.draft_id for work, _ in taken}
        for work, entry in candidates:
            # With an overlap the list holds several works of a draft; a person gets one of them.
            if work.draft_id not in drafts:
                drafts.add(work.draft_id)
                # The row is ours: locked, or the whole database is while one writes (SQLite).
                work.state, work.person, work.claimed_until = "claimed", person, until
                taken.append((work, entry))
        session.flush()
    _show_claimed(session, taken)
    works = sorted([work for work, _ in taken] + gold, key=lambda work: (work.place, work.slot))
    for work in works:
        if actor == person:
            log(session, at, person, "claimed", work, until=until)
        else:
            log(session, at, actor, "assigned", work, until=until, person=person)
    return [work.work_id for work in works]


def claim_work(queue: Queue, work_id: int, person: str) -> bool:
    """Take one certain work; returns False when it is not open (any more) or the person judged the draft already."""
    with queue.write() as session:
        at = queue.now()
        expire(session, at)
        policy = read_policy(session)
        _wait_for_own_claims(queue, session, person, policy)
        query = _open_for(person, None, None).where(Work.work_id == work_id)
        if queue.locks_rows:
            query = query.with_for_update(skip_locked=True, of=Work)
        found = session.execute(query).first()
        if found is None:
            return False
        work, entry = found
        until = queue.later(policy.claim_minutes)
        work.state, work.person, work.claimed_until = "claimed", person, until
        _show_claimed(session, [(work, entry)])
        log(session, at, person, "claimed", work, until=until)
        return True


def _wait_for_own_claims(queue: Queue, session: Session, person: str, policy: Policy) -> None:
    if queue.locks_rows and (policy.overlap > 1 or policy.gold_every):
        # Two tabs of one person at once must not get two works of one draft.
        session.execute(select(func.pg_advisory_xact_lock(func.hashtext(f"claim {person}"))))


def _open_for(person: str, task: str | None, batch: int | None) -> Select[Work, Entry]:
    query = (
        select(Work, Entry)
        .join(Entry, Entry.draft_id == Work.draft_id)
        .where(
            Work.state == "open",
            Entry.active.is_(True),
            ~exists().where(_OTHER.draft_id == Work.draft_id, _OTHER.work_id != Work.work_id, _OTHER.person == person),
        )
        .order_by(Work.place, Work.slot)
    )
    if task:
        query = query.where(Work.task == task)
    return query.where(Work.batch == batch) if batch is not None else query


def _show_claimed(session: Session, taken: Sequence[tuple[Work, Entry]]) -> None:
    # A work of a settled draft (gold) leaves its entry alone.
    shared = [(work, entry) for work, entry in taken if not work.gold]
    session.flush()
    several = set(
        session.scalars(
            select(Work.draft_id)
            .where(Work.draft_id.in_([entry.draft_id for _, entry in shared]), Work.gold.is_(False))
            .group_by(Work.draft_id)
            .having(func.count() > 1)
        )
        if shared
        else ()
    )
    for _, entry in shared:
        if entry.draft_id in several:
            show_state(session, entry)
        elif entry.state not in ("accepted", "rejected"):
            entry.state = "claimed"


def _show(session: Session, work: Work) -> None:
    if not work.gold:
        show_state(session, session.get_one(Entry, work.draft_id))


def show_state(session: Session, entry: Entry) -> None:
    """Set an entry's state from its works: the least advanced one says how far the entry is."""
    session.flush()
    order = ("open", "claimed", "returned", "skipped", "submitted", "checked", "rejected", "accepted")
    states = list(session.scalars(select(Work.state).where(Work.draft_id == entry.draft_id, Work.gold.is_(False))))
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
        put_back(work)
        _show(session, work)
    return len(ended)


def put_back(work: Work) -> None:
    """Make a work anybody's; it belongs to the round in which it is submitted next, not to one that passed already."""
    work.state, work.person, work.claimed_until, work.round = "open", None, None, 0


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
        put_back(work)
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
        # Locked: what is submitted at this moment is either seen as submitted or comes too late.
        theirs = select(Work).where(Work.person == person, Work.state.in_(("claimed", "returned")))
        held = list(session.scalars(theirs.order_by(Work.work_id).with_for_update()))
        for work in held:
            judged = to is not None and session.scalar(
                select(Work.work_id).where(Work.draft_id == work.draft_id, Work.person == to)
            )
            log(session, at, actor, "handed_over", work, person=person, to=None if judged else to)
            if to is None or judged:
                put_back(work)
            else:
                work.person, work.round = to, 0
                work.claimed_until = until if work.state == "claimed" else None
            _show(session, work)
        return len(held)


def release_all(queue: Queue, person: str, actor: str) -> int:
    """Put everything that a person holds back in the queue; returns how many works."""
    return hand_over(queue, person, None, actor)


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
        put_back(work)
        _show(session, work)


def find_work(session: Session, work_id: int) -> Work:
    """The work of this id, locked for the transaction where the database locks rows.

    Raises:
        NotFoundError: no such work.
    """
    work = session.scalar(select(Work).where(Work.work_id == work_id).with_for_update())
    if work is None:
        raise _no_work(work_id)
    return work


def find_judgement(session: Session, work_id: int) -> Work:
    """The work of this id, locked with all judgements of its draft: for acts that may settle the draft.

    All such acts lock in the order of the works and before the draft's entry, so that two of them wait in line.

    Raises:
        NotFoundError: no such work.
    """
    draft = select(Work.draft_id).where(Work.work_id == work_id).scalar_subquery()
    which = (Work.draft_id == draft) & (Work.gold.is_(False) | (Work.work_id == work_id))
    works = session.scalars(select(Work).where(which).order_by(Work.work_id).with_for_update()).all()
    for work in works:
        if work.work_id == work_id:
            return work
    raise _no_work(work_id)


def lock_judgements(session: Session, which: ColumnElement[bool]) -> None:
    """Lock works in their order for the transaction, where the database locks rows; what they hold is read after it."""
    session.execute(select(Work.work_id).where(which).order_by(Work.work_id).with_for_update())


def _no_work(work_id: int) -> NotFoundError:
    return NotFoundError(f"No work {work_id} in the queue")


def _must_not_be_settled(work: Work) -> None:
    if work.state in ("accepted", "rejected"):
        raise FrozenError(f"Work {work.work_id} is {work.state}; what is settled stays as it is")
