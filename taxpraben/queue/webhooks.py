"""Webhooks: events sent to addresses of other systems, signed, tried again with growing pauses, outside of any request.

Headers and signature follow the Standard Webhooks specification: ``webhook-id`` (the event's id, the same at every
attempt), ``webhook-timestamp`` (Unix seconds) and ``webhook-signature`` (``v1,`` and the base64 HMAC-SHA256 of
``ID.TIMESTAMP.BODY``). The body is ``{"type": …, "timestamp": …, "data": …}``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from sqlalchemy import Select, select, update

from taxpraben.queue.audit import log
from taxpraben.queue.events import EVENTS
from taxpraben.queue.states import NotFoundError, QueueError
from taxpraben.queue.store import Queue, stamp
from taxpraben.queue.tables import Delivery as DeliveryRow
from taxpraben.queue.tables import OutboxEvent
from taxpraben.queue.tables import Webhook as WebhookRow

FIRST_PAUSE_SECONDS = 30
PAUSE_GROWS = 3
ATTEMPTS = 8
"""Attempts before an event is given up: after half a minute, one and a half, … some nine hours in all."""

LEASE_SECONDS = 60
"""How long a process has for one delivery before another may take it up."""

ANSWER_SECONDS = 10
SHORTEST_SECRET = 16
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,79}")

Send = Callable[[str, bytes, dict[str, str]], int]
"""Posts a body with headers to an address and gives the status; raises OSError where there is no answer."""


@dataclass(frozen=True)
class Webhook:
    """An address that hears of events. ``ready`` tells whether its secret stands in the environment here."""

    webhook_id: int
    url: str
    events: tuple[str, ...]
    secret_env: str
    ready: bool


@dataclass(frozen=True)
class Delivery:
    """One event on its way to one address; ``state`` is waiting, delivered or failed (given up)."""

    delivery_id: int
    webhook_id: int
    url: str
    event_id: str
    event: str
    attempts: int
    state: str
    next_at: str
    last_error: str
    delivered_at: str


def add_webhook(queue: Queue, url: str, events: Sequence[str], secret_env: str, actor: str) -> int:
    """Send events to an address from now on; returns the webhook's number.

    Args:
        queue: the queue.
        url: http or https, without a name or password in it.
        events: names of events, some of ``events.EVENTS``.
        secret_env: the environment variable, of the process that delivers, that holds the secret (``whsec_BASE64`` or
            any text of 16 characters or more). The secret itself is kept nowhere.
        actor: who says so.

    Raises:
        QueueError: the address, an event or the variable's name is unfit.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
        raise QueueError("A webhook's address begins with http:// or https:// and holds no name or password")
    unknown = [name for name in events if name not in EVENTS]
    if unknown or not events:
        raise QueueError(f"Unknown event {unknown[0]!r}; known: {', '.join(EVENTS)}" if unknown else "Name an event")
    if not _VARIABLE.fullmatch(secret_env):
        raise QueueError("The secret's variable is named in capitals, digits and _, as TAXPRABEN_WEBHOOK_SECRET is")
    with queue.write() as session:
        at = queue.now()
        row = WebhookRow(
            url=url, events=sorted(set(events)), secret_env=secret_env, active=True, created_by=actor, created_at=at
        )
        session.add(row)
        session.flush()
        log(session, at, actor, "webhook_added", webhook=row.webhook_id, url=url, events=row.events)
        return row.webhook_id


def webhooks(queue: Queue) -> list[Webhook]:
    """The addresses that hear of events, oldest first."""
    with queue.read() as session:
        rows = session.scalars(select(WebhookRow).where(WebhookRow.active.is_(True)).order_by(WebhookRow.webhook_id))
        return [
            Webhook(row.webhook_id, row.url, tuple(row.events), row.secret_env, bool(os.environ.get(row.secret_env)))
            for row in rows
        ]


def remove_webhook(queue: Queue, webhook_id: int, actor: str) -> None:
    """Send nothing more to an address; what waits for it is given up.

    Raises:
        NotFoundError: no such webhook.
    """
    with queue.write() as session:
        row = session.get(WebhookRow, webhook_id)
        if row is None or not row.active:
            raise NotFoundError(f"No webhook {webhook_id}")
        row.active = False
        session.execute(
            update(DeliveryRow)
            .where(DeliveryRow.webhook_id == webhook_id, DeliveryRow.state == "waiting")
            .values(state="failed", last_error="the webhook was removed")
        )
        log(session, queue.now(), actor, "webhook_removed", webhook=webhook_id, url=row.url)


def deliveries(queue: Queue, limit: int = 100) -> list[Delivery]:
    """The latest deliveries, newest first."""
    with queue.read() as session:
        rows = session.execute(
            select(DeliveryRow, WebhookRow.url, OutboxEvent.name)
            .join(WebhookRow, WebhookRow.webhook_id == DeliveryRow.webhook_id)
            .join(OutboxEvent, OutboxEvent.event_id == DeliveryRow.event_id)
            .order_by(DeliveryRow.delivery_id.desc())
            .limit(limit)
        )
        return [
            Delivery(
                row.delivery_id,
                row.webhook_id,
                url,
                row.event_id,
                name,
                row.attempts,
                row.state,
                row.next_at,
                row.last_error,
                row.delivered_at or "",
            )
            for row, url, name in rows
        ]


def deliver_due(queue: Queue, limit: int = 20, send: Send | None = None) -> int:
    """Send what is due, and note how it went; to be called again and again by a process that serves no request.

    Several processes may call it: each delivery is taken by one at a time. A crash between the answer and the note
    repeats a delivery under the same ``webhook-id``.

    Returns:
        How many were delivered.
    """
    done = 0
    for _ in range(limit):
        taken = _take(queue)
        if taken is None:
            break
        delivery_id, url, secret_env, event_id, body = taken
        error = ""
        try:
            headers = signed_headers(secret_env, event_id, body, int(queue.clock().timestamp()))
            status = (send or post)(url, body, headers)
            if not 200 <= status < 300:
                error = f"answered {status}"
        except (OSError, QueueError) as problem:
            error = str(problem) or type(problem).__name__
        _note(queue, delivery_id, error)
        done += not error
    return done


def _take(queue: Queue) -> tuple[int, str, str, str, bytes] | None:
    with queue.read() as session:
        if session.scalar(_due(queue.now())) is None:
            return None
    with queue.write() as session:
        row = session.scalar(_due(queue.now()).with_for_update(skip_locked=True))
        if row is None:
            return None
        row.next_at = stamp(queue.clock() + timedelta(seconds=LEASE_SECONDS))
        row.attempts += 1
        hook = session.get_one(WebhookRow, row.webhook_id)
        event = session.get_one(OutboxEvent, row.event_id)
        message = {"type": event.name, "timestamp": event.created_at, "data": event.payload}
        body = json.dumps(message, ensure_ascii=False, sort_keys=True).encode()
        return row.delivery_id, hook.url, hook.secret_env, event.event_id, body


def _due(at: str) -> Select[DeliveryRow]:
    return (
        select(DeliveryRow)
        .where(DeliveryRow.state == "waiting", DeliveryRow.next_at <= at)
        .order_by(DeliveryRow.next_at, DeliveryRow.delivery_id)
        .limit(1)
    )


def _note(queue: Queue, delivery_id: int, error: str) -> None:
    with queue.write() as session:
        row = session.get_one(DeliveryRow, delivery_id)
        if not error:
            row.state, row.last_error, row.delivered_at = "delivered", "", queue.now()
            return
        row.last_error = error[:500]
        if row.attempts >= ATTEMPTS:
            row.state = "failed"
            return
        pause = FIRST_PAUSE_SECONDS * PAUSE_GROWS ** (row.attempts - 1)
        row.next_at = stamp(queue.clock() + timedelta(seconds=pause))


def signed_headers(secret_env: str, event_id: str, body: bytes, seconds: int) -> dict[str, str]:
    """The headers of a delivery.

    Raises:
        QueueError: the environment has no such secret, or it is too short.
    """
    key = _key(secret_env, os.environ.get(secret_env, ""))
    signed = f"{event_id}.{seconds}.".encode() + body
    signature = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return {
        "content-type": "application/json",
        "user-agent": "taxpraben-review",
        "webhook-id": event_id,
        "webhook-timestamp": str(seconds),
        "webhook-signature": f"v1,{signature}",
    }


def _key(secret_env: str, secret: str) -> bytes:
    if secret.startswith("whsec_"):
        try:
            key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
        except binascii.Error:
            raise QueueError(f"{secret_env}: what follows 'whsec_' is no base64") from None
    else:
        key = secret.encode()
    if len(key) < SHORTEST_SECRET:
        raise QueueError(f"{secret_env} holds no secret of 16 characters or more in the environment that delivers")
    return key


def post(url: str, body: bytes, headers: dict[str, str]) -> int:
    """Post over HTTP; a redirect is not followed, for it would send the message where nobody asked.

    Raises:
        OSError: no answer within ten seconds.
    """
    import httpx

    try:
        answer = httpx.post(url, content=body, headers=headers, timeout=ANSWER_SECONDS, follow_redirects=False)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise OSError(f"{type(error).__name__}: {error}") from error
    return answer.status_code
