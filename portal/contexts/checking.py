"""The checker's and the expert's pages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from portal.contexts.base import LIST_KEYS, Page
from portal.difference import FieldDiff
from portal.forms import Input
from portal.images import PageImage
from taxpraben.queue.audit import Act
from taxpraben.queue.comments import Comment
from taxpraben.queue.pieces import OpenShare, Piece
from taxpraben.queue.policy import Policy


@dataclass(frozen=True, kw_only=True)
class ChecksPage(Page):
    """The checker's page: shares, drawn works, disputes, skipped works."""

    TEMPLATE: ClassVar[str] = "checks.html"
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (("d", "draw"), *LIST_KEYS)
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

    Attributes:
        judgements: each work with its reason and what it changed in the draft.
        adoptable: works whose judgement the visitor may make the decision.
        inputs: the form of a third version; empty where the visitor may not settle.
    """

    TEMPLATE: ClassVar[str] = "check_item.html"
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (
        ("p", "pass"),
        ("r", "return"),
        ("1 – 9", "key_adopt"),
        ("e", "third_version"),
        ("c", "key_comment"),
        ("o", "key_source"),
        ("h", "history"),
        ("n", "back"),
        ("Esc", "key_leave_field"),
    )
    piece: Piece
    title: str
    pieces: list[tuple[str, bool]]
    images: list[PageImage]
    draft_texts: list[tuple[str, str]]
    judgements: list[tuple[Piece, list[FieldDiff]]]
    history: list[Act]
    comments: list[Comment]
    may_check: bool
    adoptable: list[int]
    inputs: list[Input]
    reject_reasons: list[str]
    problem: str = ""
