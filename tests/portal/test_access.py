"""Who may open what, and what every answer carries."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from portal_samples import Browser, draft_of, fill, hidden, sign_in
from typer.testing import CliRunner

from cli.main import app as taxpraben
from portal.access import ACCESS
from portal.app import ROUTERS
from portal.routes.signing import local_path
from taxpraben.queue.states import ROLES
from taxpraben.queue.store import Queue

ROUTES = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]


def ask(client: TestClient, route: APIRoute, csrf: str) -> int:
    path = route.path.replace("{work_id}", "1").replace("{language}", "en")
    if "GET" in route.methods:
        return client.get(path, follow_redirects=False).status_code
    if route.name == "autosave":
        headers = {"X-CSRF-Token": csrf, "Accept": "application/json"}
        return client.post(path, json={"version": 0, "form": {}}, headers=headers).status_code
    return client.post(path, data={"csrf": csrf}, follow_redirects=False).status_code


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_each_route_lets_in_the_roles_of_the_table_and_nobody_else(app: FastAPI, queue: Queue, route: APIRoute) -> None:
    fill(queue, [draft_of("TaxQA")])
    for role in ROLES:
        browser = sign_in(app, f"{role}-1")
        status = ask(browser.client, route, browser.csrf)
        if role in ACCESS[route.name]:
            assert status != 403 or route.name == "sign_in_post", role  # sign-in has a token of its own
            assert status < 500, role
        else:
            assert status == 403, role
    status = ask(TestClient(app), route, "")
    expected = {200, 303, 403} if "" in ACCESS[route.name] else ({303} if "GET" in route.methods else {401})
    assert status in expected


@pytest.mark.parametrize(
    "route",
    [route for route in ROUTES if "POST" in route.methods and route.name != "sign_in_post"],
    ids=lambda r: r.name,
)
def test_no_form_is_taken_without_the_sessions_token(app: FastAPI, route: APIRoute) -> None:
    browser = sign_in(app, "admin-1")
    assert ask(browser.client, route, "forged") == 403


def test_every_page_forbids_inline_and_foreign_scripts(annotator: Browser, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    for path in ("/queue", "/pieces/1", "/progress", "/board", "/quality", "/no-such-page"):
        reply = annotator.get(path)
        policy = reply.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert "<script>" not in reply.text
        assert " style=" not in reply.text
        assert " onclick=" not in reply.text


def test_the_session_cookie_is_kept_from_scripts_and_other_sites(app: FastAPI) -> None:
    client = TestClient(app)
    token = hidden(client.get("/sign-in").text, "token")
    reply = client.post(
        "/sign-in", data={"token": token, "name": "admin-1", "password": "correct horse"}, follow_redirects=False
    )
    cookie = next(each for each in reply.headers.get_list("set-cookie") if each.startswith("taxpraben_session"))
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie


def test_behind_tls_the_portal_sets_cookies_that_go_over_https_only(
    root: Path, peopled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(peopled, root / "elsewhere.sqlite")
    monkeypatch.setenv("TAXPRABEN_QUEUE_URL", f"sqlite:///{root / 'elsewhere.sqlite'}")
    monkeypatch.chdir(root)
    served: list[FastAPI] = []
    monkeypatch.setattr(uvicorn, "run", lambda app, **_options: served.append(app))
    for options in ([], ["--secure-cookies"]):
        assert CliRunner().invoke(taxpraben, ["portal", *options]).exit_code == 0
    cookies = []
    for made in served:
        client = TestClient(made, base_url="https://portal.example")
        token = hidden(client.get("/sign-in").text, "token")
        data = {"token": token, "name": "admin-1", "password": "correct horse"}  # known in the database named above
        reply = client.post("/sign-in", data=data, follow_redirects=False)
        cookies += [each for each in reply.headers.get_list("set-cookie") if each.startswith("taxpraben_session")]
        made.state.queue.close()
    assert ["secure" in cookie.lower() for cookie in cookies] == [False, True]


def test_a_name_is_blocked_for_a_while_after_eight_wrong_passwords(app: FastAPI) -> None:
    client = TestClient(app)

    def attempt(password: str) -> int:
        token = hidden(client.get("/sign-in").text, "token")
        data = {"token": token, "name": "expert-1", "password": password}
        return client.post("/sign-in", data=data, follow_redirects=False).status_code

    now = [0.0]
    app.state.attempts.clock = lambda: now[0]
    assert [attempt(f"guess {number}") for number in range(8)] == [401] * 8
    assert attempt("correct horse") == 429
    now[0] = 601.0
    assert attempt("correct horse") == 303


def test_a_sign_in_form_from_another_site_is_refused(app: FastAPI) -> None:
    data = {"token": "guessed", "name": "admin-1", "password": "correct horse"}
    assert TestClient(app).post("/sign-in", data=data).status_code == 403


@pytest.mark.parametrize("onward", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:x", ""])
def test_sign_in_leads_to_this_site_only(onward: str) -> None:
    assert local_path(onward) == "/queue"


def test_too_large_and_unmeasured_bodies_are_refused(annotator: Browser) -> None:
    assert annotator.post("/queue/take", {"task": "x" * 1_100_000}).status_code == 413
    unmeasured = annotator.client.post("/queue/take", content=iter([b"csrf=x"]), follow_redirects=False)
    assert unmeasured.status_code == 411


def test_signing_out_ends_the_session(as_role: Callable[[str], Browser]) -> None:
    browser = as_role("admin")
    cookies = dict(browser.client.cookies)
    browser.post("/sign-out")
    browser.client.cookies.update(cookies)
    assert browser.get("/queue", follow_redirects=False).status_code == 303
