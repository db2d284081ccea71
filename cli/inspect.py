"""Looks at what the lifecycle made: standings, one answer explained, progress, the check against the paper."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cli.tables import datasets_table
from taxpraben.backends.pace import read_standing
from taxpraben.backends.roster import load_roster
from taxpraben.board import BLANK, SIGNIFICANT, BoardTable, Column, make_board, percent
from taxpraben.records.answer import Answer
from taxpraben.records.base import read_records
from taxpraben.records.score import Protocol
from taxpraben.records.standing import Standing
from taxpraben.tasks.catalog import load_catalog
from taxpraben.tasks.groups import OVERALL
from taxpraben.workspace import open_workspace

SHARES = {"unread": "unread", "refused": "refused", "truncated": "cut", "failed": "failed"}

WIDE = 150


def standings(
    protocol: Annotated[Protocol, typer.Option(help="aligned or strict")] = "aligned",
    datasets: Annotated[
        bool, typer.Option("--datasets", help="Each dataset: both protocols, deviation, interval, p, shares.")
    ] = False,
) -> None:
    """Print the standings: groups, intervals and shared ranks, with what format cost and which answers fell out."""
    workspace = open_workspace()
    board = make_board(read_records(workspace.standings, Standing), list(load_catalog().values()))
    console = Console(highlight=False)
    # A row that the terminal wraps is whole, one that is cut is not.
    tables = Console(highlight=False, width=max(console.width, WIDE))
    for setting in board.settings:
        table = board.table(setting, protocol)
        if table is None:
            continue
        tables.print(_table(board.groups, table, f"{setting}, {protocol} ({workspace.profile})"))
        if datasets:
            tables.print(datasets_table(board, setting))
    console.print(
        f"* differs from the best model (p < {SIGNIFICANT}, Holm); cost: aligned minus strict, what format cost"
    )
    signatures = sorted({text for texts in board.signatures.values() for text in texts})
    console.print("scored by", *signatures, sep="\n  ", markup=False, soft_wrap=True)


def _table(groups: Sequence[Column], table: BoardTable, title: str) -> Table:
    """A table that mostly fits on eighty columns; shares that are zero for every model are left out."""
    shown = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    shown.add_column("model", no_wrap=True)
    for column in groups:
        shown.add_column(column.name, justify="right", no_wrap=True)
    for head in ("rank", "cost"):
        shown.add_column(head, justify="right", no_wrap=True)
    shares = [name for name in SHARES if name == "unread" or any(getattr(row.shares, name) for row in table.rows)]
    for name in shares:
        shown.add_column(SHARES[name], justify="right", no_wrap=True)
    for row in table.rows:
        cells = [row.cell(column) for column in groups]
        first = cells[0] if groups and groups[0].name == OVERALL else BLANK
        fallen = [percent(getattr(row.shares, name)) for name in shares]
        rank = first.rank_text + ("*" if first.behind else "")
        shown.add_row(escape(row.model), *(cell.text for cell in cells), rank, first.cost_text, *fallen)
    return shown


def next_steps() -> None:
    """Say where to look next."""
    workspace = open_workspace()
    model = load_roster().chosen[-1]
    answers = read_records(workspace.answers(model), Answer)
    item = next((f"{row.task} {row.item_id}" for row in answers if row.status == "ok"), "DATASET ID")
    typer.echo(
        f"""Where to look next:
  {workspace.site / "index.html"}   the board, with intervals, shares and every dataset
  {workspace.out / "data_docs" / "index.html"}   what was checked at each border
  {workspace.site / "exports"}   the release as JSONL, Parquet, lm-evaluation-harness and OpenCompass tasks
  taxpraben explain {model} {item}   from a figure to the prompt, the raw answer, its reading
  taxpraben portal   the review queue (first: taxpraben review person NAME --role admin)
(with `. .venv/bin/activate`, or as .venv/bin/taxpraben)"""
    )


def status() -> None:
    """Print how far the workspace is: what waits for people, each model's answers, and who is being asked."""
    workspace = open_workspace()
    console = Console(highlight=False)
    console.print(f"profile {workspace.profile}, sources {workspace.sources}, asking {workspace.asking}")
    review = workspace.out / "review" / "status.json"
    if review.exists():
        state = json.loads(review.read_text(encoding="utf-8"))
        console.print(f"review: {state['waiting']} drafts wait for people")
    for name in load_roster().chosen:
        running = read_standing(workspace.journals / f"infer-{name}.status.json")
        if running is not None and running.state != "done":
            console.print(f"{name}: {running.state} ({running.at}): {running.line}", markup=False, soft_wrap=True)
            continue
        path = workspace.answers(name)
        if not path.exists():
            console.print(f"{name}: not asked yet")
            continue
        counts: dict[str, int] = {}
        for row in read_records(path, Answer):
            counts[row.status] = counts.get(row.status, 0) + 1
        cost = f"; {running.cost:.4f} {running.currency}" if running is not None and running.currency else ""
        console.print(f"{name}: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())) + cost)


def paper() -> None:
    """Compute the paper's Table 6 from its Table G and name the cells that do not follow."""
    from stages.rank.paper import report

    typer.echo(report(Path("data/reference")))
