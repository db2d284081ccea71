"""A release's items -> answers/MODEL.parquet, through a journal that keeps every answer as it comes."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
from collections import Counter
from pathlib import Path

from stages.console import run_stage, say
from stages.infer.answering import answer_all, ask_by_batches
from stages.infer.money import journal_of, open_purse
from stages.infer.params import InferParams
from stages.infer.plan import PlanError, Planned, plan_task
from stages.infer.record import Sessions, make_record
from stages.infer.typical import typical_answers
from taxpraben.backends.asking import Asker, Manners
from taxpraben.backends.batches import BatchFiles
from taxpraben.backends.journal import Journal
from taxpraben.backends.openai_api import OpenAIBackend
from taxpraben.backends.opening import open_backend
from taxpraben.backends.pace import Pace
from taxpraben.backends.protocol import BackendError
from taxpraben.backends.roster import Roster, load_roster
from taxpraben.records.answer import Answer
from taxpraben.records.base import read_records, write_records
from taxpraben.records.item import Item
from taxpraben.tasks.catalog import load_catalog
from taxpraben.workspace import Workspace, open_workspace


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
        tokens_a_minute=params.tokens_a_minute,
        breaker=params.breaker,
    )
    sessions = Sessions(workspace.journals / f"infer-{model}.sessions.jsonl")
    with Journal(journal_of(workspace.journals, model)) as journal:
        if journal.healed or journal.broken:
            say(f"{journal.path}: mended, {journal.healed} bytes cut and {journal.broken} lines left out; asked again")
        purse = open_purse(roster, params, model, journal, workspace.journals)
        asker = Asker(backend, journal, manners, seed=params.seed, purse=purse)
        asker.started = lambda: sessions.begin(backend)
        gc.freeze()  # the plan stays: to look through it for garbage takes 50 ms, in which no answer is taken
        answers = asyncio.run(_ask(rows, model, asker, params, typical, workspace.journals))
    write_records(workspace.answers(model), Answer, answers)
    counts = Counter(answer.status for answer in answers)
    cut = sum(answer.error.startswith("cut:") for answer in answers)
    statuses = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    cost = f", {purse.spent:.4f} {purse.currency} spent" if purse.price is not None else ""
    say(
        f"{model}: {len(answers)} answers ({statuses}); "
        f"{asker.asked} asked now, {asker.kept} from the journal, {cut} with a passage cut{cost}"
    )
    uncounted = journal.used[model].uncounted if model in journal.used else 0
    if uncounted and purse.price is not None:
        say(f"{model}: {uncounted} replies came without token counts; later runs cannot count what they cost")
    items = {row.item.item_id: row.item for row in rows}
    release = workspace.release.name
    record = make_record(model, roster.find(model), release, params, asker, answers, items, sessions)
    workspace.answers_record(model).write_text(
        json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
    )


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
            if params.batches:
                files = _batch_files(model, asker, params, journals)
                left = await ask_by_batches(rows, model, asker, params, typical, files)
                if left:
                    say(f"{model}: {left} requests were answered by no batch and are asked singly")
            answers = await answer_all(rows, model, asker, params, typical, pace.step)
        state = "done"
    except asyncio.CancelledError:
        say(f"{model}: stopping")
        raise
    finally:
        pace.report(state)
    return answers


def _batch_files(model: str, asker: Asker, params: InferParams, journals: Path) -> BatchFiles:
    if not isinstance(asker.backend, OpenAIBackend) or not asker.backend.capabilities.batch_api:
        raise BackendError(
            f"{model}: infer.batches is set, but its service is not known to take batch files; set options: "
            "{batch_api: true} in models.yaml if it does, or infer.overrides."
            f"{model}.batches: false in params.yaml"
        )
    return BatchFiles(asker, asker.backend, journals / f"infer-{model}.batches.json", params.batch, say)


if __name__ == "__main__":
    run_stage(main)
