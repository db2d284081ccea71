"""`taxpraben --help` shows the lifecycle in order."""

import pytest
from typer.testing import CliRunner

from cli.main import LIFECYCLE, app

LIFE = ["ingest", "draft", "review", "build", "check", "infer", "read", "score", "rank", "publish"]


def test_help_lists_the_lifecycle_in_order() -> None:
    shown = CliRunner().invoke(app, ["--help"]).output
    places = [shown.index(f"│ {name} ") for name in LIFE]
    assert LIFECYCLE in shown
    assert places == sorted(places)


def test_deploy_without_a_server_says_how_to_start_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    told = CliRunner().invoke(app, ["deploy"])
    assert told.exit_code == 1
    assert "prefect server start" in told.output
