"""Invitations, roles, leaving, passwords, tokens and rules, over HTTP."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

from fastapi import FastAPI
from fastapi.testclient import TestClient
from portal_samples import PASSWORD, Browser, draft_of, fill, hidden, sign_in

from taxpraben.queue.audit import audit_page
from taxpraben.queue.people import people, verify
from taxpraben.queue.pieces import pieces_of
from taxpraben.queue.policy import current_policy
from taxpraben.queue.store import Queue


def invited(admin: Browser, name: str = "new-01", role: str = "annotator") -> str:
    html = admin.post("/people/invite", {"name": name, "role": role, "days": "3"}).text
    found = re.search(r"/invitations/([\w-]+)", html)
    assert found is not None
    return found[1]


def take_up(client: TestClient, secret: str, password: str = "a password of mine", again: str = "") -> int:
    token = hidden(client.get(f"/invitations/{secret}").text, "token")
    data = {"token": token, "password": password, "again": again or password}
    return client.post(f"/invitations/{secret}", data=data, follow_redirects=False).status_code


def test_an_invited_person_sets_a_password_of_their_own_once(app: FastAPI, as_role: Callable[[str], Browser]) -> None:
    secret = invited(as_role("admin"), role="checker")
    client = TestClient(app)
    assert "new-01" in client.get(f"/invitations/{secret}").text
    assert take_up(client, secret, "short") == 422
    assert take_up(client, secret, "a password of mine", "another one") == 422
    assert take_up(client, secret) == 303
    assert "new-01" in client.get("/checks").text
    assert TestClient(app).get(f"/invitations/{secret}").status_code == 404


def test_the_link_is_not_kept_and_ends_after_its_days_or_when_revoked(
    app: FastAPI, queue: Queue, as_role: Callable[[str], Browser]
) -> None:
    admin = as_role("admin")
    first, second = invited(admin), invited(admin, "new-02")
    html = admin.get("/people").text
    assert first not in html
    assert second not in html
    token_id = next(each for each in re.findall(r'name="token_id" value="(\w+)"', html))
    admin.post("/people/revoke", {"token_id": token_id})
    statuses = [TestClient(app).get(f"/invitations/{secret}").status_code for secret in (first, second)]
    assert sorted(statuses) == [200, 404]
    clock = queue.clock
    object.__setattr__(queue, "clock", lambda: clock() + timedelta(days=4))
    assert {TestClient(app).get(f"/invitations/{secret}").status_code for secret in (first, second)} == {404}


def test_a_role_changes_at_once_and_the_last_admin_stays(as_role: Callable[[str], Browser], annotator: Browser) -> None:
    admin = as_role("admin")
    assert annotator.get("/checks").status_code == 403
    admin.post("/people/role", {"person": "annotator-1", "role": "checker"})
    assert annotator.get("/checks").status_code == 200
    refused = admin.post("/people/role", {"person": "admin-1", "role": "expert"})
    assert refused.status_code == 422
    assert "last admin" in refused.text


def test_who_leaves_is_signed_out_and_what_they_hold_goes_on(
    queue: Queue, as_role: Callable[[str], Browser], annotator: Browser
) -> None:
    fill(queue, [draft_of("TaxQA", number) for number in range(3)])
    annotator.post("/queue/take", {"count": "3"})
    admin = as_role("admin")
    assert admin.post("/people/leave", {"person": "annotator-1", "to": "nobody"}).status_code == 422
    assert admin.post("/people/leave", {"person": "annotator-1", "to": "checker-1"}).status_code == 303
    assert annotator.get("/queue", follow_redirects=False).status_code == 303
    assert len(pieces_of(queue, "checker-1", ("claimed",))) == 3
    admin.post("/people/back", {"person": "annotator-1"})
    assert [each.active for each in people(queue) if each.name == "annotator-1"] == [True]


def test_a_new_password_needs_the_old_one_and_ends_other_sessions(app: FastAPI, queue: Queue) -> None:
    here, there = sign_in(app, "expert-1"), sign_in(app, "expert-1")
    new = {"old": "guess", "password": "another horse", "again": "another horse"}
    assert here.post("/settings/password", new).status_code == 403
    assert here.post("/settings/password", {**new, "old": PASSWORD}).status_code == 303
    assert verify(queue, "expert-1", "another horse") is not None
    assert here.get("/settings", follow_redirects=False).status_code == 200
    assert there.get("/settings", follow_redirects=False).status_code == 303


def test_a_token_is_shown_once_and_works_until_it_is_revoked(app: FastAPI, annotator: Browser) -> None:
    html = annotator.post("/settings/tokens", {"label": "trial", "scope": "read", "days": "7"}).text
    found = re.search(r"tpb_[\w-]+", html)
    assert found is not None
    assert found[0] not in annotator.get("/settings").text
    ask = {"headers": {"Authorization": f"Bearer {found[0]}"}}
    client = TestClient(app)
    assert client.get("/api/me", **ask).json() == {"name": "annotator-1", "role": "annotator"}
    assert client.post("/api/claims", json={}, **ask).status_code == 403
    annotator.post("/settings/tokens/revoke", {"token_id": hidden(annotator.get("/settings").text, "token_id")})
    assert client.get("/api/me", **ask).status_code == 401


def test_nobody_revokes_the_token_of_another(as_role: Callable[[str], Browser], annotator: Browser) -> None:
    annotator.post("/settings/tokens", {"label": "trial", "scope": "read", "days": "7"})
    token_id = hidden(annotator.get("/settings").text, "token_id")
    assert as_role("expert").post("/settings/tokens/revoke", {"token_id": token_id}).status_code == 404
    assert "trial" in as_role("admin").get("/settings").text


def test_an_admin_changes_the_rules_within_their_range(queue: Queue, as_role: Callable[[str], Browser]) -> None:
    fill(queue, [])
    admin = as_role("admin")
    assert admin.post("/settings/rules", {"hand_off": "7", "pass_mark": "0.9"}).status_code == 303
    policy = current_policy(queue)
    assert (policy.hand_off, policy.pass_mark) == (7, 0.9)
    assert admin.post("/settings/rules", {"pass_mark": "2"}).status_code == 422
    assert admin.post("/settings/rules", {"pass_mark": "nan"}).status_code == 422
    assert admin.post("/settings/rules", {"hand_off": "many"}).status_code == 422


def test_the_log_shows_who_did_what_by_filter(queue: Queue, as_role: Callable[[str], Browser]) -> None:
    admin = as_role("admin")
    invited(admin, "new-07")
    html = admin.get("/log?act=invited").text
    assert "new-07" in html
    assert "new-07" not in admin.get("/log?actor=expert-1").text
    assert audit_page(queue).acts[0].act == "invited"


def test_language_theme_and_key_hints_are_remembered(annotator: Browser) -> None:
    for what, value in (("theme", "dark"), ("hints", "off"), ("language", "en")):
        annotator.get(f"/choose/{what}/{value}?onward=/settings")
    html = annotator.get("/settings").text
    assert '<html lang="en" data-theme="dark" data-hints="off">' in html
    annotator.get("/choose/theme/neon")
    assert 'data-theme="dark"' in annotator.get("/settings").text
