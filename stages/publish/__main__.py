"""standings + release + checks -> site/: the static board, the data quality page, downloads and exports."""

from __future__ import annotations

import shutil
from pathlib import Path

from stages.console import run_stage, say
from stages.publish.downloads import standings_csv, standings_json
from stages.publish.exports.bundle import bundle
from stages.publish.pages import About, board_page, foreign_metrics, quality_page
from stages.publish.params import PublishParams
from taxpraben.board import make_board
from taxpraben.records.base import read_records
from taxpraben.records.check import BORDERS, read_report
from taxpraben.records.item import Item
from taxpraben.records.standing import Standing
from taxpraben.tasks.catalog import load_catalog
from taxpraben.workspace import open_workspace


def main() -> None:
    """Make the site anew; what an older run left there goes."""
    workspace = open_workspace()
    params = workspace.section("publish", PublishParams)
    release = workspace.release.name
    tasks = list(load_catalog().values())
    folder = workspace.release
    items = {spec.name: read_records(folder / f"{spec.name}.parquet", Item) for spec in tasks}
    standings = read_records(workspace.standings, Standing)
    reports = [read_report(path) for name in BORDERS if (path := workspace.checks / f"{name}.json").exists()]
    about = About(
        title_zh=params.title_zh,
        title_en=params.title_en,
        release=release,
        profile=workspace.profile,
        tasks=tasks,
        counts={name: len(rows) for name, rows in items.items()},
        foreign=foreign_metrics(standings, tasks, params.paper_models),
    )
    board = make_board(standings, tasks)
    files = {
        "index.html": board_page(board, about).encode(),
        "quality.html": quality_page(reports, about).encode(),
        "standings.csv": standings_csv(standings).encode(),
        "standings.json": standings_json(standings, release).encode(),
    }
    exports = f"exports/{release}"
    files |= {f"{exports}/{name}": content for name, content in bundle(items, tasks, release).items()}
    shutil.rmtree(workspace.site, ignore_errors=True)
    for name, content in files.items():
        _write(workspace.site / name, content)
    for name, rows in items.items():
        if rows:
            _write(workspace.site / exports / "parquet" / f"{name}.parquet", (folder / f"{name}.parquet").read_bytes())
    say(
        f"site: {len(board.tables)} tables, {about.total} items exported, {len(about.foreign)} metrics with other "
        f"models than the paper's; open {workspace.site / 'index.html'}"
    )


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


if __name__ == "__main__":
    run_stage(main)
