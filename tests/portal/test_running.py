"""What runs beside the pages, and how the portal is started."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI
from fastapi.testclient import TestClient

from portal import app as application
from portal.serve import serve
from taxpraben.queue.store import Queue


def test_events_are_sent_while_the_portal_runs_and_a_failure_stops_nothing(
    app: FastAPI, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Queue] = []

    def send(queue: Queue) -> int:
        calls.append(queue)
        if len(calls) == 1:
            raise ConnectionError("the receiver is down")
        return 0

    monkeypatch.setattr(application, "deliver_due", send)
    monkeypatch.setattr(application, "DELIVERY_SECONDS", 0.01)
    with TestClient(app):
        end = time.monotonic() + 20
        while len(calls) < 3:
            assert time.monotonic() < end
            time.sleep(0.01)


def test_several_processes_are_given_the_same_application(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TAXPRABEN_PORTAL_ROOT", "TAXPRABEN_PORTAL_SECURE"):
        monkeypatch.setenv(name, "")
    asked: dict[str, object] = {}
    monkeypatch.setattr(uvicorn, "run", lambda app, **options: asked.update(options, app=app))
    serve(root, port=9000, workers=3)
    assert (asked["app"], asked["factory"], asked["workers"]) == ("portal.serve:app_of_environment", True, 3)


def test_static_files_are_kept_by_browsers_until_they_change(app: FastAPI) -> None:
    client = TestClient(app)
    page = client.get("/sign-in").text
    address = page.split('rel="stylesheet" href="')[1].split('"')[0]
    assert "immutable" in client.get(address).headers["cache-control"]
    assert client.get(address.split("?")[0]).headers["cache-control"] == "no-cache"
