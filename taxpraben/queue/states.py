"""States of a piece of work, roles of people, and what can go wrong between them."""

from __future__ import annotations

import re
from typing import Literal

from sqlalchemy.exc import DontWrapMixin

State = Literal["open", "claimed", "submitted", "checked", "accepted", "returned", "rejected", "skipped"]
"""Of a piece of work: open; claimed by one person until a time; submitted; checked by another; accepted and frozen;
returned to the same person with a reason; rejected; skipped with a reason (not complete)."""

STATES: tuple[State, ...] = (
    "open",
    "claimed",
    "submitted",
    "checked",
    "accepted",
    "returned",
    "rejected",
    "skipped",
)
FINAL: tuple[State, ...] = ("accepted", "rejected")

FILTERED = "filtered"
"""Shown in place of a state for a draft that a filter step found off topic: it needs no person."""

Role = Literal["annotator", "checker", "expert", "admin"]
ROLES: tuple[Role, ...] = ("annotator", "checker", "expert", "admin")

Verdict = Literal["accepted", "fixed", "rejected"]


class QueueError(ValueError):
    """A request that the queue refuses; the message says why and what to do."""


class UnkeptTextError(QueueError, DontWrapMixin):
    """A text that no database keeps as it is."""


_UNKEPT = re.compile("[\0\ud800-\udfff]")


def kept(text: str) -> str:
    """The text.

    Raises:
        UnkeptTextError: it has NUL or half a character.
    """
    if _UNKEPT.search(text):
        raise UnkeptTextError("A text holds NUL or half a character, which cannot be kept; take it out")
    return text


class NotFoundError(QueueError):
    """No such piece of work, draft or person."""


class NotYoursError(QueueError):
    """The work belongs to somebody else, or to nobody."""


class FrozenError(QueueError):
    """The draft is settled; what was accepted or rejected is not edited."""
