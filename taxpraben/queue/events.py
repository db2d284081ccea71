"""The outbox: what the flows wait for, written once, delivered at least once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, select
from sqlalchemy.orm import Session

from taxpraben.queue.states import FILTERED, FINAL, NotFoundError
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Delivery, Entry, OutboxEvent, RoundShare, Webhook, Work

COMPLETED = "taxpraben.review.completed"
"""Every draft that needs a person is settled. Payload: ``entries`` (their number) and ``drafts`` (a digest of them)."""

DATASET_COMPLETED = "taxpraben.review.dataset_completed"
"""The same for one task. Payload: ``task``, ``entries``, ``drafts``."""

BATCH_COMPLETED = "taxpraben.review.batch_completed"
"""The same for one batch of a task that has several. Payload: ``task``, ``batch``, ``entries``, ``drafts``."""

ROUND_COMPLETED = "taxpraben.review.round_completed"
"""All shares of a round have passed and all their drafts are settled. Payload: ``round``, ``shares``, ``works``."""

EVENTS = (COMPLETED, DATASET_COMPLETED, BATCH_COMPLETED, ROUND_COMPLETED)


@dataclass(frozen=True)
class Event:
    """An event that was not delivered yet. ``event_id`` stays the same however often it is read."""

    event_id: str
    name: str
    payload: dict[str, Any]
    created_at: str


def note_completion(session: Session, at: str, settled: Entry | None = None) -> None:
    """Write the events of what is complete now and was not announced for this very set of drafts.

    Args:
        session: a writing session.
        at: the time.
        settled: look only at what this draft can have completed; at everything by default.
    """
    # An autoflush would come too late for drafts that the caller just settled.
    session.flush()
    if settled is not None:
        # The usual case, and the reason for looking here first: others of the batch still wait.
        if _waits(session, Entry.task == settled.task, Entry.batch == settled.batch):
            return
        _note_batch(session, at, settled.task, settled.batch)
        if _waits(session, Entry.task == settled.task):
            return
        _note_dataset(session, at, settled.task)
    else:
        waiting = _batches(session, open_only=True)
        batches = sorted(_batches(session))
        for task, batch in batches:
            if (task, batch) not in waiting:
                _note_batch(session, at, task, batch)
        for task in sorted({task for task, _ in batches} - {task for task, _ in waiting}):
            _note_dataset(session, at, task)
    if not _waits(session):
        drafts, entries = _drafts_digest(session)
        if entries:
            _announce(session, at, COMPLETED, drafts, {"entries": entries, "drafts": drafts})


def _note_batch(session: Session, at: str, task: str, batch: int) -> None:
    others = _needed(Entry.draft_id).where(Entry.task == task, Entry.batch != batch).limit(1)
    if session.execute(others).first() is None:
        return
    drafts, entries = _drafts_digest(session, Entry.task == task, Entry.batch == batch)
    payload = {"task": task, "batch": batch, "entries": entries, "drafts": drafts}
    _announce(session, at, BATCH_COMPLETED, f"{task}-{batch}-{drafts}", payload)


def _note_dataset(session: Session, at: str, task: str) -> None:
    drafts, entries = _drafts_digest(session, Entry.task == task)
    payload = {"task": task, "entries": entries, "drafts": drafts}
    _announce(session, at, DATASET_COMPLETED, f"{task}-{drafts}", payload)


def _needed(*columns: Any, open_only: bool = False) -> Select[Any]:
    query = select(*columns).where(Entry.active.is_(True), Entry.state != FILTERED)
    return query.where(Entry.state.not_in(FINAL)) if open_only else query


def _batches(session: Session, open_only: bool = False) -> set[tuple[str, int]]:
    rows = session.execute(_needed(Entry.task, Entry.batch, open_only=open_only).distinct())
    return {(task, batch) for task, batch in rows}


def _waits(session: Session, *where: ColumnElement[bool]) -> bool:
    return session.execute(_needed(Entry.draft_id, open_only=True).where(*where).limit(1)).first() is not None


def _drafts_digest(session: Session, *where: ColumnElement[bool]) -> tuple[str, int]:
    rows = session.execute(_needed(Entry.draft_id, Entry.digest).where(*where))
    lines = sorted(f"{draft_id} {digest}\n" for draft_id, digest in rows)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16], len(lines)


def note_rounds(session: Session, at: str) -> None:
    """Write the events of rounds whose shares have all passed and whose works are all settled."""
    session.flush()
    accepted = set(session.scalars(select(RoundShare.round).where(RoundShare.accepted.is_(True)).distinct()))
    shares_open = set(session.scalars(select(RoundShare.round).where(RoundShare.passed.is_(None)).distinct()))
    unsettled = set(
        session.scalars(
            select(Work.round)
            .join(Entry, Entry.draft_id == Work.draft_id)
            .where(Work.gold.is_(False), Work.round > 0, Work.state.not_in(FINAL), Entry.active.is_(True))
            .distinct()
        )
    )
    for number in sorted(accepted - shares_open - unsettled):
        works = sorted(session.scalars(select(Work.work_id).where(Work.round == number, Work.gold.is_(False))))
        people = list(
            session.scalars(
                select(RoundShare.person)
                .where(RoundShare.round == number, RoundShare.accepted.is_(True))
                .order_by(RoundShare.person)
            )
        )
        digest = hashlib.sha256(" ".join(map(str, works)).encode()).hexdigest()[:16]
        payload = {"round": number, "shares": len(people), "works": len(works)}
        _announce(session, at, ROUND_COMPLETED, f"{number}-{digest}", payload)


def _announce(session: Session, at: str, name: str, what: str, payload: dict[str, Any]) -> None:
    event_id = f"{name}-{what}"
    if session.get(OutboxEvent, event_id) is not None:
        return
    session.add(OutboxEvent(event_id=event_id, name=name, payload=payload, created_at=at, delivered_at=None))
    session.flush()
    for hook in session.scalars(select(Webhook).where(Webhook.active.is_(True))):
        if name in hook.events:
            session.add(
                Delivery(
                    webhook_id=hook.webhook_id,
                    event_id=event_id,
                    attempts=0,
                    state="waiting",
                    next_at=at,
                    last_error="",
                    delivered_at=None,
                )
            )


def pending_events(queue: Queue) -> list[Event]:
    """Events that nobody took yet, oldest first."""
    with queue.write() as session:
        # Two last decisions at the same moment each see the other's draft as open; this look sees both.
        note_completion(session, queue.now())
        note_rounds(session, queue.now())
        session.flush()
        rows = session.scalars(
            select(OutboxEvent)
            .where(OutboxEvent.delivered_at.is_(None))
            .order_by(OutboxEvent.created_at, OutboxEvent.event_id)
        )
        return [Event(row.event_id, row.name, dict(row.payload), row.created_at) for row in rows]


def mark_delivered(queue: Queue, event_id: str) -> None:
    """Take an event off the list; a second time changes nothing.

    Raises:
        NotFoundError: no such event.
    """
    with queue.write() as session:
        row = session.get(OutboxEvent, event_id)
        if row is None:
            raise NotFoundError(f"No event {event_id!r} in the outbox")
        row.delivered_at = row.delivered_at or queue.now()
