"""Lets a request through to its route, or says why not; and what routes ask of a request that was let through."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends, Path, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from portal.access import ACCESS, Rule
from portal.forms import clean
from portal.words import Language, say
from taxpraben.queue.accounts import find_api_token
from taxpraben.queue.people import Member, find_session
from taxpraben.queue.store import Queue

COOKIE = "taxpraben_session"
LANGUAGE_COOKIE = "taxpraben_language"
THEME_COOKIE = "taxpraben_theme"
HINTS_COOKIE = "taxpraben_hints"

Theme = Literal["auto", "light", "dark"]
THEMES: tuple[Theme, ...] = ("auto", "light", "dark")

LARGEST_WORK = 2**31 - 1


class NeedsSignInError(Exception):
    """Nobody is signed in (any more)."""


class NotAllowedError(Exception):
    """The role, or the token's scope, may not open this."""


class StaleFormError(Exception):
    """The form does not carry the session's token."""


@dataclass(frozen=True)
class Visitor:
    """Who asks, and how they like the pages.

    Attributes:
        member: None where nobody is signed in.
        csrf: the token that forms of this session must carry; empty without a session.
        hints: whether buttons show their keys.
    """

    member: Member | None
    csrf: str
    language: Language
    theme: Theme = "auto"
    hints: bool = True

    @property
    def role(self) -> str:
        """The role; empty where nobody is signed in."""
        return self.member.role if self.member is not None else ""

    @property
    def name(self) -> str:
        """The queue's name; empty where nobody is signed in."""
        return self.member.name if self.member is not None else ""

    def say(self, key: str, **values: object) -> str:
        """The words of a key in the visitor's language."""
        return say(self.language, key, **values)


async def guard(request: Request) -> None:
    """Find out who asks and raise where they may not; leaves the visitor in ``request.state``.

    Raises:
        NeedsSignInError: who is signed in may open this, and nobody is.
        NotAllowedError: the role or the token's scope is not enough.
        StaleFormError: a form without the token of its session.
    """
    rule = ACCESS[request.scope["route"].name]
    if rule.by == "token":
        await _guard_token(request, rule)
        return
    queue: Queue = request.app.state.queue
    cookie = request.cookies.get(COOKIE, "")
    session = await run_in_threadpool(find_session, queue, cookie) if cookie else None
    visitor = visitor_without_session(request)
    if session is not None:
        visitor = Visitor(session.member, session.csrf, visitor.language, visitor.theme, visitor.hints)
    request.state.visitor = visitor
    if visitor.role not in rule.roles:
        raise NeedsSignInError if visitor.member is None else NotAllowedError
    if request.method == "POST" and session is not None:
        given = request.headers.get("X-CSRF-Token") or str((await request.form()).get("csrf", ""))
        if not hmac.compare_digest(given.encode(errors="replace"), session.csrf.encode()):
            raise StaleFormError


async def _guard_token(request: Request, rule: Rule) -> None:
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    found = None
    if kind.lower() == "bearer" and secret:
        found = await run_in_threadpool(find_api_token, request.app.state.queue, secret.strip())
    if found is None:
        raise NeedsSignInError
    # The API speaks English; pages are for reading.
    request.state.visitor = Visitor(found.member, "", "en")
    if found.member.role not in rule.roles or (rule.scope == "write" and found.scope != "write"):
        raise NotAllowedError


def visitor_without_session(request: Request) -> Visitor:
    """Somebody of whom only the cookies of taste are known."""
    language: Language = "en" if request.cookies.get(LANGUAGE_COOKIE) == "en" else "zh"
    chosen = request.cookies.get(THEME_COOKIE, "auto")
    theme: Theme = next((each for each in THEMES if each == chosen), "auto")
    return Visitor(None, "", language, theme, request.cookies.get(HINTS_COOKIE) != "off")


async def visitor_of(request: Request) -> Visitor:
    """The visitor that ``guard`` found."""
    visitor: Visitor = request.state.visitor
    return visitor


async def form_of(request: Request) -> FormData:
    """The submitted form, without characters that no database keeps."""
    form = await request.form()
    return FormData([(name, clean(value) if isinstance(value, str) else value) for name, value in form.multi_items()])


def texts_of(form: FormData) -> list[tuple[str, str]]:
    """The text fields of a form; files are left out."""
    return [(name, value) for name, value in form.multi_items() if isinstance(value, str)]


def field_of(form: FormData, name: str) -> str:
    """A text field of a form; empty where it is missing or a file."""
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


def number_of(form: FormData, name: str, otherwise: int = 0) -> int:
    """A whole number of a form that fits a database; ``otherwise`` where it is none."""
    value = field_of(form, name)
    return int(value) if value.isascii() and value.isdigit() and len(value) < 10 else otherwise


def file_of(form: FormData, name: str) -> tuple[str, bytes]:
    """Name and content of an uploaded file; both empty where there is none."""
    value = form.get(name)
    return (value.filename or "", value.file.read()) if isinstance(value, UploadFile) else ("", b"")


def wants_json(request: Request) -> bool:
    """Whether a script asks, and not a browser for a page."""
    return "application/json" in request.headers.get("accept", "")


def queue_of(request: Request) -> Queue:
    """The open queue."""
    queue: Queue = request.app.state.queue
    return queue


VisitorOf = Annotated[Visitor, Depends(visitor_of)]
FormOf = Annotated[FormData, Depends(form_of)]
WorkId = Annotated[int, Path(ge=1, le=LARGEST_WORK)]
