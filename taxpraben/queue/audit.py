"""The log of every act; it only grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
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
