"""Gold items: settled drafts with a known answer, mixed in unseen; who finds the answers again, and how often.

A gold item has one decision, as every settled draft has, and so becomes one item of a release however many people are
measured by it. Their works are scored on the first submission and end as the works around them do.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from sqlalchemy import Integer, cast, func, select

from taxpraben.queue.audit import log
from taxpraben.queue.rulings import decide_by_expert, ruled
from taxpraben.queue.states import FILTERED, NotFoundError, QueueError, Verdict
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Entry, GoldDraft, Ruling, Work
from taxpraben.records.content import Content


@dataclass(frozen=True)
class Gold:
    """A gold item. ``judged`` counts the people who were measured by it."""

    draft_id: str
    task: str
    verdict: str
    judged: int


@dataclass(frozen=True)
class GoldScore:
    """How one person fared on gold items.

    Attributes:
        judged: gold items handed in.
        right: with the known verdict.
        exact: with the known content too.
    """

    name: str
    judged: int
    right: int
    exact: int

    @property
    def share(self) -> float | None:
        """Share of the known verdicts, 0 to 1; None before anything was handed in."""
        return self.right / self.judged if self.judged else None


def add_gold(
    queue: Queue,
    draft_id: str,
    actor: str,
    verdict: Verdict | None = None,
    content: Content | None = None,
    reason: str = "",
) -> None:
    """Make a draft a gold item: its decision is the known answer.

    Args:
        queue: the queue.
        draft_id: the draft.
        actor: an expert or admin.
        verdict: the known answer of a draft that nobody has begun, which becomes its decision; None takes the decision
            that stands.
        content: of a fix.
        reason: of a rejection.

    Raises:
        NotFoundError: no such draft.
        QueueError: it is filtered, somebody is at it, it is settled and an answer was given, or it is not and none was.
    """
    with queue.write() as session:
        at = queue.now()
        entry = session.get(Entry, draft_id)
        if entry is None or not entry.active:
            raise NotFoundError(f"No draft {draft_id!r} in the queue")
        if entry.state == FILTERED:
            raise QueueError(f"Draft {draft_id} was filtered out; it is judged by nobody")
        decided = session.get(Ruling, draft_id) is not None
        if decided and verdict is not None:
            raise QueueError(f"Draft {draft_id} is settled: its decision is the known answer; give none")
        if not decided and verdict is None:
            raise QueueError(f"Draft {draft_id} is not settled; say what the right verdict is")
        if not decided and verdict is not None:
            if entry.state != "open":
                raise QueueError(f"Draft {draft_id} is {entry.state}: somebody is at it")
            known, final = ruled(entry, verdict, content, reason)
            decide_by_expert(session, at, entry, known, final, reason, actor)
        if session.get(GoldDraft, draft_id) is None:
            session.add(GoldDraft(draft_id=draft_id, added_by=actor, added_at=at))
            log(session, at, actor, "gold_added", entry)


def draw_gold(queue: Queue, task: str, count: int, seed: int, actor: str) -> list[str]:
    """Make some settled drafts of a task gold, drawn by seed among those that a person decided; returns their ids.

    Raises:
        QueueError: there are fewer to draw from.
    """
    with queue.write() as session:
        at = queue.now()
        rows = session.execute(
            select(Entry.draft_id, Ruling.annotator)
            .join(Ruling, Ruling.draft_id == Entry.draft_id)
            .outerjoin(GoldDraft, GoldDraft.draft_id == Entry.draft_id)
            .where(Entry.task == task, Entry.active.is_(True), GoldDraft.draft_id.is_(None))
            .order_by(Entry.draft_id)
        )
        known = [draft_id for draft_id, annotator in rows if not annotator.startswith("rule:")]
        if len(known) < count:
            raise QueueError(f"{task}: {len(known)} drafts are settled by people and not gold yet; {count} were asked")
        drawn = sorted(random.Random(f"{seed}/gold/{task}").sample(known, count))  # noqa: S311  # a draw, no secret
        for draft_id in drawn:
            session.add(GoldDraft(draft_id=draft_id, added_by=actor, added_at=at))
            log(session, at, actor, "gold_added", session.get_one(Entry, draft_id), seed=seed)
    return drawn


def remove_gold(queue: Queue, draft_id: str, actor: str) -> None:
    """Hand a gold item out no more; its scores stay.

    Raises:
        NotFoundError: it is none.
    """
    with queue.write() as session:
        row = session.get(GoldDraft, draft_id)
        if row is None:
            raise NotFoundError(f"Draft {draft_id!r} is no gold item")
        session.delete(row)
        log(session, queue.now(), actor, "gold_removed", session.get_one(Entry, draft_id))


def gold_drafts(queue: Queue) -> list[Gold]:
    """The gold items, by task and draft id. For experts and admins: whoever is measured must not see them."""
    with queue.read() as session:
        judged = dict(
            session.execute(
                select(Work.draft_id, func.count())
                .where(Work.gold.is_(True), Work.gold_right.is_not(None))
                .group_by(Work.draft_id)
            ).all()
        )
        rows = session.execute(
            select(Entry.draft_id, Entry.task, Ruling.verdict)
            .join(GoldDraft, GoldDraft.draft_id == Entry.draft_id)
            .join(Ruling, Ruling.draft_id == Entry.draft_id)
            .order_by(Entry.task, Entry.draft_id)
        )
        return [Gold(draft_id, task, verdict, judged.get(draft_id, 0)) for draft_id, task, verdict in rows]


def gold_scores(queue: Queue) -> list[GoldScore]:
    """How everybody fared on gold items, by name; who judged none is left out. For checkers and above."""
    with queue.read() as session:
        rows = session.execute(
            select(
                Work.person,
                func.count(),
                func.sum(cast(Work.gold_right, Integer)),
                func.sum(cast(Work.gold_exact, Integer)),
            )
            .where(Work.gold.is_(True), Work.gold_right.is_not(None), Work.person.is_not(None))
            .group_by(Work.person)
            .order_by(Work.person)
        )
        return [GoldScore(str(name), count, int(right), int(exact)) for name, count, right, exact in rows]
