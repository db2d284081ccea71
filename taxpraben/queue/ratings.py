"""What the raters of prompts agree on, and which prompts are kept (paper, appendix C.5 and Table C22).

The procedure of Table C22: kappa and alpha are computed for each of the three metrics and averaged; a prompt is
retained where the mean over raters and metrics is above 2 (not at it). Alpha is ordinal, for marks have an order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import ClassVar

from sqlalchemy import select

from taxpraben.queue.agreement import Agreement, Level, agreement, averaged
from taxpraben.queue.prompts import METRICS
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Prompt, PromptRating
from taxpraben.records.base import Record, write_jsonl

RETAINED_ABOVE = 2
"""The mean that a retained prompt exceeds."""


@dataclass(frozen=True)
class Mark:
    """One person's three marks on one prompt in one round."""

    prompt_id: str
    person: str
    round: int
    marks: tuple[int, int, int]


class PromptMeans(Record):
    """The means of one prompt, 0 to 3; None without ratings.

    Attributes:
        mean: over all raters and the three metrics.
        retained: whether the mean is above 2; None without ratings.
    """

    NAME: ClassVar[str] = "rated_prompt"
    VERSION: ClassVar[int] = 1
    KEY: ClassVar[tuple[str, ...]] = ("task", "number")

    task: str
    number: int
    prompt_id: str
    text: str
    raters: int
    accuracy: float | None
    naturalness: float | None
    informativeness: float | None
    mean: float | None
    retained: bool | None


@dataclass(frozen=True)
class TaskRatings:
    """The ratings of one task's prompts.

    Attributes:
        round: None for all rounds together.
        accuracy, naturalness, informativeness: agreement of the raters a metric.
        averaged: the mean of the three; this is what Table C22 prints.
        retained: prompts whose mean is above 2, of ``total``.
    """

    task: str
    round: int | None
    prompts: list[PromptMeans]
    accuracy: Agreement
    naturalness: Agreement
    informativeness: Agreement
    averaged: Agreement

    @property
    def total(self) -> int:
        """Prompts of the task."""
        return len(self.prompts)

    @property
    def retained(self) -> int:
        """Prompts whose mean is above 2."""
        return sum(bool(prompt.retained) for prompt in self.prompts)


def metric_tables(marks: Sequence[Mark], people: Sequence[str] = ()) -> list[list[list[int | None]]]:
    """For each metric a table of ratings: a row a prompt and round, a column a person; only of some people if given."""
    columns = sorted(people or {mark.person for mark in marks})
    units = sorted({(mark.round, mark.prompt_id) for mark in marks})
    given = {(mark.round, mark.prompt_id, mark.person): mark.marks for mark in marks}
    tables: list[list[list[int | None]]] = []
    for metric in range(len(METRICS)):
        tables.append(
            [
                [given[(*unit, person)][metric] if (*unit, person) in given else None for person in columns]
                for unit in units
            ]
        )
    return tables


def table_c22(marks: Sequence[Mark], level: Level = "ordinal", people: Sequence[str] = ()) -> list[Agreement]:
    """Agreement on accuracy, naturalness and informativeness, and their average, in that order."""
    figures = [agreement(table, level) for table in metric_tables(marks, people)]
    return [*figures, averaged(figures)]


def rating_summary(
    queue: Queue, task: str | None = None, round_number: int | None = None, level: Level = "ordinal"
) -> list[TaskRatings]:
    """Means, decisions and agreement of every task whose prompts are rated, by task."""
    prompts, marks = _read(queue, task, round_number)
    found: list[TaskRatings] = []
    for name in sorted({prompt.task for prompt in prompts}):
        own = [prompt for prompt in prompts if prompt.task == name]
        ids = {prompt.prompt_id for prompt in own}
        of_task = [mark for mark in marks if mark.prompt_id in ids]
        accuracy, naturalness, informativeness, mean = table_c22(of_task, level)
        found.append(
            TaskRatings(
                task=name,
                round=round_number,
                prompts=[means_of(prompt, of_task) for prompt in own],
                accuracy=accuracy,
                naturalness=naturalness,
                informativeness=informativeness,
                averaged=mean,
            )
        )
    return found


def pair_agreement(queue: Queue, task: str, level: Level = "ordinal") -> dict[tuple[str, str], list[Agreement]]:
    """``table_c22`` for each pair of raters who rated a prompt together."""
    _, marks = _read(queue, task, None)
    by_unit: dict[tuple[int, str], set[str]] = {}
    for mark in marks:
        by_unit.setdefault((mark.round, mark.prompt_id), set()).add(mark.person)
    found: dict[tuple[str, str], list[Agreement]] = {}
    for pair in combinations(sorted({mark.person for mark in marks}), 2):
        shared = {unit for unit, people in by_unit.items() if set(pair) <= people}
        if shared:
            both = [mark for mark in marks if (mark.round, mark.prompt_id) in shared and mark.person in pair]
            found[pair] = table_c22(both, level, pair)
    return found


def means_of(prompt: Prompt, marks: Sequence[Mark]) -> PromptMeans:
    """A prompt's means, exactly: a mean of 2 in truth is not above 2 by a rounding error."""
    own = [mark.marks for mark in marks if mark.prompt_id == prompt.prompt_id]
    means = [Fraction(sum(marks[metric] for marks in own), len(own)) for metric in range(len(METRICS))] if own else []
    mean = sum(means, Fraction()) / len(means) if means else None
    shown = [float(value) for value in means] if means else [None, None, None]
    return PromptMeans(
        prompt_id=prompt.prompt_id,
        task=prompt.task,
        number=prompt.number,
        text=prompt.text,
        raters=len(own),
        accuracy=shown[0],
        naturalness=shown[1],
        informativeness=shown[2],
        mean=float(mean) if mean is not None else None,
        retained=mean > RETAINED_ABOVE if mean is not None else None,
    )


def _read(queue: Queue, task: str | None, round_number: int | None) -> tuple[list[Prompt], list[Mark]]:
    prompts = select(Prompt).where(Prompt.active.is_(True)).order_by(Prompt.task, Prompt.number)
    ratings = (
        select(PromptRating)
        .join(Prompt, Prompt.prompt_id == PromptRating.prompt_id)
        .where(PromptRating.rated_at.is_not(None), Prompt.active.is_(True))
        .order_by(PromptRating.round, PromptRating.prompt_id, PromptRating.person)
    )
    if task:
        prompts, ratings = prompts.where(Prompt.task == task), ratings.where(Prompt.task == task)
    if round_number is not None:
        ratings = ratings.where(PromptRating.round == round_number)
    with queue.read() as session:
        rows = list(session.scalars(ratings))
        marks = [
            Mark(row.prompt_id, row.person, row.round, (row.accuracy, row.naturalness, row.informativeness))
            for row in rows
            if row.accuracy is not None and row.naturalness is not None and row.informativeness is not None
        ]
        return list(session.scalars(prompts)), marks


def write_retained(queue: Queue, folder: Path, task: str | None = None) -> dict[str, tuple[int, int]]:
    """Write ``TASK.yaml`` for each rated task, in the form of a task folder's prompts.yaml, and ``ratings.jsonl``.

    A task folder follows the decision by taking the file over as its prompts.yaml. A task without a retained prompt
    gets no file: its folder needs one prompt at least. Equal ratings give equal bytes.

    Returns:
        By task, how many prompts are retained, and of how many.
    """
    import yaml

    folder.mkdir(parents=True, exist_ok=True)
    written: dict[str, tuple[int, int]] = {}
    rows: list[PromptMeans] = []
    for summary in rating_summary(queue, task):
        written[summary.task] = (summary.retained, summary.total)
        rows += summary.prompts
        kept = [prompt.text for prompt in summary.prompts if prompt.retained]
        if kept:
            body = yaml.safe_dump({"version": 1, "prompts": kept}, allow_unicode=True, sort_keys=False, width=120)
            head = f"# {summary.retained} of {summary.total} prompts, rated above {RETAINED_ABOVE} on the mean.\n"
            (folder / f"{summary.task}.yaml").write_text(head + body, encoding="utf-8")
    rows.sort(key=lambda row: (row.task, row.number))
    write_jsonl(folder / "ratings.jsonl", rows)
    return written
