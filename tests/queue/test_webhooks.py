"""Events to other systems: signed, tried again, once each."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from queue_samples import Clock, draft, fill

from taxpraben.queue.claims import claim
from taxpraben.queue.events import (
    BATCH_COMPLETED,
    COMPLETED,
    DATASET_COMPLETED,
    EVENTS,
    ROUND_COMPLETED,
    mark_delivered,
    pending_events,
)
from taxpraben.queue.intake import bring_in, set_policy
from taxpraben.queue.policy import Policy
from taxpraben.queue.rounds import close_share, draw_samples
from taxpraben.queue.rulings import check, submit
from taxpraben.queue.states import QueueError
from taxpraben.queue.store import Queue
from taxpraben.queue.webhooks import (
    ATTEMPTS,
    add_webhook,
    deliver_due,
    deliveries,
    remove_webhook,
    signed_headers,
)

SECRET = "whsec_" + base64.b64encode(b"a secret of twenty-four.").decode()


class Receiver(HTTPServer):
    """Keeps what was posted, and answers with the statuses that it is given, then 204."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.statuses: list[int] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook"


class _Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:  # the base class names it
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.got.append(({name.lower(): value for name, value in self.headers.items()}, body))
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 204)
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    monkeypatch.setenv("TAXPRABEN_HOOK", SECRET)
    server = Receiver()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def complete(queue: Queue, count: int = 1) -> None:
    fill(queue, count)
    for work in claim(queue, "a01", count=count):
        submit(queue, work, "a01", "accepted")


def test_a_completed_dataset_is_posted_with_a_signature_that_the_secret_proves(
    queue: Queue, receiver: Receiver, clock: Clock
) -> None:
    add_webhook(queue, receiver.url, [DATASET_COMPLETED], "TAXPRABEN_HOOK", "admin")
    complete(queue)
    assert receiver.got == []  # nothing is sent while somebody waits for an answer
    assert deliver_due(queue) == 1
    ((headers, body),) = receiver.got
    message = json.loads(body)
    assert message["type"] == DATASET_COMPLETED
    assert message["data"]["task"] == "TaxQA"
    # The Standard Webhooks specification, written out.
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(b"a secret of twenty-four.", signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == f"v1,{expected}"
    assert int(headers["webhook-timestamp"]) == int(clock().timestamp())
    assert deliver_due(queue) == 0  # once


def test_a_delivery_that_fails_is_tried_again_with_growing_pauses_under_the_same_id(
    queue: Queue, receiver: Receiver, clock: Clock
) -> None:
    add_webhook(queue, receiver.url, [COMPLETED], "TAXPRABEN_HOOK", "admin")
    receiver.statuses = [500, 302]  # a redirect is not followed
    complete(queue)
    assert deliver_due(queue) == 0
    assert deliver_due(queue) == 0
    assert len(receiver.got) == 1  # not before the pause is over
    clock.move(0.6)
    assert deliver_due(queue) == 0
    clock.move(1.0)
    assert deliver_due(queue) == 0
    assert len(receiver.got) == 2
    clock.move(1.0)
    assert deliver_due(queue) == 1
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    (sent,) = deliveries(queue)
    assert (sent.state, sent.attempts, sent.last_error) == ("delivered", 3, "")


def test_an_event_that_nobody_takes_is_given_up_and_the_cause_is_kept(queue: Queue, clock: Clock) -> None:
    add_webhook(queue, "http://127.0.0.1:9/hook", [COMPLETED], "TAXPRABEN_NO_SECRET", "admin")
    complete(queue)
    for _ in range(ATTEMPTS + 3):
        deliver_due(queue)
        clock.move(60 * 24)
    (sent,) = deliveries(queue)
    assert (sent.state, sent.attempts) == ("failed", ATTEMPTS)
    assert "TAXPRABEN_NO_SECRET" in sent.last_error


def test_a_removed_webhook_hears_nothing_more(queue: Queue, receiver: Receiver) -> None:
    number = add_webhook(queue, receiver.url, [COMPLETED], "TAXPRABEN_HOOK", "admin")
    complete(queue)
    remove_webhook(queue, number, "admin")
    assert deliver_due(queue) == 0
    assert receiver.got == []


@pytest.mark.parametrize(
    ("address", "events", "variable", "cause"),
    [
        ("file:///etc/passwd", EVENTS, "TAXPRABEN_HOOK", "http"),
        ("https://name:word@host/", EVENTS, "TAXPRABEN_HOOK", "no name or password"),
        ("https://host/", ["taxpraben.review.compleated"], "TAXPRABEN_HOOK", "Unknown event"),
        ("https://host/", EVENTS, "whsec_c2VjcmV0", "variable"),
    ],
)
def test_an_unfit_webhook_is_refused_with_the_cause(
    queue: Queue, address: str, events: list[str], variable: str, cause: str
) -> None:
    with pytest.raises(QueueError, match=cause):
        add_webhook(queue, address, events, variable, "admin")


def test_a_batch_is_announced_when_its_last_draft_is_settled(queue: Queue) -> None:
    set_policy(queue, Policy(spot_checks=0, batch_size=2))
    bring_in(queue, [draft(number) for number in range(5)], [])
    for work in claim(queue, "a01", count=3):
        submit(queue, work, "a01", "accepted")
    (event,) = pending_events(queue)
    assert (event.name, event.payload["batch"], event.payload["entries"]) == (BATCH_COMPLETED, 1, 2)
    mark_delivered(queue, event.event_id)
    for work in claim(queue, "a01", count=3):
        submit(queue, work, "a01", "accepted")
    names = [event.name for event in pending_events(queue)]
    assert sorted(names) == sorted([BATCH_COMPLETED] * 2 + [DATASET_COMPLETED, COMPLETED])


def test_one_batch_can_be_claimed_and_new_drafts_fill_the_last_one_up(queue: Queue) -> None:
    set_policy(queue, Policy(spot_checks=0, batch_size=2))
    bring_in(queue, [draft(number) for number in range(3)], [])
    bring_in(queue, [draft(number) for number in range(6)], [])
    assert len(claim(queue, "a01", count=9, task="TaxQA", batch=2)) == 2
    assert len(claim(queue, "a01", count=9)) == 4


def test_a_round_is_announced_when_all_its_shares_passed_and_all_its_works_are_settled(queue: Queue) -> None:
    fill(queue, 20, spot_checks=1)
    for person in ("a01", "a02"):
        for work in claim(queue, person, count=3):
            submit(queue, work, person, "accepted")
    for share in draw_samples(queue, "c01"):
        check(queue, share.works[0], "c01", True)
    close_share(queue, "a01", "c01")
    assert ROUND_COMPLETED not in {event.name for event in pending_events(queue)}
    close_share(queue, "a02", "c01")
    (event,) = [event for event in pending_events(queue) if event.name == ROUND_COMPLETED]
    assert event.payload == {"round": 1, "shares": 2, "works": 6}


def test_an_empty_key_signs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for secret in ("", "whsec_", "whsec_c2hvcnQ="):
        monkeypatch.setenv("TAXPRABEN_WEBHOOK_SECRET", secret)
        with pytest.raises(QueueError, match="no secret of 16 characters"):
            signed_headers("TAXPRABEN_WEBHOOK_SECRET", "event", b"{}", 1)
