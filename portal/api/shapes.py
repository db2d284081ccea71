"""What the API takes and gives."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from portal.guard import LARGEST_WORK
from taxpraben.queue.excerpt import Excerpt
from taxpraben.records.content import Content

Version = Annotated[int, Field(ge=0, le=LARGEST_WORK)]
Reason = Annotated[str, Field(max_length=1000)]
Mark = Annotated[int, Field(ge=0, le=3)]


class Shape(BaseModel):
    """Unknown names are refused: a misspelt one would change nothing and say nothing."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Problem(BaseModel):
    """Why something was not done.

    Attributes:
        kind: ``error``; ``signed_out``: no valid token; ``conflict``: another save came first, both texts are kept;
            ``late``: the claim had ended, the text is kept.
        problems: the single faults, where there are several.
        version, theirs, by: the current text in a conflict, and whose it is.
    """

    kind: Literal["error", "signed_out", "conflict", "late"]
    message: str
    problems: list[str] = []
    version: int | None = None
    theirs: dict[str, Any] | None = None
    by: str = ""


class Me(BaseModel):
    """Who the token stands for."""

    name: str
    role: str


class Work(BaseModel):
    """A piece of work with its draft; what others made of it only for checkers."""

    work_id: int
    draft_id: str
    task: str
    batch: int
    slot: str
    origin: str
    state: str
    claimed_until: str
    version: int
    round: int
    drafting_error: str
    draft: Content | None
    source: Excerpt
    person: str
    verdict: str
    content: Content | None
    reason: str
    note: str


class Claim(Shape):
    """How much to take, of what."""

    count: Annotated[int, Field(ge=1, le=500)] = 1
    task: Annotated[str, Field(max_length=60)] | None = None
    batch: Annotated[int, Field(ge=1, le=LARGEST_WORK)] | None = None


class Claimed(BaseModel):
    """What was taken, in order; empty where nothing is open."""

    work_ids: list[int]


class Text(Shape):
    """What was typed so far, field by field, and the version that it is based on."""

    version: Version
    form: dict[str, str | list[str]]


class Kept(BaseModel):
    """A text is kept: the version that the next one must name, and the claim's new limit."""

    version: int
    until: str


class Submission(Shape):
    """A judgement. ``content`` belongs to ``fixed``, ``reason`` to ``rejected``."""

    verdict: Literal["accepted", "fixed", "rejected"]
    content: Content | None = None
    reason: Reason = ""
    version: Version | None = None


class Judged(BaseModel):
    """The state of the work now."""

    state: str


class Skipped(Shape):
    """Why an item is set aside."""

    reason: Annotated[str, Field(min_length=1, max_length=1000)]


class Remark(Shape):
    """A comment."""

    text: Annotated[str, Field(min_length=1, max_length=2000)]


class Said(BaseModel):
    """A comment that was made."""

    comment_id: int
    work_id: int
    draft_id: str
    person: str
    text: str
    at: str


class Checked(Shape):
    """A checker's word; a work goes back with a reason."""

    passed: bool
    reason: Reason = ""


class Settlement(Shape):
    """An expert's word on a disputed draft."""

    verdict: Literal["accepted", "fixed", "rejected"]
    content: Content | None = None
    reason: Reason = ""


class Settled(BaseModel):
    """The draft has its decision."""

    draft_id: str
    verdict: str


class Marks(Shape):
    """Marks of a prompt, 0 (strongly disagree) to 3 (strongly agree)."""

    accuracy: Mark
    naturalness: Mark
    informativeness: Mark
    note: Annotated[str, Field(max_length=2000)] = ""
    round: Annotated[int, Field(ge=1, le=LARGEST_WORK)] | None = None


class Rated(BaseModel):
    """A prompt's marks are kept."""

    prompt_id: str


class Questions(BaseModel):
    """A prompt to rate. ``rating`` is null until it is rated; ``closed`` freezes it."""

    prompt_id: str
    task: str
    number: int
    text: str
    round: int
    rating: dict[str, int | str] | None
    closed: bool


class TaskProgress(BaseModel):
    """One dataset: drafts by state."""

    task: str
    needed: int
    settled: int
    filtered: int
    failed: int
    states: dict[str, int]


class BatchProgress(BaseModel):
    """One batch of a dataset."""

    task: str
    batch: int
    needed: int
    settled: int


class RoundProgress(BaseModel):
    """One round: shares and spot checks."""

    round: int
    people: int
    waiting: int
    settled: int
    accepted: int
    sent_back: int
    drawn: int
    passed: int


class Progress(BaseModel):
    """How far the review is."""

    tasks: list[TaskProgress]
    batches: list[BatchProgress]
    rounds: list[RoundProgress]


class Figures(BaseModel):
    """How far people agree on something; null where a figure is undefined, ``note`` says why."""

    task: str
    round: int | None
    pair: list[str]
    metric: str
    units: int
    raters: int
    kappa: float | None
    alpha: float | None
    percent: float | None
    note: str


class RowFate(BaseModel):
    """What became of a row of a file."""

    row: int
    draft_id: str
    message: str


class Report(BaseModel):
    """What became of a file, rows by fate; with ``problems`` nothing was taken."""

    taken: list[RowFate]
    unchanged: list[RowFate]
    empty: list[RowFate]
    conflicts: list[RowFate]
    late: list[RowFate]
    problems: list[RowFate]


WHY = {
    400: "The queue refuses it",
    401: "No valid token",
    403: "The role or the token's scope is not enough",
    404: "No such thing, or not yours to see",
    409: "Not in this state: somebody else's, settled, late, or another save came first",
    411: "A request with a body needs its length",
    413: "Too large",
    422: "The request does not have the asked form, or breaks the task's rules",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": words} for status, words in WHY.items()
}
"""Every operation may answer with one of these."""
