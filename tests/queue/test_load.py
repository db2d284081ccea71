"""The benchmark's load in small: many real clients on the real server, over each database, with the server killed."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "portal_load.py"
POSTGRES = os.environ.get("TAXPRABEN_TEST_POSTGRES", "")


def load_script():
    spec = importlib.util.spec_from_file_location("portal_load", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["portal_load"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("manner", ["no pause", "killed"])
@pytest.mark.parametrize("database", ["SQLite", pytest.param("PostgreSQL", marks=[] if POSTGRES else pytest.mark.skip(
    reason="no PostgreSQL: run by tests/postgres.sh"))])  # fmt: skip
def test_many_people_at_once_lose_and_double_nothing(database: str, manner: str) -> None:
    script = load_script()
    arguments = argparse.Namespace(people=12, items=72, least_pause=0.05, most_pause=0.15, workers=1, kill_after=1.5)
    cells, problems = script.run_once(database, POSTGRES, arguments, manner)
    assert problems == []
    assert "adds up" in cells[-1]
    if manner == "killed":
        assert "asked again" in cells[-1], "the server was not killed while somebody worked"
