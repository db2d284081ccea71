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

from taxpraben.backends.roster import load_roster
from taxpraben.board import BoardTable, Column, make_board, percent
from taxpraben.records.answer import Answer
from taxpraben.records.base import read_records
from taxpraben.records.item import Item
from taxpraben.records.reading import Reading
from taxpraben.records.score import Protocol, Score
from taxpraben.records.standing import Standing
from taxpraben.tasks.catalog import load_catalog
from taxpraben.tasks.groups import OVERALL
from taxpraben.workspace import Workspace, WorkspaceError, open_workspace

SHARES = {"unread": "unread", "refused": "refused", "truncated": "cut", "failed": "failed"}


def standings(protocol: Annotated[Protocol, typer.Option(help="aligned or strict")] = "aligned") -> None:
    """Print the standings: groups, intervals and shared ranks, with the shares of answers that fell out."""
    workspace = open_workspace()
    board = make_board(read_records(workspace.standings, Standing), list(load_catalog().values()))
    console = Console(highlight=False)
    for setting in board.settings:
        table = board.table(setting, protocol)
        if table is None:
            continue
        console.print(_table(board.groups, table, f"{setting}, {protocol} ({workspace.profile})"))
    signatures = sorted({text for texts in board.signatures.values() for text in texts})
    console.print("scored by", *signatures, sep="\n  ", markup=False, soft_wrap=True)


def _table(groups: Sequence[Column], table: BoardTable, title: str) -> Table:
    """A table that fits on eighty columns; shares that are zero for every model are left out."""
    shown = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0), pad_edge=False)
    shown.add_column("model", no_wrap=True)
    for column in groups:
        shown.add_column(column.name, justify="right", no_wrap=True)
    shown.add_column("rank", justify="right", no_wrap=True)
    shares = [name for name in SHARES if name == "unread" or any(getattr(row.shares, name) for row in table.rows)]
    for name in shares:
        shown.add_column(SHARES[name], justify="right", no_wrap=True)
    for row in table.rows:
        cells = [row.cell(column) for column in groups]
        overall = cells[0].rank_text if groups and groups[0].name == OVERALL else ""
        fallen = [percent(getattr(row.shares, name)) for name in shares]
        shown.add_row(escape(row.model), *(cell.text for cell in cells), overall, *fallen)
    return shown


def next_steps() -> None:
    """Say where to look next."""
    workspace = open_workspace()
    model = load_roster().chosen[-1]
    item = next((row.item_id for row in read_records(workspace.answers(model), Answer) if row.status == "ok"), "ITEM")
    typer.echo(
        f"""Where to look next:
  {workspace.site / "index.html"}   the board, with intervals, shares and every dataset
  {workspace.out / "data_docs" / "index.html"}   what was checked at each border
  {workspace.site / "exports"}   the release as JSONL, Parquet, lm-evaluation-harness and OpenCompass tasks
  taxpraben explain {model} {item}   from a figure to the prompt, the raw answer, its reading
  taxpraben portal   the review queue (first: taxpraben review person NAME --role admin)
(with `. .venv/bin/activate`, or as .venv/bin/taxpraben)"""
    )


def explain(
    model: Annotated[str, typer.Argument(help="A model of the roster.")],
    item: Annotated[str, typer.Argument(help="An item's id, for example TaxCalc-0123456789ab.")],
    run: Annotated[int, typer.Option(help="Which of the repeated runs, from 0.")] = 0,
) -> None:
    """Print how an item's figure came about: question, prompt, raw answer, reading with evidence, scores."""
    workspace = open_workspace()
    found = _item(workspace, item)
    console = Console(highlight=False)

    def show(label: str, text: object) -> None:
        console.print(f"[bold]{label}[/bold]")
        console.print(str(text), markup=False)

    show("item", f"{found.item_id} ({found.origin}, release {found.release})")
    show("query", found.query)
    show("text", found.text)
    show("gold", found.answer)
    readings = {row.key: row for row in read_records(workspace.readings(model), Reading) if row.item_id == item}
    scores = [row for row in read_records(workspace.scores(model), Score) if row.item_id == item and row.run == run]
    answers = [row for row in read_records(workspace.answers(model), Answer) if row.item_id == item and row.run == run]
    if not answers:
        raise WorkspaceError(f"{model} has no answer to {item} in run {run}; see `taxpraben status`")
    for answer in answers:
        reading = readings[answer.key]
        show(f"\n{answer.setting}: prompt", json.dumps(json.loads(answer.prompt), ensure_ascii=False, indent=1))
        show(f"{answer.setting}: raw answer ({answer.status})", answer.text)
        show(
            f"{answer.setting}: reading ({reading.status} by {reading.method or 'nobody'})",
            f"value {json.dumps(reading.value, ensure_ascii=False)}\n"
            f"strict {json.dumps(reading.strict_value, ensure_ascii=False)}\n"
            f"evidence {reading.evidence!r} {reading.reason} {' '.join(reading.flags)}",
        )
        for score in scores:
            if score.setting == answer.setting:
                value = f"{score.gold} / {score.predicted or '-'}" if score.value is None else f"{score.value:.4f}"
                show(f"{answer.setting}: {score.protocol} {score.metric} {score.field}", f"{value}  {score.signature}")


def _item(workspace: Workspace, item_id: str) -> Item:
    for path in sorted(workspace.release.glob("*.parquet")):
        for row in read_records(path, Item):
            if row.item_id == item_id:
                return row
    raise WorkspaceError(f"no item {item_id!r} in {workspace.release}; ids stand in its .jsonl files")


def status() -> None:
    """Print how far the workspace is: what waits for people, and each model's answers by status."""
    workspace = open_workspace()
    console = Console(highlight=False)
    console.print(f"profile {workspace.profile}, sources {workspace.sources}, asking {workspace.asking}")
    review = workspace.out / "review" / "status.json"
    if review.exists():
        state = json.loads(review.read_text(encoding="utf-8"))
        console.print(f"review: {state['waiting']} drafts wait for people")
    for name in load_roster().chosen:
        path = workspace.answers(name)
        if not path.exists():
            console.print(f"{name}: not asked yet")
            continue
        counts: dict[str, int] = {}
        for row in read_records(path, Answer):
            counts[row.status] = counts.get(row.status, 0) + 1
        console.print(f"{name}: " + ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))


def paper() -> None:
    """Compute the paper's Table 6 from its Table G and name the cells that do not follow."""
    from stages.rank.paper import report

    typer.echo(report(Path("data/reference")))
