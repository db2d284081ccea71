"""The rating of prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from portal.contexts.base import LIST_KEYS, Page
from taxpraben.queue.prompts import Questionnaire


@dataclass(frozen=True, kw_only=True)
class RatingsPage(Page):
    """The visitor's questionnaires, by task. ``following`` is the first that waits; empty where none does."""

    TEMPLATE: ClassVar[str] = "ratings.html"
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (("n", "rate_next"), *LIST_KEYS)
    tasks: list[tuple[str, list[Questionnaire]]]
    titles: dict[str, str]
    waiting: int
    following: str


@dataclass(frozen=True, kw_only=True)
class RatePage(Page):
    """One questionnaire. ``place`` of ``total`` counts the visitor's of this task and round, from 1."""

    TEMPLATE: ClassVar[str] = "rate.html"
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = (
        ("0 – 3", "key_mark"),
        ("↑ ↓", "key_metric"),
        ("Enter", "key_rate"),
        ("c", "key_note"),
        ("n", "key_rate_back"),
        ("Esc", "key_leave_field"),
    )
    questionnaire: Questionnaire
    title: str
    place: int
    total: int
    metrics: tuple[str, ...]
    marks: tuple[int, ...]
    given: dict[str, int | None]
    note: str
    problem: str = ""
