"""People of the queue: names, roles, passwords, sessions. Passwords are kept as argon2 hashes only."""

from __future__ import annotations

import hashlib
import re
import secrets
from dataclasses import dataclass
from functools import cache

from sqlalchemy import delete, func, select
from sqlalchemy.orm import Session as DatabaseSession

from taxpraben.queue.audit import SYSTEM, log
from taxpraben.queue.claims import hand_over
from taxpraben.queue.states import ROLES, NotFoundError, QueueError, Role
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Person, SignIn

SHORTEST_PASSWORD = 8
LONGEST_PASSWORD = 1000
"""Hashing is slow by design; whoever sends a megabyte must not make it slower."""

SESSION_MINUTES = 12 * 60
_NAME = re.compile(r"[\w.-]{1,40}")


@dataclass(frozen=True)
class Member:
    """Somebody who may sign in."""

    name: str
    role: Role
    active: bool


@dataclass(frozen=True)
class Session:
    """An open session: who, and the token that forms must carry."""

    member: Member
    csrf: str


def create_person(queue: Queue, name: str, role: str, password: str, actor: str = "system") -> Member:
    """Add somebody.

    Args:
        queue: the queue.
        name: the queue's name for the person; it stands in released decisions, so choose no personal one.
        role: annotator, checker, expert or admin.
        password: at least eight characters.
        actor: who adds them.

    Raises:
        QueueError: the name is taken or unfit, the role unknown, the password too short.
    """
    must_be_fit(name, role, password)
    hashed = hash_password(password)
    with queue.write() as session:
        return add_person(session, queue.now(), name, role, hashed, actor)


def add_person(session: DatabaseSession, at: str, name: str, role: str, password_hash: str, actor: str) -> Member:
    """``create_person`` within a transaction; an empty hash lets nobody in by password.

    Raises:
        QueueError: the name is taken.
    """
    if session.get(Person, name) is not None:
        raise QueueError(f"The name {name!r} is taken")
    session.add(Person(name=name, role=role, password_hash=password_hash, active=True, created_at=at))
    session.flush()
    log(session, at, actor, "person_added", name=name, role=role)
    return Member(name, role, True)  # type: ignore[arg-type]  # the caller checked it


def set_password(queue: Queue, name: str, password: str, actor: str) -> None:
    """Give somebody a new password and end their sessions.

    Raises:
        NotFoundError: no such person.
        QueueError: the password is too short.
    """
    must_be_fit(name, "annotator", password)
    hashed = hash_password(password)
    with queue.write() as session:
        person = session.get(Person, name)
        if person is None:
            raise NotFoundError(f"Nobody is called {name!r}")
        person.password_hash = hashed
        session.execute(delete(SignIn).where(SignIn.name == name))
        log(session, queue.now(), actor, "password_set", name=name)


def leave(queue: Queue, name: str, to: str | None = None, actor: str = SYSTEM) -> int:
    """End somebody's part: they cannot sign in, their sessions end, and what they hold goes on without them.

    What they submitted stays. A checker may still send some of it back to them; leaving once more frees that too.

    Args:
        queue: the queue.
        name: who leaves.
        to: who takes over what they hold; the whole queue by default.
        actor: who says so.

    Returns:
        How many works changed hands.

    Raises:
        NotFoundError: no such person.
        QueueError: the successor is the same person, or cannot sign in; or the last admin would be gone.
    """
    with queue.write() as session:
        person = session.get(Person, name)
        if person is None:
            raise NotFoundError(f"Nobody is called {name!r}")
        successor = session.get(Person, to) if to is not None else None
        if to is not None and (to == name or successor is None or not successor.active):
            raise QueueError(f"{to!r} cannot take over from {name!r}: it must be somebody else who may sign in")
        if person.active and person.role == "admin":
            must_not_be_the_last_admin(session, name)
        if person.active:
            person.active = False
            log(session, queue.now(), actor, "person_left", name=name, to=to)
        session.execute(delete(SignIn).where(SignIn.name == name))
    # After the sessions have ended, so that nothing is claimed behind it.
    return hand_over(queue, name, to, actor)


def must_not_be_the_last_admin(session: DatabaseSession, name: str) -> None:
    """Refuse what would leave nobody to add people.

    Raises:
        QueueError: no other admin may sign in.
    """
    others = session.scalar(
        select(func.count()).where(Person.role == "admin", Person.active.is_(True), Person.name != name)
    )
    if not others:
        raise QueueError(f"{name!r} is the last admin; make somebody else one first")


def come_back(queue: Queue, name: str, actor: str = SYSTEM) -> Member:
    """Let somebody who left sign in again, with the role and the password they had.

    Raises:
        NotFoundError: no such person.
    """
    with queue.write() as session:
        person = session.get(Person, name)
        if person is None:
            raise NotFoundError(f"Nobody is called {name!r}")
        if not person.active:
            person.active = True
            log(session, queue.now(), actor, "person_came_back", name=name)
        return Member(person.name, person.role, True)  # type: ignore[arg-type]


def must_be_fit(name: str, role: str, password: str | None = None) -> None:
    """Refuse what no account may have.

    Raises:
        QueueError: an unfit name, an unknown role, a short or overlong password.
    """
    if not _NAME.fullmatch(name):
        raise QueueError(f"The name {name!r} is unfit: letters, digits, '.', '_' and '-', at most 40")
    if role not in ROLES:
        raise QueueError(f"Unknown role {role!r}; known: {', '.join(ROLES)}")
    if password is not None and len(password) < SHORTEST_PASSWORD:
        raise QueueError(f"A password needs at least {SHORTEST_PASSWORD} characters")
    if password is not None and len(password) > LONGEST_PASSWORD:
        raise QueueError(f"A password has at most {LONGEST_PASSWORD} characters")


def hash_password(password: str) -> str:
    """The password's argon2 hash; slow by design."""
    from argon2 import PasswordHasher

    return PasswordHasher().hash(password)


@cache
def _nobodys_hash() -> str:
    return hash_password(secrets.token_urlsafe(32))


def people(queue: Queue) -> list[Member]:
    """Everybody, by name."""
    with queue.read() as session:
        rows = session.scalars(select(Person).order_by(Person.name))
        return [Member(row.name, row.role, row.active) for row in rows]  # type: ignore[arg-type]


def verify(queue: Queue, name: str, password: str) -> Member | None:
    """The person of this name and password, or None; an unknown name takes as long as a wrong password."""
    from argon2 import PasswordHasher
    from argon2.exceptions import InvalidHashError, VerificationError

    with queue.read() as session:
        person = session.get(Person, name)
    hashed = person.password_hash if person is not None and person.active else ""
    try:
        # Without a hash of theirs the same work is done on another one.
        PasswordHasher().verify(hashed or _nobodys_hash(), password[:LONGEST_PASSWORD])
    except (VerificationError, InvalidHashError):
        return None
    if person is None or not hashed:
        return None
    return Member(person.name, person.role, person.active)  # type: ignore[arg-type]


def open_session(queue: Queue, name: str) -> str:
    """Sign somebody in; returns the cookie's secret, of which only a hash is kept."""
    token = secrets.token_urlsafe(32)
    with queue.write() as session:
        at = queue.now()
        session.execute(delete(SignIn).where(SignIn.expires_at < at))
        session.add(
            SignIn(
                token_hash=_digest(token),
                name=name,
                csrf=secrets.token_urlsafe(24),
                expires_at=queue.later(SESSION_MINUTES),
            )
        )
        log(session, at, name, "signed_in")
    return token


def find_session(queue: Queue, token: str) -> Session | None:
    """The open session of a cookie; None when it ended or never was."""
    with queue.read() as session:
        row = session.execute(
            select(Person.name, Person.role, SignIn.csrf)
            .join(SignIn, SignIn.name == Person.name)
            .where(SignIn.token_hash == _digest(token), SignIn.expires_at >= queue.now(), Person.active.is_(True))
        ).first()
    return Session(Member(row.name, row.role, True), row.csrf) if row is not None else None


def close_session(queue: Queue, token: str) -> None:
    """Sign out; an unknown token changes nothing."""
    with queue.write() as session:
        session.execute(delete(SignIn).where(SignIn.token_hash == _digest(token)))


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()
