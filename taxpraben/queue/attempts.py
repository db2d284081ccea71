"""Limits on trying to sign in, counted in the database so that they hold over all processes of the portal."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, func, select

from taxpraben.queue.store import Queue, stamp
from taxpraben.queue.tables import SignInAttempt


def _subjects(name: str, address: str) -> tuple[str, str]:
    return f"name {name[:100]}", f"address {address[:100]}"


def note_attempt(queue: Queue, name: str, address: str, succeeded: bool) -> None:
    """Note how a sign-in ended. A success forgets the name's failures, not the address's."""
    by_name, by_address = _subjects(name, address)
    with queue.write() as session:
        at = queue.now()
        if succeeded:
            session.execute(delete(SignInAttempt).where(SignInAttempt.subject == by_name))
            return
        session.execute(delete(SignInAttempt).where(SignInAttempt.at < stamp(queue.clock() - timedelta(days=1))))
        session.add_all([SignInAttempt(subject=by_name, at=at), SignInAttempt(subject=by_address, at=at)])


def blocked(
    queue: Queue, name: str, address: str, by_name: int = 8, by_address: int = 40, minutes: float = 10
) -> float:
    """How many minutes this name or address has to wait after failing too often; 0 where it may try.

    Counted in the database, so the limit holds over all processes of the portal.
    """
    since = stamp(queue.clock() - timedelta(minutes=minutes))
    with queue.read() as session:
        for subject, most in zip(_subjects(name, address), (by_name, by_address), strict=True):
            count, first = session.execute(
                select(func.count(), func.min(SignInAttempt.at)).where(
                    SignInAttempt.subject == subject, SignInAttempt.at >= since
                )
            ).one()
            if count >= most:
                return max(0.1, minutes - _minutes_since(queue, first))
    return 0.0


def _minutes_since(queue: Queue, at: str) -> float:
    return (queue.clock() - datetime.fromisoformat(at)).total_seconds() / 60
