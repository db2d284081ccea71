"""Pages to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from portal.contexts.base import Page
from taxpraben.board import Board, BoardTable
from taxpraben.queue.agreement import Agreement
from taxpraben.queue.batches import BatchStatus
from taxpraben.queue.gold import GoldScore
from taxpraben.queue.judged import VerdictAgreement
from taxpraben.queue.ratings import TaskRatings
from taxpraben.queue.status import PersonStatus, RoundStatus, TaskStatus
from taxpraben.records.check import BorderReport


@dataclass(frozen=True, kw_only=True)
class ProgressPage(Page):
    """How far the review is, by dataset, batch, round and person. ``batches`` are those of tasks with several."""

    TEMPLATE: ClassVar[str] = "progress.html"
    tasks: list[TaskStatus]
    batches: list[BatchStatus]
    rounds: list[RoundStatus]
    titles: dict[str, str]
    people: list[PersonStatus]
    states: list[str]
    needed: int
    settled: int
    filtered: int


@dataclass(frozen=True, kw_only=True)
class AgreementPage(Page):
    """How far people agree.

    Attributes:
        verdicts: of judgements on drafts, by task, round and pair.
        ratings: of the rating of prompts, by task; with the figures a metric.
        pairs: of raters, by task, with accuracy, naturalness, informativeness and their mean.
        gold: how people did on gold items.
    """

    TEMPLATE: ClassVar[str] = "agreement.html"
    verdicts: list[VerdictAgreement]
    ratings: list[TaskRatings]
    pairs: list[tuple[str, tuple[str, str], Agreement]]
    gold: list[GoldScore]
    titles: dict[str, str]


@dataclass(frozen=True, kw_only=True)
class BoardPage(Page):
    """The leaderboard. ``table`` is the chosen one; None where there are no standings."""

    TEMPLATE: ClassVar[str] = "board.html"
    board: Board
    table: BoardTable | None
    view: str
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class QualityPage(Page):
    """What was checked at the borders of the pipeline. ``problems`` are reports that cannot be read."""

    TEMPLATE: ClassVar[str] = "quality.html"
    reports: list[BorderReport]
    problems: list[str]
