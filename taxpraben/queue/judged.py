"""What several people said of the same drafts, as tables of ratings, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from sqlalchemy import select

from taxpraben.queue.agreement import Agreement, agreement
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Entry, Work


@dataclass(frozen=True)
class Judgement:
    """One person's verdict on one draft."""

    task: str
    round: int
    draft_id: str
    person: str
    verdict: str


@dataclass(frozen=True)
class VerdictAgreement:
    """How far verdicts agree.

    Attributes:
        task: the dataset; empty for all together.
        round: the round in which the judgements were handed in; None for all together.
        pair: two annotators; empty for all together.
    """

    task: str
    round: int | None
    pair: tuple[str, ...]
    figures: Agreement


def judgements(queue: Queue, task: str | None = None, round_number: int | None = None) -> list[Judgement]:
    """Every verdict handed in on a draft that stands in the queue, gold works left out; by draft and slot."""
    query = (
        select(Work.task, Work.round, Work.draft_id, Work.person, Work.verdict)
        .join(Entry, Entry.draft_id == Work.draft_id)
        .where(Entry.active.is_(True), Work.gold.is_(False), Work.verdict != "", Work.person.is_not(None))
        .order_by(Work.place, Work.draft_id, Work.slot)
    )
    if task:
        query = query.where(Work.task == task)
    if round_number is not None:
        query = query.where(Work.round == round_number)
    with queue.read() as session:
        return [
            Judgement(name, number, draft, str(person), verdict)
            for name, number, draft, person, verdict in session.execute(query)
        ]


def as_table(rows: Iterable[Judgement], people: Sequence[str]) -> list[list[str | None]]:
    """One row a draft in order of appearance, one column a person; None where the person did not judge it."""
    column = {person: number for number, person in enumerate(people)}
    table: dict[str, list[str | None]] = {}
    for row in rows:
        if row.person in column:
            table.setdefault(row.draft_id, [None] * len(people))[column[row.person]] = row.verdict
    return list(table.values())


def verdict_ratings(queue: Queue) -> dict[str, list[list[str | None]]]:
    """The verdicts on drafts that several people judged, by task: one row a draft, one column a person."""
    rows = judgements(queue)
    found: dict[str, list[list[str | None]]] = {}
    for task in dict.fromkeys(row.task for row in rows):
        several = _several(row for row in rows if row.task == task)
        if several:
            found[task] = as_table(several, _people(several))
    return found


def _several(rows: Iterable[Judgement]) -> list[Judgement]:
    """The judgements of drafts that at least two people judged."""
    kept = list(rows)
    people: dict[str, set[str]] = {}
    for row in kept:
        people.setdefault(row.draft_id, set()).add(row.person)
    return [row for row in kept if len(people[row.draft_id]) > 1]


def _people(rows: Iterable[Judgement]) -> list[str]:
    return sorted({row.person for row in rows})


def verdict_agreement(queue: Queue, task: str | None = None, round_number: int | None = None) -> list[VerdictAgreement]:
    """Agreement by task, by task and round, and by task and pair of annotators; only where two judged the same draft.

    The rows of one task stand together: the whole first, then its rounds, then its pairs.
    """
    rows = judgements(queue, task, round_number)
    found: list[VerdictAgreement] = []
    for name in dict.fromkeys(row.task for row in rows):
        own = _several(row for row in rows if row.task == name)
        if not own:
            continue
        people = _people(own)
        found.append(VerdictAgreement(name, round_number, (), agreement(as_table(own, people))))
        if round_number is None:
            for number in sorted({row.round for row in own}):
                of_round = _several(row for row in own if row.round == number)
                if of_round:
                    table = as_table(of_round, _people(of_round))
                    found.append(VerdictAgreement(name, number, (), agreement(table)))
        for pair in combinations(people, 2):
            table = [row for row in as_table(own, pair) if None not in row]
            if table:
                found.append(VerdictAgreement(name, round_number, pair, agreement(table)))
    return found
