"""``python -m stages.score --model MODEL``: the readings of one model into scores/MODEL.parquet."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from stages.console import run_stage, say
from stages.score.keep import ScoreKeep
from stages.score.params import ScoreParams
from stages.score.scoring import score_all
from taxpraben.backends.roster import load_roster
from taxpraben.backends.weights import resolve_weight
from taxpraben.metrics import Metric, find_metric, metric_names
from taxpraben.records.base import read_records, write_records
from taxpraben.records.item import Item
from taxpraben.records.reading import Reading
from taxpraben.records.score import Score
from taxpraben.tasks.catalog import find_task
from taxpraben.workspace import Workspace, open_workspace


def main() -> None:
    """Score the readings, say what was computed and what was kept, write the scores."""
    parser = argparse.ArgumentParser(prog="python -m stages.score", description=__doc__)
    parser.add_argument("--model", required=True, help="a name of models.yaml")
    model = parser.parse_args().model
    workspace = open_workspace()
    params = workspace.section("score", ScoreParams)
    readings = read_records(workspace.readings(model), Reading)
    tasks = {name: find_task(name) for name in dict.fromkeys(reading.task for reading in readings)}
    items = {
        (item.task, item.item_id): item
        for name in tasks
        for item in read_records(workspace.release / f"{name}.parquet", Item)
    }
    names = {metric for task in tasks.values() for metric in task.metric_names}
    metrics = open_metrics({params.substitute.get(name, name) for name in names}, params, workspace)
    with ScoreKeep(workspace.out / "cache" / "scores.sqlite") as keep:
        scores, tallies = score_all(readings, items, tasks, metrics, params.substitute, keep, say)
    for tally in tallies:
        say(f"{tally.metric}: {tally.rows} rows, {tally.distinct} distinct; {tally.kept} kept, {tally.computed} new")
    write_records(workspace.scores(model), Score, scores)


def open_metrics(names: set[str], params: ScoreParams, workspace: Workspace) -> dict[str, Metric]:
    """The metrics of these names with their parameters.

    Raises:
        MetricError: params.yaml names a metric or parameter that does not exist.
    """
    place = str(workspace.root / "params.yaml")
    for name in (*params.metrics, *params.substitute, *params.substitute.values()):
        if name not in metric_names():
            find_metric(name, where=place)  # raises, with the nearest name
    return {
        name: find_metric(name, _resolved(params.metrics.get(name, {}), workspace), place) for name in sorted(names)
    }


def _resolved(raw: dict[str, Any], workspace: Workspace) -> dict[str, Any]:
    model = raw.get("model")
    if not isinstance(model, str) or not model:
        return raw
    if (workspace.root / "models.yaml").exists() and model in load_roster(workspace.root).weights:
        return {**raw, "model": str(resolve_weight(model, workspace.root))}
    folder = workspace.root / Path(model)
    return {**raw, "model": str(folder)} if folder.is_dir() else raw


if __name__ == "__main__":
    run_stage(main)
