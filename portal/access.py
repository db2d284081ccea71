"""Who may open what: one table, one guard, and sessions that forms must prove to belong to."""

from __future__ import annotations

import hmac
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from portal.words import Language
from taxpraben.queue.people import Member, find_session
from taxpraben.queue.states import ROLES
from taxpraben.queue.store import Queue

COOKIE = "taxpraben_session"
LANGUAGE_COOKIE = "taxpraben_language"

EVERYBODY = frozenset(ROLES) | {""}
"""Also who is not signed in; their role is the empty text."""

SIGNED_IN = frozenset(ROLES)
CHECKERS = frozenset({"checker", "expert", "admin"})
EXPERTS = frozenset({"expert", "admin"})
ADMINS = frozenset({"admin"})

ACCESS: dict[str, frozenset[str]] = {
    "home": EVERYBODY,
    "sign_in": EVERYBODY,
    "sign_in_post": EVERYBODY,
    "choose_language": EVERYBODY,
    "board": EVERYBODY,
    "sign_out": SIGNED_IN,
    "my_queue": SIGNED_IN,
    "take": SIGNED_IN,
    "next_piece": SIGNED_IN,
    "item": SIGNED_IN,
    "take_item": SIGNED_IN,
    "autosave": SIGNED_IN,
    "judge": SIGNED_IN,
    "give_back": SIGNED_IN,
    "progress": SIGNED_IN,
    "quality": SIGNED_IN,
    "checks": CHECKERS,
    "draw": CHECKERS,
    "check_item": CHECKERS,
    "check_piece": CHECKERS,
    "close": CHECKERS,
    "reopen": CHECKERS,
    "adopt": EXPERTS,
    "people": ADMINS,
    "add_person": ADMINS,
    "hand_over": ADMINS,
}
"""Route name -> roles. ``create_app`` refuses a route that is not in the table."""


class NeedsSignInError(Exception):
    """Nobody is signed in (any more)."""


class NotAllowedError(Exception):
    """The role may not open this."""


class StaleFormError(Exception):
    """The form does not carry the session's token."""


@dataclass(frozen=True)
class Visitor:
    """Who asks, in which language.

    Attributes:
        member: None where nobody is signed in.
        csrf: the token that forms of this session must carry; empty without a session.
    """

    member: Member | None
    csrf: str
    language: Language

    @property
    def role(self) -> str:
        """The role; empty where nobody is signed in."""
        return self.member.role if self.member is not None else ""

    @property
    def name(self) -> str:
        """The queue's name; empty where nobody is signed in."""
        return self.member.name if self.member is not None else ""


async def guard(request: Request) -> None:
    """Let a request through to its route, or raise why not; leaves the visitor in ``request.state``."""
    queue: Queue = request.app.state.queue
    token = request.cookies.get(COOKIE, "")
    session = await run_in_threadpool(find_session, queue, token) if token else None
    language: Language = "en" if request.cookies.get(LANGUAGE_COOKIE) == "en" else "zh"
    visitor = Visitor(session.member if session else None, session.csrf if session else "", language)
    request.state.visitor = visitor
    allowed = ACCESS[request.scope["route"].name]
    if visitor.role not in allowed:
        raise NeedsSignInError if visitor.member is None else NotAllowedError
    if request.method == "POST" and session is not None:
        given = request.headers.get("X-CSRF-Token") or str((await request.form()).get("csrf", ""))
        if not hmac.compare_digest(given.encode(), session.csrf.encode()):
            raise StaleFormError


def visitor_of(request: Request) -> Visitor:
    """The visitor that ``guard`` found."""
    visitor: Visitor = request.state.visitor
    return visitor


async def form_of(request: Request) -> FormData:
    """The submitted form."""
    return await request.form()


VisitorOf = Annotated[Visitor, Depends(visitor_of)]
FormOf = Annotated[FormData, Depends(form_of)]


def field_of(form: FormData, name: str) -> str:
    """A text field of a form; empty where it is missing or a file."""
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


@dataclass
class Attempts:
    """Counts failed sign-ins by name and by address, so that passwords cannot be guessed at leisure.

    Attributes:
        by_name, by_address: failures allowed within ``seconds``.
        clock: seconds that only grow.
    """

    clock: Callable[[], float]
    by_name: int = 8
    by_address: int = 40
    seconds: float = 600.0
    failures: dict[str, deque[float]] = field(default_factory=lambda: defaultdict(deque))

    def blocked(self, name: str, address: str) -> bool:
        """Whether this name or address has failed too often of late."""
        return self._count(f"name {name}") >= self.by_name or self._count(f"address {address}") >= self.by_address

    def failed(self, name: str, address: str) -> None:
        """Note a failure."""
        if len(self.failures) > 10_000:
            # Whoever tries ten thousand names must not fill the memory; old keys are empty by then.
            for key in [key for key in self.failures if not self._count(key)]:
                del self.failures[key]
        for key in (f"name {name}", f"address {address}"):
            self.failures[key].append(self.clock())

    def succeeded(self, name: str) -> None:
        """Forget a name's failures."""
        self.failures.pop(f"name {name}", None)

    def _count(self, key: str) -> int:
        times = self.failures.get(key)
        if times is None:
            return 0
        while times and times[0] < self.clock() - self.seconds:
            times.popleft()
        return len(times)
