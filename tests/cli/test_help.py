"""`taxpraben --help` shows the lifecycle in order."""

from typer.testing import CliRunner

from cli.main import LIFECYCLE, app

LIFE = ["ingest", "draft", "review", "build", "check", "infer", "read", "score", "rank", "publish"]


def test_help_lists_the_lifecycle_in_order() -> None:
    shown = CliRunner().invoke(app, ["--help"]).output
    places = [shown.index(f"│ {name} ") for name in LIFE]
    assert LIFECYCLE in shown
    assert places == sorted(places)
