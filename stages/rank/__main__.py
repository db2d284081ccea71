"""``python -m stages.rank``: the scores of the roster into standings.parquet, standings.jsonl and standings.txt."""

from __future__ import annotations

from stages.console import run_stage, say
from stages.rank.columns import read_scores
from stages.rank.params import RankParams
from stages.rank.shown import standings_text
from stages.rank.standings import rank
from taxpraben.backends.roster import load_roster
from taxpraben.metrics import metric_class
from taxpraben.records.base import read_records, write_jsonl, write_records
from taxpraben.records.standing import Standing
from taxpraben.tasks.catalog import load_catalog
from taxpraben.workspace import SubstituteParams, open_workspace


def main() -> None:
    """Rank the roster's scores and show the standings."""
    workspace = open_workspace()
    params = workspace.section("rank", RankParams)
    substitute = workspace.section("score", SubstituteParams).substitute
    models = load_roster(workspace.root).chosen
    tasks = [task for task in load_catalog().values() if task.domain == params.domain]
    scores = read_scores([workspace.scores(model) for model in models])
    standings = rank(scores, models, tasks, metric_class, substitute, params, say)
    write_records(workspace.standings, Standing, standings)
    ordered = read_records(workspace.standings, Standing)
    write_jsonl(workspace.standings.with_suffix(".jsonl"), ordered)
    text = standings_text(ordered, [task.name for task in tasks])
    workspace.standings.with_suffix(".txt").write_text(text, encoding="utf-8", newline="\n")
    print(text)


if __name__ == "__main__":
    run_stage(main)
