"""A release's items -> answers/MODEL.parquet, through a journal that keeps every answer as it comes."""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
from collections import Counter
from importlib import metadata
from pathlib import Path
from typing import Any

from stages.console import run_stage, say
from stages.infer.answering import answer_all
from stages.infer.params import InferParams
from stages.infer.plan import PlanError, Planned, plan_task
from stages.infer.typical import typical_answers
from taxpraben.backends.asking import Asker, Manners
from taxpraben.backends.journal import Journal
from taxpraben.backends.opening import open_backend
from taxpraben.backends.pace import Pace
from taxpraben.backends.roster import Roster, load_roster
from taxpraben.records.answer import Answer
from taxpraben.records.base import read_records, write_records
from taxpraben.records.item import Item
from taxpraben.tasks.catalog import load_catalog
from taxpraben.workspace import Workspace, open_workspace

RECORDED_PACKAGES = ("openai", "xllamacpp", "transformers", "torch")


def main() -> None:
    """Ask one model every item of the release in force."""
    parser = argparse.ArgumentParser(prog="python -m stages.infer", description="ask one model")
    parser.add_argument("--model", required=True, help="a name of models.yaml")
    model = parser.parse_args().model
    workspace = open_workspace()
    roster = load_roster(workspace.root)
    params = _params(workspace, roster, model)
    rows, typical = _plan(workspace, params, with_typical=roster.find(model).baseline == "majority")
    if not rows:
        raise PlanError(f"{workspace.benchmark}: the release has no item; decide some drafts and build it")
    backend = open_backend(roster, model)
    manners = Manners(
        concurrency=params.concurrency,
        attempts=params.attempts,
        requests_a_minute=params.requests_a_minute,
        breaker=params.breaker,
    )
    with Journal(workspace.journals / f"infer-{model}.jsonl") as journal:
        if journal.healed or journal.broken:
            say(f"{journal.path}: mended, {journal.healed} bytes cut and {journal.broken} lines left out; asked again")
        asker = Asker(backend, journal, manners, seed=params.seed)
        answers = asyncio.run(_ask(rows, model, asker, params, typical, workspace.journals))
    write_records(workspace.answers(model), Answer, answers)
    counts = Counter(answer.status for answer in answers)
    cut = sum(answer.error.startswith("cut:") for answer in answers)
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    say(
        f"{model}: {len(answers)} answers ({statuses}); "
        f"{asker.asked} asked now, {asker.kept} from the journal, {cut} with a passage cut"
    )
    record = {
        "model": model,
        "revision": backend.revision,
        "params": params.model_dump(mode="json"),
        "statuses": dict(sorted(counts.items())),
        "versions": _versions(),
        "machine": {
            "system": platform.platform(),
            "processor": platform.machine(),
            "python": platform.python_version(),
        },
    }
    path = workspace.journals / f"infer-{model}.record.json"
    path.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _params(workspace: Workspace, roster: Roster, model: str) -> InferParams:
    params = workspace.section("infer", InferParams)
    groups = {entry.group for entry in roster.models.values()}
    for name in params.overrides:
        if name not in groups:
            roster.find(name)
    return params.of_model(model, roster.find(model).group)


def _plan(workspace: Workspace, params: InferParams, with_typical: bool) -> tuple[list[Planned], dict[str, str]]:
    folder = workspace.release
    rows: list[Planned] = []
    typical: dict[str, str] = {}
    for name, spec in load_catalog().items():
        items = read_records(folder / f"{name}.parquet", Item)
        rows += plan_task(spec, items, params)
        if with_typical:
            typical |= typical_answers(spec, items)
    return rows, typical


async def _ask(
    rows: list[Planned], model: str, asker: Asker, params: InferParams, typical: dict[str, str], journals: Path
) -> list[Answer]:
    pace = Pace(model, len(rows), asker, say, journals / f"infer-{model}.status.json")
    state = "stopped"
    try:
        async with asker:
            answers = await answer_all(rows, model, asker, params, typical, pace.step)
        state = "done"
    finally:
        pace.report(state)
    return answers


def _versions() -> dict[str, Any]:
    found = {}
    for package in RECORDED_PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


if __name__ == "__main__":
    run_stage(main)
