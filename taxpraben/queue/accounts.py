"""Ways in beside a password: invitations, tokens for the API, accounts elsewhere; and limits on trying.

Of every secret only a SHA-256 hash is kept: they are 256 random bits, so a slow hash would add nothing.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy import Select, delete, select
from sqlalchemy.orm import Session

from taxpraben.queue.audit import log
from taxpraben.queue.people import Member, add_person, hash_password, must_be_fit, must_not_be_the_last_admin
from taxpraben.queue.states import ROLES, NotFoundError, QueueError
from taxpraben.queue.store import Queue, stamp
from taxpraben.queue.tables import ApiToken as TokenRow
from taxpraben.queue.tables import Identity as IdentityRow
from taxpraben.queue.tables import Invitation as InvitationRow
from taxpraben.queue.tables import Person, SignIn

SCOPES = ("read", "write")
TOKEN_PREFIX = "tpb_"  # noqa: S105 (lets scanners recognise a leaked token; no secret)


@dataclass(frozen=True)
class Invitation:
    """An open invitation."""

    token_id: str
    name: str
    role: str
    created_by: str
    created_at: str
    expires_at: str


@dataclass(frozen=True)
class ApiToken:
    """A key to the API, without its secret. ``last_used_at`` is empty before the first use."""

    token_id: str
    name: str
    label: str
    scope: str
    created_at: str
    expires_at: str
    last_used_at: str


@dataclass(frozen=True)
class ApiVisitor:
    """Who asks with a token, and what the token allows: ``read`` or ``write`` (which reads too)."""

    member: Member
    scope: str
    token_id: str


@dataclass(frozen=True)
class Identity:
    """An account elsewhere that signs somebody in."""

    issuer: str
    subject: str
    name: str
    email: str
    linked_at: str


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _in_hours(queue: Queue, hours: float) -> str:
    return stamp(queue.clock() + timedelta(hours=hours))


# --- invitations


def invite(queue: Queue, name: str, role: str, actor: str, hours: float = 72) -> str:
    """Invite somebody; returns the secret of the link, which is shown once. An older invitation of the name ends.

    Raises:
        QueueError: the name is taken or unfit, or the role unknown.
    """
    must_be_fit(name, role)
    token = secrets.token_urlsafe(32)
    with queue.write() as session:
        at = queue.now()
        if session.get(Person, name) is not None:
            raise QueueError(f"The name {name!r} is taken")
        for row in session.scalars(_open_invitations(at).where(InvitationRow.name == name)):
            row.revoked_at = at
        session.add(
            InvitationRow(
                token_id=secrets.token_hex(8),
                token_hash=_digest(token),
                name=name,
                role=role,
                created_by=actor,
                created_at=at,
                expires_at=_in_hours(queue, hours),
                used_at=None,
                revoked_at=None,
            )
        )
        log(session, at, actor, "invited", name=name, role=role)
    return token


def _open_invitations(at: str) -> Select[InvitationRow]:
    return select(InvitationRow).where(
        InvitationRow.used_at.is_(None), InvitationRow.revoked_at.is_(None), InvitationRow.expires_at >= at
    )


def _invitation(row: InvitationRow) -> Invitation:
    return Invitation(row.token_id, row.name, row.role, row.created_by, row.created_at, row.expires_at)


def find_invitation(queue: Queue, token: str) -> Invitation | None:
    """The open invitation of a link; None where it is unknown, used, revoked or past its time."""
    with queue.read() as session:
        row = session.scalar(_open_invitations(queue.now()).where(InvitationRow.token_hash == _digest(token)))
        return _invitation(row) if row is not None else None


def invitations(queue: Queue) -> list[Invitation]:
    """The open invitations, newest first."""
    with queue.read() as session:
        rows = session.scalars(_open_invitations(queue.now()).order_by(InvitationRow.created_at.desc()))
        return [_invitation(row) for row in rows]


def revoke_invitation(queue: Queue, token_id: str, actor: str) -> None:
    """End an invitation.

    Raises:
        NotFoundError: none is open under this number.
    """
    with queue.write() as session:
        at = queue.now()
        row = session.scalar(_open_invitations(at).where(InvitationRow.token_id == token_id))
        if row is None:
            raise NotFoundError("No such open invitation")
        row.revoked_at = at
        log(session, at, actor, "invitation_revoked", name=row.name)


def accept_invitation(queue: Queue, token: str, password: str) -> Member:
    """Take an invitation up with a password; it works once.

    Raises:
        NotFoundError: it is unknown, used, revoked or past its time.
        QueueError: the password is too short, or the name was taken meanwhile.
    """
    invited = find_invitation(queue, token)
    if invited is None:
        raise NotFoundError("This invitation has ended; ask for another one")
    must_be_fit(invited.name, invited.role, password)
    hashed = hash_password(password)
    with queue.write() as session:
        return _take_up(queue, session, token, hashed)


def accept_invitation_by_identity(queue: Queue, token: str, issuer: str, subject: str, email: str) -> Member:
    """Take an invitation up with an account elsewhere: no password, and the account signs in from now on.

    Raises:
        NotFoundError: it is unknown, used, revoked or past its time.
        QueueError: the account belongs to somebody already, or the name was taken meanwhile.
    """
    with queue.write() as session:
        member = _take_up(queue, session, token, "")
        _link(queue, session, issuer, subject, member.name, email, member.name)
        return member


def _take_up(queue: Queue, session: Session, token: str, password_hash: str) -> Member:
    at = queue.now()
    row = session.scalar(_open_invitations(at).where(InvitationRow.token_hash == _digest(token)).with_for_update())
    if row is None:
        raise NotFoundError("This invitation has ended; ask for another one")
    member = add_person(session, at, row.name, row.role, password_hash, row.created_by)
    row.used_at = at
    log(session, at, row.name, "invitation_used", name=row.name)
    return member


# --- tokens for the API


def make_api_token(queue: Queue, name: str, label: str, scope: str, actor: str, days: float = 90) -> str:
    """Make somebody a key to the API; returns the secret, which is shown once.

    Raises:
        NotFoundError: nobody of this name may sign in.
        QueueError: an unknown scope, a label that is empty or too long, or days out of range.
    """
    if scope not in SCOPES:
        raise QueueError(f"Unknown scope {scope!r}; known: {', '.join(SCOPES)}")
    if not 0 < len(label.strip()) <= 80:
        raise QueueError("A token needs a label of 1 to 80 characters, to be told from others")
    if not 0 < days <= 366:
        raise QueueError("A token holds for 1 to 366 days")
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    with queue.write() as session:
        at = queue.now()
        person = session.get(Person, name)
        if person is None or not person.active:
            raise NotFoundError(f"Nobody called {name!r} may sign in")
        row = TokenRow(
            token_id=secrets.token_hex(8),
            token_hash=_digest(secret),
            name=name,
            label=label.strip(),
            scope=scope,
            created_at=at,
            expires_at=_in_hours(queue, days * 24),
            last_used_at=None,
            revoked_at=None,
        )
        session.add(row)
        log(session, at, actor, "token_made", name=name, token=row.token_id, scope=scope)
    return secret


def find_api_token(queue: Queue, secret: str) -> ApiVisitor | None:
    """Who asks with this key; None where it is unknown, revoked, past its time, or its owner left."""
    at = queue.now()
    with queue.read() as session:
        found = session.execute(
            select(TokenRow, Person)
            .join(Person, Person.name == TokenRow.name)
            .where(TokenRow.token_hash == _digest(secret), TokenRow.revoked_at.is_(None))
            .where(TokenRow.expires_at >= at, Person.active.is_(True))
        ).first()
    if found is None:
        return None
    row, person = found
    # Noted once a minute: a write with every request would cost more than it tells.
    if row.last_used_at is None or row.last_used_at < stamp(queue.clock() - timedelta(minutes=1)):
        with queue.write() as session:
            used = session.get(TokenRow, row.token_id)
            if used is not None:
                used.last_used_at = at
    return ApiVisitor(Member(person.name, person.role, True), row.scope, row.token_id)  # type: ignore[arg-type]


def api_tokens(queue: Queue, name: str | None = None) -> list[ApiToken]:
    """Tokens that are not revoked, of one person or of all; newest first."""
    query = select(TokenRow).where(TokenRow.revoked_at.is_(None)).order_by(TokenRow.created_at.desc())
    if name is not None:
        query = query.where(TokenRow.name == name)
    with queue.read() as session:
        return [
            ApiToken(
                row.token_id, row.name, row.label, row.scope, row.created_at, row.expires_at, row.last_used_at or ""
            )
            for row in session.scalars(query)
        ]


def revoke_api_token(queue: Queue, token_id: str, actor: str, name: str | None = None) -> None:
    """End a token; of one person only, where ``name`` is given.

    Raises:
        NotFoundError: no such token (of this person).
    """
    with queue.write() as session:
        row = session.get(TokenRow, token_id)
        if row is None or row.revoked_at is not None or (name is not None and row.name != name):
            raise NotFoundError("No such token")
        row.revoked_at = queue.now()
        log(session, queue.now(), actor, "token_revoked", name=row.name, token=token_id)


# --- accounts elsewhere


def link_identity(queue: Queue, issuer: str, subject: str, name: str, email: str, actor: str) -> None:
    """Let an account elsewhere sign somebody in; linking it again changes nothing.

    Raises:
        NotFoundError: nobody of this name may sign in.
        QueueError: the account signs in somebody else.
    """
    with queue.write() as session:
        _link(queue, session, issuer, subject, name, email, actor)


def _link(queue: Queue, session: Session, issuer: str, subject: str, name: str, email: str, actor: str) -> None:
    at = queue.now()
    person = session.get(Person, name)
    if person is None or not person.active:
        raise NotFoundError(f"Nobody called {name!r} may sign in")
    row = session.get(IdentityRow, (issuer, subject))
    if row is not None:
        if row.name != name:
            raise QueueError("This account signs in somebody else already")
        return
    session.add(IdentityRow(issuer=issuer, subject=subject, name=name, email=email, linked_at=at))
    log(session, at, actor, "identity_linked", name=name, issuer=issuer)


def find_identity(queue: Queue, issuer: str, subject: str) -> Member | None:
    """Whom an account elsewhere signs in; None where it is not linked or its owner left."""
    with queue.read() as session:
        person = session.scalar(
            select(Person)
            .join(IdentityRow, IdentityRow.name == Person.name)
            .where(IdentityRow.issuer == issuer, IdentityRow.subject == subject, Person.active.is_(True))
        )
        return Member(person.name, person.role, True) if person is not None else None  # type: ignore[arg-type]


def identities(queue: Queue, name: str) -> list[Identity]:
    """The accounts elsewhere that sign somebody in, by issuer."""
    with queue.read() as session:
        rows = session.scalars(
            select(IdentityRow).where(IdentityRow.name == name).order_by(IdentityRow.issuer, IdentityRow.subject)
        )
        return [Identity(row.issuer, row.subject, row.name, row.email, row.linked_at) for row in rows]


# --- roles and sessions


def set_role(queue: Queue, name: str, role: str, actor: str) -> Member:
    """Give somebody another role; it holds at once, in open sessions too.

    Raises:
        NotFoundError: no such person.
        QueueError: an unknown role, or the last admin would be gone.
    """
    if role not in ROLES:
        raise QueueError(f"Unknown role {role!r}; known: {', '.join(ROLES)}")
    with queue.write() as session:
        person = session.scalar(select(Person).where(Person.name == name).with_for_update())
        if person is None:
            raise NotFoundError(f"Nobody is called {name!r}")
        if person.role == "admin" and role != "admin":
            must_not_be_the_last_admin(session, name)
        if person.role != role:
            log(session, queue.now(), actor, "role_set", name=name, role=role, before=person.role)
            person.role = role
        return Member(person.name, role, person.active)


def end_sessions(queue: Queue, name: str, actor: str) -> int:
    """End all open sessions of a person; returns how many."""
    with queue.write() as session:
        ended = list(session.scalars(delete(SignIn).where(SignIn.name == name).returning(SignIn.token_hash)))
        if ended:
            log(session, queue.now(), actor, "sessions_ended", name=name)
        return len(ended)
