"""An annotator's pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from portal.contexts.base import LIST_KEYS, Page
from portal.difference import FieldDiff
from portal.forms import Input
from portal.images import PageImage
from taxpraben.queue.audit import Act
from taxpraben.queue.comments import Comment
from taxpraben.queue.pieces import Piece
from taxpraben.queue.share import ShareReport
from taxpraben.queue.status import TaskStatus


@dataclass(frozen=True, kw_only=True)
class QueuePage(Page):
    """A person's own queue. ``tasks`` are those with open work; ``report`` is what became of an uploaded file."""

    TEMPLATE: ClassVar[str] = "queue.html"
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (("n", "take_next"), ("m", "key_take_many"), *LIST_KEYS)
    held: list[Piece]
    handed_in: list[Piece]
    set_aside: list[Piece]
    tasks: list[TaskStatus]
    titles: dict[str, str]
    open_count: int
    hand_off: int
    limit: int
    report: ShareReport | None = None
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class ItemPage(Page):
    """An item to judge.

    Attributes:
        mine: whether the visitor may write in it now.
        takeable: whether it is open and could be taken.
        images: pictures of the book's pages on which it stands.
        inputs: the form.
        draft_texts: the draft as labelled texts.
        changes: what the text in the form, or the submitted one, changed in the draft.
        reject_reasons, skip_reasons: reasons to choose from.
    """

    TEMPLATE: ClassVar[str] = "item.html"
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (
        ("a", "key_accept"),
        ("e", "key_edit"),
        ("s", "submit_fix"),
        ("Ctrl+Enter", "key_submit_anywhere"),
        ("r", "reject"),
        ("k", "skip"),
        ("1 – 9", "key_reason"),
        ("n", "next"),
        ("c", "key_comment"),
        ("o", "key_source"),
        ("h", "history"),
        ("b", "give_back"),
        ("Esc", "key_leave_field"),
    )
    piece: Piece
    title: str
    pieces: list[tuple[str, bool]]
    images: list[PageImage]
    mine: bool
    takeable: bool
    inputs: list[Input]
    draft_texts: list[tuple[str, str]]
    changes: list[FieldDiff]
    history: list[Act]
    comments: list[Comment]
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
