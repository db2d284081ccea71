"""Gold works among the others: settled drafts that measure a person, unseen."""

from __future__ import annotations

import secrets

from sqlalchemy import Select, exists, select
from sqlalchemy.orm import Session

from taxpraben.queue.tables import Entry, GoldDraft, Ruling, Work
from taxpraben.queue.works import GOLD_SLOTS, make_work, new_ids


def mix_in(
    session: Session, person: str, until: str, gold_every: int, count: int, open_works: Select[Work, Entry]
) -> list[Work]:
    """Gold works, claimed, in place of some of ``count`` works: each is gold with the chance 1 / gold_every.

    They belong to the task of the next open work and stand beside it in the list. There is none where nothing is open
    for the person, for then a lone gold item would be told from its being there.

    Args:
        session: a writing session.
        person: who is to be measured; never twice by the same draft, nor by one that they judged.
        until: when their claim ends.
        gold_every: 0 for none.
        count: how many works are asked for.
        open_works: the works that are open for the person, in order.
    """
    if not gold_every:
        return []
    wanted = sum(secrets.randbelow(gold_every) == 0 for _ in range(count))
    neighbours = list(session.execute(open_works.limit(count))) if wanted else []
    if not neighbours:
        return []
    task = neighbours[0][0].task
    known = exists().where(Work.draft_id == Entry.draft_id, Work.person == person)
    entries = list(
        session.scalars(
            select(Entry)
            .join(GoldDraft, GoldDraft.draft_id == Entry.draft_id)
            .join(Ruling, Ruling.draft_id == Entry.draft_id)
            .where(Entry.task == task, Entry.active.is_(True), Entry.state.in_(("accepted", "rejected")), ~known)
            .order_by(Entry.draft_id)
        )
    )
    chance = secrets.SystemRandom()
    drawn = chance.sample(entries, min(wanted, len(entries)))
    beside = [work for work, _ in neighbours if work.task == task]
    works: list[Work] = []
    for work_id, entry in zip(new_ids(session, len(drawn)), drawn, strict=True):
        # A slot at random: two people may get the same gold draft at the same moment.
        work = make_work(work_id, entry, GOLD_SLOTS + secrets.randbelow(2**30), gold=True)
        neighbour = chance.choice(beside)
        work.place, work.batch = neighbour.place, neighbour.batch
        work.state, work.person, work.claimed_until = "claimed", person, until
        works.append(work)
    session.add_all(works)
    session.flush()
    return works
