"""A fresh queue for each test; TAXPRABEN_TEST_POSTGRES runs the same tests on PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from queue_samples import Clock
from sqlalchemy import create_engine, text

from taxpraben.queue.store import Queue, open_queue

POSTGRES = os.environ.get("TAXPRABEN_TEST_POSTGRES", "")


@pytest.fixture(params=["sqlite", "postgresql"] if POSTGRES else ["sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'queue.sqlite'}"
    engine = create_engine(POSTGRES)
    with engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    engine.dispose()
    return POSTGRES


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(url: str, clock: Clock) -> Iterator[Queue]:
    opened = open_queue(url, clock)
    yield opened
    opened.close()
