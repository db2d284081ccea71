"""People, settings, and the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from portal.contexts.base import Page
from taxpraben.queue.accounts import ApiToken, Identity, Invitation
from taxpraben.queue.audit import AuditPage
from taxpraben.queue.people import Member


@dataclass(frozen=True, kw_only=True)
class PeoplePage(Page):
    """Who may sign in, and who is invited. ``link`` is the address of a new invitation, shown once."""

    TEMPLATE: ClassVar[str] = "people.html"
    people: list[Member]
    held: dict[str, int]
    invited: list[Invitation]
    roles: list[str]
    link: str = ""
    problem: str = ""
    name: str = ""
    role: str = "annotator"
    elsewhere: str = ""


@dataclass(frozen=True, kw_only=True)
class RuleRow:
    """One rule of the review, with its range. ``held`` says whether people set it."""

    key: str
    value: str
    least: str
    most: str
    whole: bool
    held: bool


@dataclass(frozen=True, kw_only=True)
class SettingsPage(Page):
    """A person's own settings, and the review's for admins.

    Attributes:
        tokens: the person's; an admin sees everybody's.
        secret: a new token, shown once.
        rules: empty for who may not change them.
    """

    TEMPLATE: ClassVar[str] = "settings.html"
    themes: tuple[str, ...]
    tokens: list[ApiToken]
    secret: str = ""
    identities: list[Identity]
    elsewhere: str
    rules: list[RuleRow]
    problem: str = ""


@dataclass(frozen=True, kw_only=True)
class LogPage(Page):
    """The audit log, newest first."""

    TEMPLATE: ClassVar[str] = "log.html"
    page: AuditPage
    actor: str
    act: str
    draft_id: str
