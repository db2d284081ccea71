"""A portal over a fresh queue and an empty workspace."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from portal_samples import PASSWORD, Browser, sign_in

from portal.app import create_app
from taxpraben.queue.people import create_person
from taxpraben.queue.states import ROLES
from taxpraben.queue.store import Queue, open_queue


@pytest.fixture(scope="session")
def peopled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A queue with one person a role, made once: hashing passwords is slow by design."""
    path = tmp_path_factory.mktemp("peopled") / "queue.sqlite"
    queue = open_queue(f"sqlite:///{path}")
    for role in ROLES:
        create_person(queue, f"{role}-1", role, PASSWORD)
    with queue.engine.connect() as connection:
        connection.exec_driver_sql("COMMIT")
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.exec_driver_sql("BEGIN")
    queue.close()
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "params.yaml").write_text("profile: trial\nprofiles: {trial: {}}\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def app(root: Path, peopled: Path) -> Iterator[FastAPI]:
    shutil.copy(peopled, root / "queue.sqlite")
    made = create_app(f"sqlite:///{root / 'queue.sqlite'}", root, environment={})
    yield made
    made.state.queue.close()


@pytest.fixture
def queue(app: FastAPI) -> Queue:
    return app.state.queue


@pytest.fixture
def as_role(app: FastAPI) -> Callable[[str], Browser]:
    return lambda role: sign_in(app, f"{role}-1")


@pytest.fixture
def annotator(as_role: Callable[[str], Browser]) -> Browser:
    return as_role("annotator")
