"""Signing in with an account elsewhere, against a real provider on the loopback address."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient
from joserfc.jwk import RSAKey
from oidc_provider import CLIENT, SECRET, Provider, provider_app
from portal_samples import hidden, sign_in

from portal.app import create_app
from portal.oidc import ProviderError, email_subject, provider_from
from taxpraben.queue.accounts import find_identity, invite, link_identity
from taxpraben.queue.people import create_person, people
from taxpraben.queue.store import Queue


@pytest.fixture
def provider() -> Iterator[Provider]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    made = Provider(f"http://127.0.0.1:{port}")
    server = uvicorn.Server(uvicorn.Config(provider_app(made), host="127.0.0.1", port=port, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield made
    server.should_exit = True
    thread.join()


@pytest.fixture
def app(root: Path, provider: Provider) -> Iterator[FastAPI]:
    environment = {
        "TAXPRABEN_OIDC_ISSUER": provider.issuer,
        "TAXPRABEN_OIDC_CLIENT_ID": CLIENT,
        "TAXPRABEN_OIDC_CLIENT_SECRET": SECRET,
        "TAXPRABEN_OIDC_TITLE": "Trial",
    }
    made = create_app(f"sqlite:///{root / 'queue.sqlite'}", root, environment=environment)
    yield made
    made.state.queue.close()


def walk(client: TestClient, start: str) -> httpx.Response:
    """From the portal to the provider and back; the last answer is the portal's."""
    away = client.get(start, follow_redirects=False)
    assert away.status_code == 303
    back = httpx.get(away.headers["location"], follow_redirects=False).headers["location"]
    parts = urlsplit(back)
    return client.get(f"{parts.path}?{parts.query}", follow_redirects=False)


def test_a_linked_account_signs_its_person_in(app: FastAPI, queue: Queue, provider: Provider) -> None:
    create_person(queue, "ann-01", "annotator", "correct horse")
    link_identity(queue, provider.issuer, "subject-1", "ann-01", "", "admin")
    client = TestClient(app)
    assert "Trial" in client.get("/sign-in").text
    reply = walk(client, "/oidc/start?onward=/progress")
    assert (reply.status_code, reply.headers["location"]) == (303, "/progress")
    assert "ann-01" in client.get("/progress").text


def test_an_unknown_account_is_nobody_here_whatever_its_name(app: FastAPI, queue: Queue, provider: Provider) -> None:
    create_person(queue, "ann-01", "annotator", "correct horse")
    provider.subject, provider.email = "ann-01", "ann-01"
    assert walk(TestClient(app), "/oidc/start").status_code == 403
    assert [member.name for member in people(queue)] == ["ann-01"]


@pytest.mark.parametrize(("verified", "status"), [(True, 303), (False, 403)])
def test_an_address_that_an_admin_linked_counts_when_the_provider_vouches_for_it(
    app: FastAPI, queue: Queue, provider: Provider, verified: bool, status: int
) -> None:
    create_person(queue, "ann-01", "annotator", "correct horse")
    link_identity(queue, provider.issuer, email_subject("Ann@Example.org"), "ann-01", "ann@example.org", "admin")
    provider.verified = verified
    assert walk(TestClient(app), "/oidc/start").status_code == status
    # From now on the subject stands for the person, also when the address changes hands.
    assert (find_identity(queue, provider.issuer, "subject-1") is not None) is verified


def test_a_subject_that_looks_like_a_linked_address_is_refused(app: FastAPI, queue: Queue, provider: Provider) -> None:
    create_person(queue, "ann-01", "annotator", "correct horse")
    link_identity(queue, provider.issuer, email_subject("ann@example.org"), "ann-01", "ann@example.org", "admin")
    provider.subject, provider.verified = email_subject("ann@example.org"), False
    assert walk(TestClient(app), "/oidc/start").status_code == 403


def test_an_invitation_is_taken_up_without_a_password(app: FastAPI, queue: Queue) -> None:
    secret = invite(queue, "new-01", "checker", "admin")
    reply = walk(TestClient(app), f"/oidc/start?invitation={secret}")
    assert reply.status_code == 303
    assert [(member.name, member.role) for member in people(queue)] == [("new-01", "checker")]
    assert walk(TestClient(app), "/oidc/start").status_code == 303
    assert walk(TestClient(app), f"/oidc/start?invitation={secret}").status_code == 403  # it worked once


def test_who_is_signed_in_links_their_account_and_nobody_elses(app: FastAPI, queue: Queue, provider: Provider) -> None:
    for name in ("ann-01", "ann-02"):
        create_person(queue, name, "annotator", "correct horse")
    for name, expected in (("ann-01", 303), ("ann-02", 403)):
        browser = sign_in(app, name)
        away = browser.post("/oidc/link").headers["location"]
        back = urlsplit(httpx.get(away, follow_redirects=False).headers["location"])
        assert browser.get(f"{back.path}?{back.query}", follow_redirects=False).status_code == expected
    found = find_identity(queue, provider.issuer, "subject-1")
    assert found is not None
    assert found.name == "ann-01"


@pytest.mark.parametrize(
    "claims", [{"aud": "another"}, {"iss": "https://evil.example"}, {"nonce": "old"}, {"exp": 1}, {"sub": ""}]
)
def test_an_identity_token_that_does_not_hold_signs_nobody_in(
    app: FastAPI, queue: Queue, provider: Provider, claims: dict[str, object]
) -> None:
    create_person(queue, "ann-01", "annotator", "correct horse")
    link_identity(queue, provider.issuer, "subject-1", "ann-01", "", "admin")
    provider.claims = claims
    assert walk(TestClient(app), "/oidc/start").status_code == 403


def test_a_token_signed_with_another_key_signs_nobody_in(app: FastAPI, queue: Queue, provider: Provider) -> None:
    create_person(queue, "ann-01", "annotator", "correct horse")
    link_identity(queue, provider.issuer, "subject-1", "ann-01", "", "admin")
    provider.signs_with = RSAKey.generate_key(2048, {"kid": "one"})
    assert walk(TestClient(app), "/oidc/start").status_code == 403


def test_a_provider_that_changes_its_keys_is_asked_again(app: FastAPI, queue: Queue, provider: Provider) -> None:
    create_person(queue, "ann-01", "annotator", "correct horse")
    link_identity(queue, provider.issuer, "subject-1", "ann-01", "", "admin")
    assert walk(TestClient(app), "/oidc/start").status_code == 303
    provider.key = RSAKey.generate_key(2048, {"kid": "one"})
    assert walk(TestClient(app), "/oidc/start").status_code == 303


def test_a_way_back_that_this_browser_did_not_begin_is_refused(app: FastAPI, queue: Queue, provider: Provider) -> None:
    create_person(queue, "ann-01", "annotator", "correct horse")
    link_identity(queue, provider.issuer, "subject-1", "ann-01", "", "admin")
    away = TestClient(app).get("/oidc/start", follow_redirects=False).headers["location"]
    back = urlsplit(httpx.get(away, follow_redirects=False).headers["location"])
    assert TestClient(app).get(f"{back.path}?{back.query}", follow_redirects=False).status_code == 403
    stale = TestClient(app)
    stale.get("/oidc/start", follow_redirects=False)
    assert stale.get(f"{back.path}?{back.query}", follow_redirects=False).status_code == 403


def test_half_a_provider_and_one_without_tls_are_refused_at_the_start() -> None:
    with pytest.raises(ProviderError, match="CLIENT_ID is not"):
        provider_from({"TAXPRABEN_OIDC_ISSUER": "https://idp.example"})
    with pytest.raises(ProviderError, match="not an HTTPS address"):
        provider_from({"TAXPRABEN_OIDC_ISSUER": "http://idp.example", "TAXPRABEN_OIDC_CLIENT_ID": "x"})
    assert provider_from({}) is None


def test_without_a_provider_there_is_no_button_and_no_way_in(root: Path) -> None:
    made = create_app(f"sqlite:///{root / 'plain.sqlite'}", root, environment={})
    client = TestClient(made)
    assert "/oidc/" not in client.get("/sign-in").text
    assert client.get("/oidc/start", follow_redirects=False).status_code == 404
    assert hidden(client.get("/sign-in").text, "token")
    made.state.queue.close()
