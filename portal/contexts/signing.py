"""Signing in: the form, an invitation, a session that ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from portal.contexts.base import Page
from taxpraben.queue.accounts import Invitation


@dataclass(frozen=True, kw_only=True)
class SignInPage(Page):
    """The sign-in form.

    Attributes:
        onward: where it leads.
        token: proves that the form came from here.
        elsewhere: name of the OpenID Connect provider; empty where there is none.
    """

    TEMPLATE: ClassVar[str] = "sign_in.html"
    onward: str
    token: str
    name: str = ""
    problem: str = ""
    elsewhere: str = ""


@dataclass(frozen=True, kw_only=True)
class InvitationPage(Page):
    """An invitation; None where it has ended. ``secret`` is the link's."""

    TEMPLATE: ClassVar[str] = "invitation.html"
    invitation: Invitation | None
    secret: str
    token: str
    shortest: int
    problem: str = ""
    elsewhere: str = ""


@dataclass(frozen=True, kw_only=True)
class EndedPage(Page):
    """The session ended under a form that was sent: all that was typed, and the way back."""

    TEMPLATE: ClassVar[str] = "ended.html"
    onward: str
    texts: list[tuple[str, str]]
