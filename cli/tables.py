"""The standings dataset by dataset: both protocols side by side."""

from __future__ import annotations

from rich.markup import escape
from rich.table import Table

from taxpraben.board import Board, percent


def datasets_table(board: Board, setting: str) -> Table:
    """A row a dataset and model, best first: strict, aligned, what format cost, uncertainty, and who fell out."""
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("dataset", no_wrap=True)
    table.add_column("model", no_wrap=True)
    for head in ("strict", "aligned", "cost", "sd", "95%", "rank", "p", "unread", "refused", "cut", "failed"):
        table.add_column(head, justify="right", no_wrap=True)
    strict, aligned = board.table(setting, "strict"), board.table(setting, "aligned")
    if aligned is None:
        return table
    for column in board.datasets:
        rows = [row for row in aligned.rows if column.key in row.cells]
        for row in sorted(rows, key=lambda row: (-(row.cell(column).mean or 0.0), row.model)):
            cell = row.cell(column)
            asked = next((one.cell(column).text for one in strict.rows if one.model == row.model), "") if strict else ""
            shares = cell.shares
            table.add_row(
                column.name, escape(row.model), asked, cell.text, cell.cost_text,
                "" if cell.deviation is None else f"{cell.deviation:.3f}", cell.interval, cell.rank_text,
                cell.p_text + ("*" if cell.behind else ""),
                *(percent(share) for share in (shares.unread, shares.refused, shares.truncated, shares.failed)),
            )  # fmt: skip
    return table
