"""The rating of prompts: twenty a dataset, marked by several people from 0 to 3 on three metrics (appendix C.5)."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from taxpraben.queue.audit import log
from taxpraben.queue.policy import read_policy
from taxpraben.queue.states import FrozenError, NotFoundError, NotYoursError, QueueError
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Person, Prompt, PromptRating, PromptRound

METRICS = ("accuracy", "naturalness", "informativeness")
"""ACC, NAT and INF of Table C18."""

MARKS = (0, 1, 2, 3)
"""Strongly disagree, disagree, agree, strongly agree."""

PROMPTS_A_TASK = 20
PROMPTS_A_PERSON = 5


@dataclass(frozen=True)
class Rating:
    """One person's marks on one prompt, 0 to 3 each."""

    accuracy: int
    naturalness: int
    informativeness: int
    note: str


@dataclass(frozen=True)
class Questionnaire:
    """A prompt that a person is to rate. ``rating`` is None until it is filled in; ``closed`` freezes it."""

    prompt_id: str
    task: str
    number: int
    text: str
    round: int
    rating: Rating | None
    closed: bool


def prompt_id_of(task: str, text: str) -> str:
    """A prompt's id, which follows from its task and text."""
    return f"{task}-{hashlib.sha256(f'{task}|{text}'.encode()).hexdigest()[:12]}"


def add_prompts(queue: Queue, task: str, texts: Sequence[str], actor: str, limit: int = PROMPTS_A_TASK) -> list[str]:
    """Add prompts of a task to be rated; those that are there already stay as they are.

    Returns:
        The ids, in the order given.

    Raises:
        QueueError: a text is empty or given twice, or the task would have more than ``limit``.
    """
    clean = [text.strip() for text in texts]
    if not all(clean):
        raise QueueError(f"{task}: prompt {clean.index('') + 1} is empty")
    twice = [text for text, count in Counter(clean).items() if count > 1]
    if twice:
        raise QueueError(f"{task}: the prompt {twice[0][:30]!r} is given twice")
    with queue.write() as session:
        at = queue.now()
        present = {row.prompt_id: row for row in session.scalars(select(Prompt).where(Prompt.task == task))}
        ids = [prompt_id_of(task, text) for text in clean]
        new = [(each, text) for each, text in zip(ids, clean, strict=True) if each not in present]
        active = sum(row.active for row in present.values())
        if active + len(new) > limit:
            raise QueueError(f"{task} has {active} prompts to rate; {len(new)} more would be over {limit}")
        number = max((row.number for row in present.values()), default=0)
        for each, text in new:
            number += 1
            session.add(
                Prompt(prompt_id=each, task=task, number=number, text=text, active=True, added_by=actor, added_at=at)
            )
        if new:
            log(session, at, actor, "prompts_added", task=task, prompts=[each for each, _ in new])
    return ids


def assign_prompts(
    queue: Queue,
    task: str,
    people: Sequence[str],
    actor: str,
    per_person: int = PROMPTS_A_PERSON,
    round_number: int | None = None,
) -> dict[str, list[str]]:
    """Hand a task's prompts out for rating, so many to each person, none twice to anybody over all rounds.

    Who has rated least so far gets the prompt that was handed out least in this round; the seed settles the rest, so
    the same people in the same state get the same prompts. Every prompt gets the same number of raters where people
    times prompts a person is a multiple of the number of prompts; kappa needs that.

    Args:
        queue: the queue.
        task: the task.
        people: who rates; queue names.
        actor: who hands out.
        per_person: prompts a person in this round.
        round_number: the round; by default the open one, or the next where all are closed.

    Returns:
        By person the prompts of this round, in the order in which they are shown.

    Raises:
        QueueError: no prompts, the round is closed, or somebody may not sign in.
    """
    with queue.write() as session:
        at = queue.now()
        number = round_number or _round_to_fill(session, task)
        _open_round(session, task, number, read_policy(session).seed)
        prompts = list(
            session.scalars(
                select(Prompt.prompt_id).where(Prompt.task == task, Prompt.active.is_(True)).order_by(Prompt.number)
            )
        )
        if not prompts:
            raise QueueError(f"{task} has no prompts to rate; add them with `taxpraben review prompts add`")
        for person in people:
            known = session.get(Person, person)
            if known is None or not known.active:
                raise QueueError(f"Nobody called {person!r} may sign in")
        seed = session.get_one(PromptRound, (task, number)).seed
        chance = random.Random(f"{seed}/{'/'.join(sorted(people))}")  # noqa: S311  # a draw, no secret
        order = {each: place for place, each in enumerate(chance.sample(prompts, len(prompts)))}
        given: dict[str, set[str]] = {person: set() for person in people}
        in_round: Counter[str] = Counter()
        own_now: Counter[str] = Counter()
        for row in session.scalars(select(PromptRating).where(PromptRating.prompt_id.in_(prompts))):
            given.setdefault(row.person, set()).add(row.prompt_id)
            if row.round == number:
                in_round[row.prompt_id] += 1
                own_now[row.person] += 1
        for _ in range(per_person):
            for person in sorted(people):
                free = [each for each in prompts if each not in given[person]]
                if own_now[person] >= per_person or not free:
                    continue
                chosen = min(free, key=lambda each: (in_round[each], order[each]))
                given[person].add(chosen)
                in_round[chosen] += 1
                own_now[person] += 1
                session.add(PromptRating(prompt_id=chosen, person=person, round=number, note=""))
        log(session, at, actor, "prompts_assigned", task=task, round=number, people=sorted(people), seed=seed)
        session.flush()
        return {person: [row.prompt_id for row in _own(session, person, number, task)] for person in people}


def _round_to_fill(session: Session, task: str) -> int:
    rounds = list(session.scalars(select(PromptRound).where(PromptRound.task == task).order_by(PromptRound.round)))
    still_open = [row.round for row in rounds if row.closed_at is None]
    return still_open[0] if still_open else max((row.round for row in rounds), default=0) + 1


def _open_round(session: Session, task: str, number: int, seed: int) -> None:
    row = session.get(PromptRound, (task, number))
    if row is None:
        session.add(PromptRound(task=task, round=number, seed=f"{seed}/prompts/{task}/{number}", closed_at=None))
        session.flush()
    elif row.closed_at is not None:
        raise QueueError(f"Round {number} of {task}'s prompts is closed; open the next one")


def _own(session: Session, person: str, number: int, task: str) -> list[PromptRating]:
    rows = session.scalars(
        select(PromptRating)
        .join(Prompt, Prompt.prompt_id == PromptRating.prompt_id)
        .where(PromptRating.person == person, PromptRating.round == number, Prompt.task == task)
    )
    # Everybody sees the prompts in an order of their own, so that tiredness does not always hit the same ones.
    return sorted(rows, key=lambda row: hashlib.sha256(f"{person}|{row.prompt_id}".encode()).hexdigest())


def my_prompts(queue: Queue, person: str, round_number: int | None = None) -> list[Questionnaire]:
    """What a person is to rate or has rated, by task and round, in the person's own order."""
    query = (
        select(PromptRating, Prompt, PromptRound.closed_at)
        .join(Prompt, Prompt.prompt_id == PromptRating.prompt_id)
        .join(PromptRound, (PromptRound.task == Prompt.task) & (PromptRound.round == PromptRating.round))
        .where(PromptRating.person == person)
    )
    if round_number is not None:
        query = query.where(PromptRating.round == round_number)
    with queue.read() as session:
        rows = [(rating, prompt, closed) for rating, prompt, closed in session.execute(query)]
    rows.sort(
        key=lambda row: (
            row[1].task,
            row[0].round,
            hashlib.sha256(f"{person}|{row[0].prompt_id}".encode()).hexdigest(),
        )
    )
    return [
        Questionnaire(
            prompt.prompt_id, prompt.task, prompt.number, prompt.text, rating.round, _rating(rating), closed is not None
        )
        for rating, prompt, closed in rows
    ]


def _rating(row: PromptRating) -> Rating | None:
    if row.accuracy is None or row.naturalness is None or row.informativeness is None:
        return None
    return Rating(row.accuracy, row.naturalness, row.informativeness, row.note)


def rate_prompt(
    queue: Queue,
    prompt_id: str,
    person: str,
    accuracy: int,
    naturalness: int,
    informativeness: int,
    note: str = "",
    round_number: int | None = None,
) -> None:
    """Fill in a questionnaire, or change it while its round is open.

    Args:
        queue: the queue.
        prompt_id: the prompt.
        person: who rates; it must have been handed to them.
        accuracy: 0 to 3; does the response meet the target, without error or bias.
        naturalness: 0 to 3; is it fluent and natural.
        informativeness: 0 to 3; does it hold the key information.
        note: a remark.
        round_number: the round; the latest in which the person has this prompt by default.

    Raises:
        QueueError: a mark is not 0, 1, 2 or 3.
        NotYoursError: the prompt was not handed to this person.
        FrozenError: the round is closed.
    """
    marks = (accuracy, naturalness, informativeness)
    if any(mark not in MARKS for mark in marks):
        raise QueueError("Every metric has a mark from 0 (strongly disagree) to 3 (strongly agree)")
    if len(note) > 2000:
        raise QueueError("A note has at most 2000 characters")
    with queue.write() as session:
        at = queue.now()
        query = select(PromptRating).where(PromptRating.prompt_id == prompt_id, PromptRating.person == person)
        if round_number is not None:
            query = query.where(PromptRating.round == round_number)
        row = session.scalar(query.order_by(PromptRating.round.desc()).limit(1))
        if row is None:
            raise NotYoursError(f"Prompt {prompt_id} was not handed to {person} for rating")
        task = session.get_one(Prompt, prompt_id).task
        closed = session.scalar(
            select(PromptRound.closed_at).where(PromptRound.task == task, PromptRound.round == row.round)
        )
        if closed is not None:
            raise FrozenError(f"Round {row.round} of {task}'s prompts is closed; its ratings stay as they are")
        row.accuracy, row.naturalness, row.informativeness = marks
        row.note, row.rated_at = note.strip(), at
        log(session, at, person, "prompt_rated", prompt=prompt_id, round=row.round, marks=list(marks))


def close_rating_round(queue: Queue, task: str, actor: str) -> int:
    """Close a task's open round: its ratings are frozen, and the next one may be handed out. Returns its number.

    Raises:
        NotFoundError: no round is open.
        QueueError: questionnaires wait to be filled in.
    """
    with queue.write() as session:
        at = queue.now()
        row = session.scalar(
            select(PromptRound)
            .where(PromptRound.task == task, PromptRound.closed_at.is_(None))
            .order_by(PromptRound.round)
            .limit(1)
        )
        if row is None:
            raise NotFoundError(f"No round of {task}'s prompts is open")
        waiting = session.scalar(
            select(func.count())
            .select_from(PromptRating)
            .join(Prompt, Prompt.prompt_id == PromptRating.prompt_id)
            .where(Prompt.task == task, PromptRating.round == row.round, PromptRating.rated_at.is_(None))
        )
        if waiting:
            raise QueueError(f"{waiting} questionnaires of round {row.round} of {task} wait to be filled in")
        row.closed_at = at
        log(session, at, actor, "prompt_round_closed", task=task, round=row.round)
        return row.round
