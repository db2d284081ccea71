"""What every page knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, kw_only=True)
class Page:
    """What every page knows.

    Attributes:
        TEMPLATE: the template's file name.
        KEYS: the page's keys with the words that say what they do; the help of keys lists them.
        here: the name of the page in the navigation.
        message: a line about what was just done; empty for none.
    """

    TEMPLATE: ClassVar[str]
    KEYS: ClassVar[tuple[tuple[str, str], ...]] = ()
    here: str = ""
    message: str = ""


@dataclass(frozen=True, kw_only=True)
class ErrorPage(Page):
    """What went wrong, in one line."""

    TEMPLATE: ClassVar[str] = "error.html"
    status: int
    cause: str


LIST_KEYS = (("j", "key_down"), ("k", "key_up"), ("Enter", "key_open"))
"""Of pages with rows that lead somewhere."""
