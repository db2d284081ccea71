"""One typed context a template: what a page knows, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from portal.difference import FieldDiff
from portal.forms import Input
from taxpraben.board import Board, BoardTable
from taxpraben.queue.agreement import Agreement
from taxpraben.queue.audit import Act
from taxpraben.queue.people import Member
from taxpraben.queue.pieces import OpenShare, Piece
from taxpraben.queue.policy import Policy
from taxpraben.queue.status import PersonStatus, TaskStatus
from taxpraben.records.check import BorderReport


@dataclass(frozen=True, kw_only=True)
class Page:
    """What every page knows.

    Attributes:
        TEMPLATE: the template's file name.
        here: the name of the page in the navigation.
        message: a line about what was just done; empty for none.
    """

    TEMPLATE: ClassVar[str]
    here: str = ""
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class SignInPage(Page):
    """The sign-in form. ``onward`` is where it leads."""

    TEMPLATE: ClassVar[str] = "sign_in.html"
    onward: str
    token: str
    name: str = ""
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class EndedPage(Page):
    """The session ended under a form that was sent: all that was typed, and the way back."""

    TEMPLATE: ClassVar[str] = "ended.html"
    onward: str
    texts: list[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class ErrorPage(Page):
    """What went wrong, in one line."""

    TEMPLATE: ClassVar[str] = "error.html"
    status: int
    cause: str


@dataclass(frozen=True, kw_only=True)
class QueuePage(Page):
    """A person's own queue. ``tasks`` are those with open work."""

    TEMPLATE: ClassVar[str] = "queue.html"
    held: list[Piece]
    handed_in: list[Piece]
    set_aside: list[Piece]
    tasks: list[TaskStatus]
    titles: dict[str, str]
    open_count: int
    hand_off: int
    limit: int


@dataclass(frozen=True, kw_only=True)
class ItemPage(Page):
    """An item to judge.

    Attributes:
        mine: whether the visitor may write in it now.
        takeable: whether it is open and could be taken.
        inputs: the form.
        draft_texts: the draft as labelled texts.
        changes: what the text in the form, or the submitted one, changed in the draft.
        reject_reasons, skip_reasons: reasons to choose from.
    """

    TEMPLATE: ClassVar[str] = "item.html"
    piece: Piece
    title: str
    pieces: list[tuple[str, bool]]
    mine: bool
    takeable: bool
    inputs: list[Input]
    draft_texts: list[tuple[str, str]]
    changes: list[FieldDiff]
    history: list[Act]
    problem: str = ""
    reject_reasons: list[str]
    skip_reasons: list[str]


@dataclass(frozen=True, kw_only=True)
class ConflictPage(Page):
    """Two texts of one item, field by field. ``mine`` are the form values to go on with."""

    TEMPLATE: ClassVar[str] = "conflict.html"
    piece: Piece
    by: str
    yours: list[tuple[str, str]]
    theirs: list[tuple[str, str]]
    mine: list[tuple[str, str]]
    version: int


@dataclass(frozen=True, kw_only=True)
class ChecksPage(Page):
    """The checker's page: shares, drawn works, disputes, skipped works."""

    TEMPLATE: ClassVar[str] = "checks.html"
    policy: Policy
    shares: list[OpenShare]
    to_check: list[Piece]
    disputes: list[list[Piece]]
    skipped: list[Piece]
    titles: dict[str, str]
    may_settle: bool


@dataclass(frozen=True, kw_only=True)
class CheckItemPage(Page):
    """One submitted work before its checker, or one dispute before an expert (then there are several judgements).

    ``adoptable`` holds the works whose judgement the visitor may make the decision.
    """

    TEMPLATE: ClassVar[str] = "check_item.html"
    piece: Piece
    title: str
    pieces: list[tuple[str, bool]]
    draft_texts: list[tuple[str, str]]
    judgements: list[tuple[Piece, list[FieldDiff]]]
    history: list[Act]
    may_check: bool
    adoptable: list[int]


@dataclass(frozen=True, kw_only=True)
class ProgressPage(Page):
    """How far the review is. ``agreement`` holds the verdicts' agreement a task, where two or more judged."""

    TEMPLATE: ClassVar[str] = "progress.html"
    tasks: list[TaskStatus]
    titles: dict[str, str]
    people: list[PersonStatus]
    agreement: list[tuple[str, Agreement]]
    states: list[str]
    needed: int
    settled: int
    filtered: int


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


@dataclass(frozen=True, kw_only=True)
class PeoplePage(Page):
    """Who may sign in."""

    TEMPLATE: ClassVar[str] = "people.html"
    people: list[Member]
    held: dict[str, int]
    roles: list[str]
    problem: str = ""
    name: str = ""
    role: str = field(default="annotator")


PAGES: tuple[type[Page], ...] = (
    SignInPage,
    EndedPage,
    ErrorPage,
    QueuePage,
    ItemPage,
    ConflictPage,
    ChecksPage,
    CheckItemPage,
    ProgressPage,
    BoardPage,
    QualityPage,
    PeoplePage,
)
