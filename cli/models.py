"""`taxpraben models`: which models there are, what each lacks, and the embedded weights."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, help="The models of models.yaml: list, check, fetch weights.")
