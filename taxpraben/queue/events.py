"""The outbox: what the flows wait for, written once, delivered at least once."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from taxpraben.queue.states import FILTERED, FINAL, NotFoundError
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Entry, OutboxEvent

COMPLETED = "taxpraben.review.completed"
"""Every draft that needs a person is settled. Payload: ``entries`` (their number) and ``drafts`` (a digest of them)."""

DATASET_COMPLETED = "taxpraben.review.dataset_completed"
"""The same for one task. Payload: ``task``, ``entries``, ``drafts``."""


@dataclass(frozen=True)
class Event:
    """An event that was not delivered yet. ``event_id`` stays the same however often it is read."""

    event_id: str
    name: str
    payload: dict[str, Any]
    created_at: str


def note_completion(session: Session, at: str) -> None:
    """Write the events of what is complete now and was not announced for this very set of drafts."""
    # An autoflush would come too late for drafts that the caller just settled.
    session.flush()
    needed = (Entry.active.is_(True), Entry.state != FILTERED)
    waiting = dict(
        session.execute(
            select(Entry.task, func.count()).where(*needed, Entry.state.not_in(FINAL)).group_by(Entry.task)
        ).all()
    )
    totals = dict(session.execute(select(Entry.task, func.count()).where(*needed).group_by(Entry.task)).all())
    for task in sorted(set(totals) - set(waiting)):
        drafts = _drafts_digest(session, task)
        _announce(
            session,
            at,
            DATASET_COMPLETED,
            f"{task}-{drafts}",
            {"task": task, "entries": totals[task], "drafts": drafts},
        )
    if totals and not waiting:
        drafts = _drafts_digest(session, None)
        _announce(session, at, COMPLETED, drafts, {"entries": sum(totals.values()), "drafts": drafts})


def _drafts_digest(session: Session, task: str | None) -> str:
    query = select(Entry.draft_id, Entry.digest).where(Entry.active.is_(True), Entry.state != FILTERED)
    if task is not None:
        query = query.where(Entry.task == task)
    lines = sorted(f"{draft_id} {digest}\n" for draft_id, digest in session.execute(query))
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:16]


def _announce(session: Session, at: str, name: str, what: str, payload: dict[str, Any]) -> None:
    event_id = f"{name}-{what}"
    if session.get(OutboxEvent, event_id) is None:
        session.add(OutboxEvent(event_id=event_id, name=name, payload=payload, created_at=at, delivered_at=None))


def pending_events(queue: Queue) -> list[Event]:
    """Events that nobody took yet, oldest first."""
    with queue.write() as session:
        # Two last decisions at the same moment each see the other's draft as open; this look sees both.
        note_completion(session, queue.now())
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
