"""The `taxpraben` command: the lifecycle in order, then what looks at it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cli import explain, ingest, inspect, masking, models, ranks, reading, review, scoring
from flows.pipeline import STEPS

LIFECYCLE = "Lifecycle, in order"


class InOrder(TyperGroup):
    """Lists the lifecycle in its order, whether a step is one command or a group of them."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Names as help shows them: the whole, its steps, then the rest as they were added."""
        rest = [name for name in super().list_commands(ctx) if name not in ("run", *STEPS)]
        return ["run", *STEPS, *rest]


app = typer.Typer(
    cls=InOrder,
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    help="TaxPraBen: from tax books, documents and sites to a benchmark, and from models to standings.",
)

STAGES = {
    "ingest": ("Sources become clean documents.", ["ingest"]),
    "draft": ("Documents become drafts, parsed or asked of the drafter.", ["draft"]),
    "build": ("Decisions become a numbered release of items.", ["build"]),
    "check": ("The release, and all before it, keeps its rules (Great Expectations).", ["check_build"]),
    "infer": ("Every model of the roster is asked.", ["infer"]),
    "read": ("Answers become readings.", ["read"]),
    "rank": ("Scores become standings.", ["rank"]),
    "publish": ("Standings become a static board and exports.", ["publish"]),
}


@app.command("run", rich_help_panel=LIFECYCLE)
def run(
    profile: Annotated[str, typer.Option(help="Profile of params.yaml to switch to; kept there.")] = "",
    sources: Annotated[str, typer.Option(help="Folder that ingest reads; kept in params.yaml.")] = "",
    fresh: Annotated[bool, typer.Option("--fresh", help="Ask every model anew; use no shipped reply.")] = False,
) -> None:
    """Run the whole lifecycle as a flow: what is up to date is left alone, what waits for people is said."""
    from cli.profile import choose

    choose(Path("params.yaml"), profile=profile, sources=sources, fresh=fresh)
    _quiet_prefect()
    from flows.lifecycle import lifecycle

    state = lifecycle(".", return_state=True)
    if state.is_failed():
        raise typer.Exit(1)
    if state.message and "wait for people" in state.message:
        raise typer.Exit(3)
    inspect.standings()
    inspect.next_steps()


def _stage_command(name: str, targets: list[str]) -> Callable[[], None]:
    def command() -> None:
        from flows.pipeline import StageFailedError, repro, roster

        each = ("infer", "read", "score")
        wanted = [f"{name}@{model}" for model in roster(Path())] if name in each else targets
        try:
            repro(Path(), wanted)
        except StageFailedError as error:
            typer.echo(f"Error: {error}", err=True)
            raise typer.Exit(1) from error

    return command


WITH_FILES = {"read": reading.with_files}
"""Steps that also take a file instead of the workspace."""

for _name, (_help, _targets) in STAGES.items():
    _command = _stage_command(_name, _targets)
    if _name in WITH_FILES:
        app.command(_name, rich_help_panel=LIFECYCLE)(WITH_FILES[_name](_command))
    else:
        app.command(_name, help=_help, rich_help_panel=LIFECYCLE)(_command)


@app.command("evaluate")
def evaluate(model: Annotated[str, typer.Argument(help="A model of the roster in models.yaml.")]) -> None:
    """Evaluate one model: ask, read and score it, then rank and publish."""
    _quiet_prefect()
    from flows.evaluate_model import evaluate_model

    if evaluate_model(model, ".", return_state=True).is_failed():
        raise typer.Exit(1)
    inspect.standings()


@app.command("portal")
def portal(
    host: str = "127.0.0.1",
    port: int = 8350,
    secure_cookies: Annotated[
        bool, typer.Option("--secure-cookies", help="Cookies over HTTPS only: for a portal behind a TLS proxy.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes; more than one helps with PostgreSQL only.")] = 1,
) -> None:
    """Serve the portal: review queue, board, data quality."""
    from portal.serve import serve

    serve(Path(), host, port, secure_cookies, workers)


@app.command("deploy")
def deploy() -> None:
    """Serve the flows: lifecycle after the last decision, new models nightly. Runs until it is stopped."""
    if not os.environ.get("PREFECT_API_URL"):
        typer.echo(
            "Error: PREFECT_API_URL is not set, and a temporary server starts no flow at an event; run `prefect server "
            "start` and export PREFECT_API_URL=http://127.0.0.1:4200/api (docs/flows.md)",
            err=True,
        )
        raise typer.Exit(1)
    _quiet_prefect()
    from flows.deployments import serve_all

    serve_all(Path())


app.add_typer(review.app, name="review", rich_help_panel=LIFECYCLE)
app.add_typer(ingest.app, name="sources")
app.add_typer(models.app, name="models")
app.add_typer(masking.app, name="masking")
app.command("audit")(reading.audit)
app.command("standings")(inspect.standings)
app.command("explain")(explain.explain)
app.command("status")(inspect.status)
app.command("paper")(inspect.paper)
app.command("score", rich_help_panel=LIFECYCLE)(scoring.score)
app.command("rescore")(scoring.rescore)
app.command("compare")(scoring.compare)
app.command("compare-ranks")(ranks.compare)


def _quiet_prefect() -> None:
    """Settings that Prefect reads at import: its own server may take long to start; nothing is reported to anyone."""
    home = Path(os.environ.setdefault("PREFECT_HOME", str(Path(".cache/prefect").resolve())))
    # Prefect makes the folder, but none above it.
    home.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "180")
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ.setdefault("DO_NOT_TRACK", "1")


def main() -> None:
    """Entry point; a known error is one line, not a traceback."""
    try:
        app()
    except (ValueError, subprocess.CalledProcessError) as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(1)
