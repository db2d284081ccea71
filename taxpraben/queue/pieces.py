"""A piece of work as a page shows it, and lists of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, and_, or_, select
from sqlalchemy.orm import Session

from taxpraben.queue.excerpt import Excerpt
from taxpraben.queue.states import NotFoundError
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Entry, RoundShare, Work
from taxpraben.records.content import Content


@dataclass(frozen=True)
class Piece:
    """One work with its draft.

    Attributes:
        draft: the drafted content; None where drafting failed (``error`` says why).
        verdict, content, reason: what was submitted; empty before.
        note: why it was returned or skipped.
        waits_for_check: whether a checker has yet to rule on it.
    """

    work_id: int
    draft_id: str
    task: str
    state: str
    person: str
    claimed_until: str
    version: int
    round: int
    origin: str
    slot: str
    method: str
    error: str
    draft: Content | None
    digest: str
    excerpt: Excerpt
    verdict: str
    content: Content | None
    reason: str
    note: str
    checker: str
    waits_for_check: bool
    batch: int
    document_id: str


def open_piece(queue: Queue, work_id: int) -> Piece:
    """The work of this id.

    Raises:
        NotFoundError: no such work.
    """
    with queue.read() as session:
        found = session.execute(_pieces().where(Work.work_id == work_id)).first()
        if found is None:
            raise NotFoundError(f"No work {work_id} in the queue")
        return _as_piece(*found)


def pieces_of(queue: Queue, person: str, states: Sequence[str], limit: int = 200) -> list[Piece]:
    """A person's works in some states, in the order of the drafts."""
    with queue.read() as session:
        rows = session.execute(
            _pieces()
            .where(Work.person == person, Work.state.in_(states), Entry.active.is_(True))
            .order_by(Work.place, Work.slot)
            .limit(limit)
        )
        return [_as_piece(*row) for row in rows]


def pieces_in_state(queue: Queue, state: str, limit: int = 200) -> list[Piece]:
    """Everybody's works in a state, in the order of the drafts."""
    with queue.read() as session:
        rows = session.execute(
            _pieces().where(Work.state == state, Entry.active.is_(True)).order_by(Work.place, Work.slot).limit(limit)
        )
        return [_as_piece(*row) for row in rows]


def pieces_to_check(queue: Queue, checker: str) -> list[Piece]:
    """Drawn works that wait for a checker, and failed ones that came back mended; never the checker's own."""
    with queue.read() as session:
        rows = session.execute(
            _pieces()
            .where(Work.state == "submitted", Entry.active.is_(True), Work.person != checker, _awaits_check())
            .order_by(Work.round, Work.person, Work.place)
        )
        return [_as_piece(*row) for row in rows]


def disputed_drafts(queue: Queue) -> list[list[Piece]]:
    """Drafts whose judgements are all in and differ, each with its works: an expert settles them."""
    with queue.read() as session:
        waiting = _by_draft(session)
        return [works for works in waiting if len({(piece.verdict, _digest(piece.content)) for piece in works}) > 1]


def _by_draft(session: Session) -> list[list[Piece]]:
    rows = session.execute(
        _pieces()
        .where(Entry.active.is_(True), Entry.state.in_(("submitted", "checked")))
        .order_by(Work.place, Work.slot)
    )
    grouped: dict[str, list[Piece]] = {}
    for row in rows:
        piece = _as_piece(*row)
        grouped.setdefault(piece.draft_id, []).append(piece)
    return list(grouped.values())


def _digest(content: Content | None) -> str:
    return content.digest if content is not None else ""


def _awaits_check() -> ColumnElement[bool]:
    return or_(and_(Work.sampled.is_(True), Work.check_result == ""), Work.check_result == "failed")


def _pieces() -> Select[Work, Entry]:
    return select(Work, Entry).join(Entry, Entry.draft_id == Work.draft_id)


def _as_piece(work: Work, entry: Entry) -> Piece:
    return Piece(
        work_id=work.work_id,
        draft_id=entry.draft_id,
        task=entry.task,
        state=work.state,
        person=work.person or "",
        claimed_until=work.claimed_until or "",
        version=work.version,
        round=work.round,
        origin=entry.origin,
        slot=entry.slot,
        method=entry.method,
        error=entry.error,
        draft=Content.model_validate(entry.content) if entry.content is not None else None,
        digest=entry.digest,
        excerpt=Excerpt.model_validate(entry.excerpt),
        verdict=work.verdict,
        content=Content.model_validate(work.content) if work.content is not None else None,
        reason=work.reason,
        note=work.note,
        checker=work.checker,
        waits_for_check=work.state == "submitted"
        and ((work.sampled and not work.check_result) or work.check_result == "failed"),
        batch=work.batch,
        document_id=entry.document_id,
    )


@dataclass(frozen=True)
class OpenShare:
    """An annotator's share of a round whose spot checks are drawn and not counted yet."""

    person: str
    round: int
    attempt: int
    drawn: int
    waiting: int


def open_shares(queue: Queue) -> list[OpenShare]:
    """Shares that wait for spot checks or for being closed, by round and person."""
    with queue.read() as session:
        shares = session.scalars(
            select(RoundShare).where(RoundShare.passed.is_(None)).order_by(RoundShare.round, RoundShare.person)
        )
        found: list[OpenShare] = []
        for share in shares:
            waiting = session.scalars(
                select(Work.work_id).where(
                    Work.round == share.round,
                    Work.person == share.person,
                    Work.sampled.is_(True),
                    Work.state == "submitted",
                    Work.check_result == "",
                )
            )
            found.append(OpenShare(share.person, share.round, share.attempt, share.drawn, len(list(waiting))))
        return found
