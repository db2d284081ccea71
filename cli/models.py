"""`taxpraben models`: which models there are, what each lacks, and the embedded weights."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from taxpraben.backends.opening import check_models, fetch_models, list_models
from taxpraben.backends.roster import load_roster

app = typer.Typer(no_args_is_help=True, help="The models of models.yaml: list, check, fetch weights.")

Names = Annotated[list[str] | None, typer.Argument(help="Models of models.yaml; the roster's when none is named.")]


@app.command("list")
def list_() -> None:
    """List all models with access, size, group, licence and release; those of the roster are marked."""
    rows = list_models(load_roster())
    shown = Table()
    for key in rows[0]:
        shown.add_column(key, no_wrap=key == "name", overflow="fold")
    for row in rows:
        shown.add_row(*(escape(str(value)) for value in row.values()))
    Console(highlight=False).print(shown)


@app.command()
def check(names: Names = None) -> None:
    """Say what a model lacks before it can be asked: key, package, GPU, weights; exit status 1 if anything."""
    missing = check_models(load_roster(), names or None)
    for lack in missing:
        typer.echo(f"{lack.model}: {lack.what}; {lack.remedy}")
    if missing:
        raise typer.Exit(1)
    typer.echo("nothing is missing")


@app.command()
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(help="Models or weights; all that the roster needs if none.")
    ] = None,
) -> None:
    """Bring weights, from the first source that has them, and check their hashes; what is there is left alone."""
    fetch_models(load_roster(), names or None, typer.echo)
