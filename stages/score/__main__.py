"""``python -m stages.score --model MODEL``: the readings of one model into scores/MODEL.parquet."""

from __future__ import annotations

import argparse

from stages.console import run_stage, say
from stages.score.keep import ScoreKeep
from stages.score.opening import open_metrics
from stages.score.params import ScoreParams
from stages.score.scoring import score_all
from taxpraben.records.base import read_records, write_records
from taxpraben.records.item import read_release
from taxpraben.records.reading import Reading
from taxpraben.records.score import Score
from taxpraben.tasks.catalog import find_task
from taxpraben.workspace import open_workspace


def main() -> None:
    """Score the readings, say what was computed and what was kept, write the scores."""
    parser = argparse.ArgumentParser(prog="python -m stages.score", description=__doc__)
    parser.add_argument("--model", required=True, help="a name of models.yaml")
    model = parser.parse_args().model
    workspace = open_workspace()
    params = workspace.section("score", ScoreParams)
    readings = read_records(workspace.readings(model), Reading)
    tasks = {name: find_task(name) for name in dict.fromkeys(reading.task for reading in readings)}
    items = read_release(workspace.release, tasks)
    names = {metric for task in tasks.values() for metric in task.metric_names}
    metrics = open_metrics({params.substitute.get(name, name) for name in names}, params, workspace)
    with ScoreKeep(workspace.out / "cache" / "scores.sqlite") as keep:
        scores, tallies = score_all(readings, items, tasks, metrics, params.substitute, keep, say)
    for tally in tallies:
        say(str(tally))
    write_records(workspace.scores(model), Score, scores)


if __name__ == "__main__":
    run_stage(main)
