"""What people type: every save is a version, and no text is lost."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import select
from sqlalchemy.orm import Session

from taxpraben.queue.audit import log
from taxpraben.queue.claims import find_work
from taxpraben.queue.policy import read_policy
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Save, Work
from taxpraben.records.base import JsonObject


@dataclass(frozen=True)
class Saved:
    """The outcome of a save.

    Attributes:
        kind: ``save``: it is the current text. ``conflict``: another save came first; both are kept. ``late``: the
            work is no longer this person's; the text is kept beside it.
        version: the current version of the work, which the next save must name.
        yours: the text that was given.
        theirs: the current text in a conflict, else None.
        by: who wrote the current text in a conflict, else empty.
        until: the claim's limit, which a save begins anew; empty where there is none.
    """

    kind: str
    version: int
    yours: JsonObject
    theirs: JsonObject | None = None
    by: str = ""
    until: str = ""


@dataclass(frozen=True)
class Text:
    """One kept text of a work."""

    person: str
    kind: str
    version: int
    form: JsonObject
    at: str


def save(queue: Queue, work_id: int, person: str, version: int, form: JsonObject) -> Saved:
    """Keep what somebody typed; it need not be complete. Who types is at it: the claim's time limit begins anew.

    Args:
        queue: the queue.
        work_id: the work.
        person: who typed.
        version: the version that the text was based on.
        form: the fields as typed.

    Raises:
        NotFoundError: no such work.
    """
    with queue.write() as session:
        work = find_work(session, work_id)
        saved = keep(session, queue.now(), work, person, version, form)
        if saved.kind == "save" and work.state == "claimed":
            work.claimed_until = queue.later(read_policy(session).claim_minutes)
            return replace(saved, until=work.claimed_until)
        return saved


def keep(session: Session, at: str, work: Work, person: str, version: int, form: JsonObject) -> Saved:
    """``save`` within a transaction: nothing that was typed is refused, only its standing differs."""
    if not owns(work, person, at):
        if not _kept_beside(session, work, person, version, "late", form):
            session.add(Save(work_id=work.work_id, person=person, version=version, kind="late", form=form, at=at))
            log(session, at, person, "saved_late", work, version=version)
        return Saved("late", work.version, form)
    if version != work.version:
        current = session.scalar(
            select(Save)
            .where(Save.work_id == work.work_id, Save.kind == "save", Save.version == work.version)
            .order_by(Save.save_id.desc())
        )
        if not _kept_beside(session, work, person, version, "conflict", form):
            session.add(Save(work_id=work.work_id, person=person, version=version, kind="conflict", form=form, at=at))
            log(session, at, person, "save_conflict", work, version=version, current=work.version)
        return Saved(
            "conflict",
            work.version,
            form,
            dict(current.form) if current is not None else {},
            current.person if current is not None else "",
        )
    work.version += 1
    session.add(Save(work_id=work.work_id, person=person, version=work.version, kind="save", form=form, at=at))
    return Saved("save", work.version, form)


def _kept_beside(session: Session, work: Work, person: str, version: int, kind: str, form: JsonObject) -> bool:
    """Whether this very text stands beside the work already: a share that is imported again brings nothing new."""
    same = (Save.work_id == work.work_id, Save.person == person, Save.version == version, Save.kind == kind)
    return any(kept == form for kept in session.scalars(select(Save.form).where(*same)))


def owns(work: Work, person: str, at: str) -> bool:
    """Whether the work is this person's to write in now."""
    if work.person != person:
        return False
    if work.state == "claimed":
        return work.claimed_until is not None and work.claimed_until >= at
    return work.state == "returned"


def texts(queue: Queue, work_id: int) -> list[Text]:
    """All kept texts of a work, oldest first."""
    with queue.read() as session:
        rows = session.scalars(select(Save).where(Save.work_id == work_id).order_by(Save.save_id))
        return [Text(row.person, row.kind, row.version, dict(row.form), row.at) for row in rows]


def latest_text(queue: Queue, work_id: int, person: str) -> JsonObject | None:
    """What this person last typed on a work, whatever became of it; None where nothing was."""
    with queue.read() as session:
        row = session.scalar(
            select(Save).where(Save.work_id == work_id, Save.person == person).order_by(Save.save_id.desc()).limit(1)
        )
        return dict(row.form) if row is not None else None
