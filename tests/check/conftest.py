"""Fixtures of the check room."""

import pytest
from checked_world import World, make_world


@pytest.fixture
def world() -> World:
    return make_world()
