"""`taxpraben compare-ranks`: two benchmarks side by side, over the models that both evaluated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stages.rank.rank_comparison import compare_ranks, read_columns
from taxpraben.tasks.groups import OVERALL

Columns = Annotated[list[str] | None, typer.Option(help="A metric of the CSV; may be given again.")]


def compare(
    first: Annotated[Path, typer.Argument(help="CSV with a column 'model' and one a metric, or standings.parquet.")],
    second: Annotated[Path, typer.Argument(help="The same of the other benchmark.")],
    first_column: Columns = None,
    second_column: Columns = None,
    setting: Annotated[str, typer.Option(help="zero-shot or one-shot, where a file holds both.")] = "zero-shot",
    name: Annotated[str, typer.Option(help="Group of a file that holds several, or dataset of standings.")] = OVERALL,
) -> None:
    """Rank the jointly evaluated models on both benchmarks, and say how far the orders agree (Tables A2 and A3).

    Several metrics of a benchmark are ranked one by one; a model's ranks are averaged and rounded.
    """
    found = compare_ranks(
        read_columns(first, first_column or [], setting, name), read_columns(second, second_column or [], setting, name)
    )
    console = Console(highlight=False)
    console.print(f"{len(found.rows)} jointly evaluated models, {setting}")
    table = Table("model", box=None)
    for head in (first.stem, second.stem, "places lost"):
        table.add_column(escape(head), justify="right")
    for row in found.rows:
        table.add_row(escape(row.model), str(row.first), str(row.second), f"{row.decline:+d}" if row.decline else "0")
    console.print(table)
    for label, value in (("Spearman's rho", found.spearman), ("Kendall's tau-b", found.kendall)):
        console.print(f"{label}: {'undefined, one side does not vary' if value is None else f'{value:.3f}'}")
    for path, left_out in ((first, found.only_first), (second, found.only_second)):
        if left_out:
            console.print(f"only in {path.name}, left out: {', '.join(left_out)}", markup=False)
