"""The log of every act; it only grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Audit, Entry, Work

SYSTEM = "system"
"""Actor of what no person did: time limits, imports by the pipeline, rules."""


@dataclass(frozen=True)
class Act:
    """One line of the log."""

    at: str
    actor: str
    act: str
    draft_id: str
    work_id: int | None
    detail: dict[str, Any]


def log(session: Session, at: str, actor: str, act: str, subject: Work | Entry | None = None, **detail: Any) -> None:
    """Write one line, in the transaction of the act itself."""
    session.add(
        Audit(
            at=at,
            actor=actor,
            act=act,
            draft_id=subject.draft_id if subject else "",
            work_id=subject.work_id if isinstance(subject, Work) else None,
            detail=detail,
        )
    )


def history(queue: Queue, draft_id: str) -> list[Act]:
    """What happened to a draft, oldest first."""
    with queue.read() as session:
        rows = session.scalars(select(Audit).where(Audit.draft_id == draft_id).order_by(Audit.audit_id))
        return [Act(row.at, row.actor, row.act, row.draft_id, row.work_id, dict(row.detail)) for row in rows]


def annotator_history(queue: Queue, work_id: int, person: str) -> list[Act]:
    """What an annotator may see of a work's history, oldest first: own acts, time limits, what checkers returned.

    What was done to the draft in other works stays out: it would bias a second judge, and give gold items away.
    """
    with queue.read() as session:
        rows = session.scalars(
            select(Audit)
            .where(
                Audit.work_id == work_id,
                or_(Audit.actor.in_((person, SYSTEM)), Audit.act.in_(("returned", "assigned"))),
            )
            .order_by(Audit.audit_id)
        )
        return [Act(row.at, row.actor, row.act, row.draft_id, row.work_id, dict(row.detail)) for row in rows]


@dataclass(frozen=True)
class AuditPage:
    """Some lines of the log, newest first. ``before`` leads to the next page; None on the last."""

    acts: list[Act]
    before: int | None


def audit_page(
    queue: Queue, limit: int = 100, before: int | None = None, actor: str = "", act: str = "", draft_id: str = ""
) -> AuditPage:
    """The log, newest first, by actor, act or draft where they are given."""
    query = select(Audit).order_by(Audit.audit_id.desc()).limit(limit + 1)
    if before is not None:
        query = query.where(Audit.audit_id < before)
    for column, value in ((Audit.actor, actor), (Audit.act, act), (Audit.draft_id, draft_id)):
        if value:
            query = query.where(column == value)
    with queue.read() as session:
        rows = list(session.scalars(query))
        acts = [Act(row.at, row.actor, row.act, row.draft_id, row.work_id, dict(row.detail)) for row in rows[:limit]]
        return AuditPage(acts, rows[limit - 1].audit_id if len(rows) > limit else None)
