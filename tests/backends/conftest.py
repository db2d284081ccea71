from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.backends.faulty_server import FaultyServer


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    faulty = FaultyServer()
    yield faulty
    faulty.close()
