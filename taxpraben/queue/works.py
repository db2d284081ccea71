"""Making works. Their numbers are drawn at random: a gold item looks like every other."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from taxpraben.queue.tables import Entry, Work

HIGHEST = 2**31 - 1
GOLD_SLOTS = 1000
"""Slots from here on belong to gold works; no overlap is as large."""


def new_ids(session: Session, count: int) -> list[int]:
    """So many numbers that no work has."""
    found: set[int] = set()
    while len(found) < count:
        drawn = {secrets.randbelow(HIGHEST) + 1 for _ in range(count - len(found))} - found
        # SQLite takes at most some thousand values in one list.
        for start in range(0, len(drawn), 500):
            asked = sorted(drawn)[start : start + 500]
            drawn -= set(session.scalars(select(Work.work_id).where(Work.work_id.in_(asked))))
        found |= drawn
    return list(found)


def make_work(work_id: int, entry: Entry, slot: int, gold: bool = False) -> Work:
    """An open work of an entry."""
    return Work(
        work_id=work_id,
        draft_id=entry.draft_id,
        slot=slot,
        task=entry.task,
        place=entry.place,
        batch=entry.batch,
        gold=gold,
        gold_right=None,
        gold_exact=None,
        state="open",
        person=None,
        claimed_until=None,
        round=0,
        version=0,
        verdict="",
        content=None,
        reason="",
        note="",
        sampled=False,
        check_result="",
        checker="",
        submitted_at="",
    )


def add_works(session: Session, wanted: Sequence[tuple[Entry, int]]) -> None:
    """Add open works: pairs of an entry and a slot."""
    ids = new_ids(session, len(wanted))
    session.add_all([make_work(work_id, entry, slot) for work_id, (entry, slot) in zip(ids, wanted, strict=True)])
