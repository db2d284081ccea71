"""Who may open what, and what every answer carries."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient
from portal_samples import Browser, draft_of, fill, hidden, sign_in
from typer.testing import CliRunner

from cli.main import app as taxpraben
from portal.access import ACCESS, ADMINS, CHECKERS, EVERYBODY, EXPERTS, SIGNED_IN
from portal.app import create_app, routes_of
from portal.routes.signing import local_path
from portal.serve import app_of_environment
from taxpraben.queue.accounts import api_tokens, make_api_token, revoke_api_token
from taxpraben.queue.people import leave
from taxpraben.queue.states import ROLES
from taxpraben.queue.store import Queue

ROUTES = routes_of()
PAGES = [route for route in ROUTES if ACCESS[route.name].by == "session"]
API = [route for route in ROUTES if ACCESS[route.name].by == "token"]
FORM_TOKEN = {"sign_in_post", "accept_invitation"}
"""Forms that one fills in before there is a session; they carry a token of their own."""


def path_of(route: APIRoute) -> str:
    given = {"work_id": "1", "what": "theme", "value": "dark", "kind": "jsonl", "secret": "x", "number": "1"}
    return re.sub(r"{(\w+)}", lambda found: given.get(found[1], "none"), route.path)


def ask(client: TestClient, route: APIRoute, csrf: str) -> int:
    path = path_of(route)
    if "GET" in route.methods:
        return client.get(path, follow_redirects=False).status_code
    if route.name == "autosave":
        headers = {"X-CSRF-Token": csrf, "Accept": "application/json"}
        return client.post(path, json={"version": 0, "form": {}}, headers=headers).status_code
    return client.post(path, data={"csrf": csrf}, follow_redirects=False).status_code


@pytest.mark.parametrize("route", PAGES, ids=lambda route: route.name)
def test_each_page_lets_in_the_roles_of_the_table_and_nobody_else(app: FastAPI, queue: Queue, route: APIRoute) -> None:
    fill(queue, [draft_of("TaxQA")])
    for role in ROLES:
        browser = sign_in(app, f"{role}-1")
        status = ask(browser.client, route, browser.csrf)
        if role in ACCESS[route.name].roles:
            # Nothing may be in the way but what the empty form lacks: forms before a session, the old password.
            assert status != 403 or route.name in FORM_TOKEN | {"oidc_back", "change_password"}, role
            assert status < 500, role
        else:
            assert status == 403, role
    status = ask(TestClient(app), route, "")
    everybody = {200, 303, 403, 404}
    assert status in (everybody if "" in ACCESS[route.name].roles else ({303} if "GET" in route.methods else {401}))


def call(client: TestClient, route: APIRoute, secret: str) -> int:
    method = next(iter(route.methods))
    headers = {"Authorization": f"Bearer {secret}"} if secret else {}
    body = {} if method in ("GET", "DELETE") else {"json": {}}
    return client.request(method, path_of(route), headers=headers, **body).status_code


@pytest.mark.parametrize("route", API, ids=lambda route: route.name)
def test_each_call_of_the_api_wants_a_token_of_the_right_role_and_scope(
    app: FastAPI, queue: Queue, route: APIRoute
) -> None:
    fill(queue, [draft_of("TaxQA")])
    client, rule = TestClient(app), ACCESS[route.name]
    for role in ROLES:
        for scope in ("read", "write"):
            secret = make_api_token(queue, f"{role}-1", "trial", scope, "admin-1")
            status = call(client, route, secret)
            allowed = role in rule.roles and (rule.scope == "read" or scope == "write")
            assert (status == 403) is not allowed, (role, scope)
            assert status < 500
    assert call(client, route, "") == 401
    assert call(client, route, "tpb_guessed") == 401


@pytest.mark.parametrize("route", API, ids=lambda route: route.name)
def test_a_browsers_session_opens_nothing_of_the_api(app: FastAPI, route: APIRoute) -> None:
    assert call(sign_in(app, "admin-1").client, route, "") == 401


def test_a_revoked_token_and_one_of_somebody_who_left_open_nothing(app: FastAPI, queue: Queue) -> None:
    client = TestClient(app)
    secret = make_api_token(queue, "expert-1", "one", "read", "admin-1")
    other = make_api_token(queue, "checker-1", "two", "read", "admin-1")
    ask_me = lambda secret: client.get("/api/me", headers={"Authorization": f"Bearer {secret}"}).status_code  # noqa: E731
    assert (ask_me(secret), ask_me(other)) == (200, 200)
    revoke_api_token(queue, api_tokens(queue, "expert-1")[0].token_id, "admin-1")
    leave(queue, "checker-1")
    assert (ask_me(secret), ask_me(other)) == (401, 401)


@pytest.mark.parametrize(
    "route", [each for each in PAGES if "POST" in each.methods and each.name not in FORM_TOKEN], ids=lambda r: r.name
)
def test_no_form_is_taken_without_the_sessions_token(app: FastAPI, route: APIRoute) -> None:
    browser = sign_in(app, "admin-1")
    assert ask(browser.client, route, "forged") == 403


def test_the_docs_show_the_table_as_it_is() -> None:
    text = (Path(__file__).parents[2] / "docs" / "portal.md").read_text(encoding="utf-8")
    assert authorisation_table() in text


def authorisation_table() -> str:
    """The table of docs/portal.md, one line a route."""
    lines = ["| route | who | how |", "|---|---|---|"]
    names = {EVERYBODY: "everybody", SIGNED_IN: "signed in", CHECKERS: "checkers", EXPERTS: "experts", ADMINS: "admins"}
    for route in ROUTES:
        rule = ACCESS[route.name]
        method = next(iter(sorted(route.methods)))
        how = f"token, {rule.scope}" if rule.by == "token" else ("open" if "" in rule.roles else "session")
        lines.append(f"| `{method} {route.path}` | {names[rule.roles]} | {how} |")
    return "\n".join(lines)


def test_every_page_forbids_inline_and_foreign_scripts(annotator: Browser, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    for path in ("/queue", "/progress", "/board", "/quality", "/no-such-page"):
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
    monkeypatch.setattr(uvicorn, "run", lambda _app, **_options: served.append(app_of_environment()))
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


def test_a_name_is_blocked_for_a_while_after_eight_wrong_passwords_also_in_another_process(
    app: FastAPI, root: Path
) -> None:
    # Another application over the same database stands for another process.
    other = create_app(f"sqlite:///{root / 'queue.sqlite'}", root, environment={})

    def attempt(of: FastAPI, password: str) -> int:
        client = TestClient(of)
        token = hidden(client.get("/sign-in").text, "token")
        data = {"token": token, "name": "expert-1", "password": password}
        return client.post("/sign-in", data=data, follow_redirects=False).status_code

    assert [attempt(app, f"guess {number}") for number in range(8)] == [401] * 8
    assert attempt(other, "correct horse") == 429
    clock = other.state.queue.clock
    object.__setattr__(other.state.queue, "clock", lambda: clock() + timedelta(minutes=11))
    assert attempt(other, "correct horse") == 303
    other.state.queue.close()


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
