"""Words about a work, between its annotator and the checkers."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, select

from taxpraben.queue.audit import log
from taxpraben.queue.claims import find_work
from taxpraben.queue.states import QueueError
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Comment as Row

LONGEST = 2000


@dataclass(frozen=True)
class Comment:
    """One comment."""

    comment_id: int
    work_id: int
    draft_id: str
    person: str
    text: str
    at: str


def add_comment(queue: Queue, work_id: int, person: str, text: str) -> Comment:
    """Say something about a work; it is kept for good.

    Raises:
        NotFoundError: no such work.
        QueueError: the text is empty or longer than 2,000 characters.
    """
    said = text.strip()
    if not 0 < len(said) <= LONGEST:
        raise QueueError(f"A comment has 1 to {LONGEST} characters")
    with queue.write() as session:
        at = queue.now()
        work = find_work(session, work_id)
        row = Row(work_id=work_id, draft_id=work.draft_id, person=person, text=said, at=at)
        session.add(row)
        session.flush()
        log(session, at, person, "commented", work, comment=row.comment_id)
        return _shown(row)


def comments(queue: Queue, work_id: int) -> list[Comment]:
    """What was said about this very work, oldest first; all that its annotator may see."""
    return _listed(queue, Row.work_id == work_id)


def draft_comments(queue: Queue, draft_id: str) -> list[Comment]:
    """What was said about all works of a draft, oldest first; for checkers."""
    return _listed(queue, Row.draft_id == draft_id)


def _listed(queue: Queue, where: ColumnElement[bool]) -> list[Comment]:
    with queue.read() as session:
        return [_shown(row) for row in session.scalars(select(Row).where(where).order_by(Row.comment_id))]


def _shown(row: Row) -> Comment:
    return Comment(row.comment_id, row.work_id, row.draft_id, row.person, row.text, row.at)
