"""`taxpraben review`: the queue from the terminal."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True, help="People rule on drafts: exchange with the queue, status, accounts.")
