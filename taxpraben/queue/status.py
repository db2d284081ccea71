"""How far the review is: by task and state, by person."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select

from taxpraben.queue.claims import expire
from taxpraben.queue.states import FILTERED, FINAL, STATES
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Entry, Person, Work


@dataclass(frozen=True)
class TaskStatus:
    """Counts of one task's drafts.

    Attributes:
        states: number of drafts in each state, every state named.
        filtered: drafts off topic, which need no person.
        failed: drafts whose drafting failed, among the states: to be fixed or rejected.
    """

    task: str
    states: dict[str, int]
    filtered: int
    failed: int

    @property
    def needed(self) -> int:
        """Drafts that need a person."""
        return sum(self.states.values())

    @property
    def settled(self) -> int:
        """Drafts accepted or rejected."""
        return sum(self.states[state] for state in FINAL)

    @property
    def waiting(self) -> int:
        """Drafts that still wait for people; skipped ones wait too."""
        return self.needed - self.settled


@dataclass(frozen=True)
class PersonStatus:
    """Counts of one person's works, by state."""

    name: str
    role: str
    states: dict[str, int]


def task_status(queue: Queue) -> list[TaskStatus]:
    """Counts by task, in the order in which tasks are handed out. Claims that ended are put back first."""
    with queue.write() as session:
        expire(session, queue.now())
    with queue.read() as session:
        rows = session.execute(
            select(Entry.task, Entry.state, Entry.draft_status, func.count(), func.min(Entry.place))
            .where(Entry.active.is_(True))
            .group_by(Entry.task, Entry.state, Entry.draft_status)
        ).all()
    first: dict[str, int] = {}
    for task, _, _, _, place in rows:
        first[task] = min(place, first.get(task, place))
    found: list[TaskStatus] = []
    for task in sorted(first, key=lambda name: (first[name], name)):
        states: dict[str, int] = dict.fromkeys(STATES, 0)
        filtered = failed = 0
        for name, state, draft_status, count, _ in rows:
            if name != task:
                continue
            if state == FILTERED:
                filtered += count
                continue
            states[state] += count
            failed += count if draft_status == "failed" else 0
        found.append(TaskStatus(task, states, filtered, failed))
    return found


def people_status(queue: Queue) -> list[PersonStatus]:
    """Counts by person, by name; people without work are there with zeros, and who left only while they hold some."""
    with queue.read() as session:
        people = list(session.scalars(select(Person).order_by(Person.name)))
        rows = session.execute(
            select(Work.person, Work.state, func.count())
            .join(Entry, Entry.draft_id == Work.draft_id)
            .where(Work.person.is_not(None), Entry.active.is_(True))
            .group_by(Work.person, Work.state)
        ).all()
    counts = {(name, state): count for name, state, count in rows}
    return [
        PersonStatus(person.name, person.role, {state: counts.get((person.name, state), 0) for state in STATES})
        for person in people
        if person.active or counts.get((person.name, "claimed")) or counts.get((person.name, "returned"))
    ]


def verdict_ratings(queue: Queue) -> dict[str, list[list[str | None]]]:
    """The verdicts on drafts that several people judged, by task: one row a draft, one column a judgement."""
    with queue.read() as session:
        rows = session.execute(
            select(Work.task, Work.draft_id, Work.slot, Work.verdict)
            .join(Entry, Entry.draft_id == Work.draft_id)
            .where(Entry.active.is_(True))
            .order_by(Work.place, Work.draft_id, Work.slot)
        ).all()
    judged: dict[str, dict[str, list[str | None]]] = {}
    for task, draft_id, _, verdict in rows:
        judged.setdefault(task, {}).setdefault(draft_id, []).append(verdict or None)
    ratings: dict[str, list[list[str | None]]] = {}
    for task, drafts in judged.items():
        several = [row for row in drafts.values() if sum(verdict is not None for verdict in row) > 1]
        if several:
            widest = max(len(row) for row in several)
            ratings[task] = [row + [None] * (widest - len(row)) for row in several]
    return ratings
