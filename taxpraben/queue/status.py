"""How far the review is: by task and state, by person."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, select

from taxpraben.queue.claims import expire
from taxpraben.queue.judged import verdict_ratings
from taxpraben.queue.states import FILTERED, FINAL, STATES
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Entry, Person, RoundShare, Work


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
    put_back_ended(queue)
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


def put_back_ended(queue: Queue) -> int:
    """Put works whose claim has ended back in the queue; writes only where there is one. Returns how many."""
    with queue.read() as session:
        ended = session.scalar(
            select(Work.work_id).where(Work.state == "claimed", Work.claimed_until < queue.now()).limit(1)
        )
    if ended is None:
        return 0
    with queue.write() as session:
        return expire(session, queue.now())


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


@dataclass(frozen=True)
class RoundStatus:
    """How far the shares of one round are.

    Attributes:
        people: annotators with work in the round.
        waiting: works handed in and not settled.
        settled: works accepted or rejected.
        accepted, sent_back: shares closed, by their outcome (a share may have been sent back several times).
        drawn, passed: spot checks of the closed shares.
    """

    round: int
    people: int
    waiting: int
    settled: int
    accepted: int
    sent_back: int
    drawn: int
    passed: int


def round_status(queue: Queue) -> list[RoundStatus]:
    """Every round in which something was handed in, by number."""
    with queue.read() as session:
        works = session.execute(
            select(Work.round, Work.person, Work.state, func.count())
            .join(Entry, Entry.draft_id == Work.draft_id)
            .where(Work.round > 0, Work.gold.is_(False), Entry.active.is_(True))
            .group_by(Work.round, Work.person, Work.state)
        ).all()
        shares = list(session.scalars(select(RoundShare).where(RoundShare.passed.is_not(None))))
    found: list[RoundStatus] = []
    for number in sorted({row[0] for row in works} | {share.round for share in shares}):
        own = [row for row in works if row[0] == number]
        closed = [share for share in shares if share.round == number]
        found.append(
            RoundStatus(
                round=number,
                people=len({person for _, person, _, _ in own if person} | {share.person for share in closed}),
                waiting=sum(count for _, _, state, count in own if state not in FINAL),
                settled=sum(count for _, _, state, count in own if state in FINAL),
                accepted=sum(share.accepted for share in closed),
                sent_back=sum(not share.accepted for share in closed),
                drawn=sum(share.drawn for share in closed),
                passed=sum(share.passed or 0 for share in closed),
            )
        )
    return found


__all__ = [
    "PersonStatus",
    "RoundStatus",
    "TaskStatus",
    "people_status",
    "put_back_ended",
    "round_status",
    "task_status",
    "verdict_ratings",
]
