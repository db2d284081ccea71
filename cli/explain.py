"""`taxpraben explain`: from a figure to the item, the prompt, the raw answer, its reading and its scores."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console

from taxpraben.records.answer import Answer
from taxpraben.records.base import read_records
from taxpraben.records.item import Item
from taxpraben.records.reading import Reading
from taxpraben.records.score import PROTOCOLS, Score
from taxpraben.tasks.catalog import find_task
from taxpraben.workspace import Workspace, WorkspaceError, open_workspace


def explain(
    model: Annotated[str, typer.Argument(help="A model of the roster.")],
    dataset: Annotated[str, typer.Argument(help="A dataset, for example TaxCalc; or the whole id of an item.")],
    item_id: Annotated[
        str, typer.Argument(metavar="ID", help="An item's id: TaxCalc-0123456789ab, or its last part.")
    ] = "",
    run: Annotated[int, typer.Option(help="Which of the repeated runs, from 0.")] = 0,
) -> None:
    """Print how an item's figure came about: question, prompt, raw answer, reading with evidence, both protocols."""
    workspace = open_workspace()
    item = _item(workspace, dataset, item_id)
    mine = (item.task, item.item_id, run)
    answers = [
        row for row in read_records(workspace.answers(model), Answer) if (row.task, row.item_id, row.run) == mine
    ]
    if not answers:
        raise WorkspaceError(f"{model} has no answer to {item.item_id} in run {run}; see `taxpraben status`")
    readings = {row.key: row for row in read_records(workspace.readings(model), Reading)}
    scores = [row for row in read_records(workspace.scores(model), Score) if (row.task, row.item_id, row.run) == mine]
    show("item", f"{item.item_id} of {item.task} ({item.origin}, release {item.release})")
    show("query", item.query)
    show("text", item.text)
    show("gold", item.answer)
    for answer in answers:
        show(f"\n{answer.setting}, run {run}: prompt", _indented(answer.prompt))
        error = f": {answer.error}" if answer.error else ""
        show(f"{answer.setting}: raw answer ({answer.status}{error})", answer.text)
        reading = readings.get(answer.key)
        if reading is None:
            show(f"{answer.setting}: reading", f"none yet; `taxpraben rescore {model}` reads and scores stored answers")
            continue
        show(f"{answer.setting}: reading ({reading.status} by {reading.method or 'nobody'})", _reading_text(reading))
        show(f"{answer.setting}: scores", _scores_text([one for one in scores if one.setting == answer.setting]))


def show(label: str, text: str) -> None:
    """Print a part under its name."""
    console = Console(highlight=False)
    console.print(f"[bold]{label}[/bold]")
    console.print(text, markup=False, soft_wrap=True)


def _indented(prompt: str) -> str:
    try:
        return json.dumps(json.loads(prompt), ensure_ascii=False, indent=1)
    except ValueError:
        return prompt


def _reading_text(reading: Reading) -> str:
    lines = [
        f"value    {json.dumps(reading.value, ensure_ascii=False)}",
        f"strict   {json.dumps(reading.strict_value, ensure_ascii=False)}",
        f"evidence {reading.evidence!r}",
    ]
    lines += [f"reason   {reading.reason}"] if reading.reason else []
    lines += [f"flags    {' '.join(reading.flags)}"] if reading.flags else []
    return "\n".join(lines)


def _scores_text(scores: list[Score]) -> str:
    """A line a metric and field: both protocols, flags, and what made the figure."""
    by_place: dict[tuple[str, str], dict[str, Score]] = {}
    for score in scores:
        by_place.setdefault((score.metric, score.field), {})[score.protocol] = score
    lines: list[str] = []
    for (metric, field), both in by_place.items():
        values = "  ".join(f"{protocol} {_value(both[protocol])}" for protocol in PROTOCOLS if protocol in both)
        flags = sorted({flag for score in both.values() for flag in score.flags})
        lines.append(f"{metric} {field}".strip() + f"  {values}" + (f"  ({' '.join(flags)})" if flags else ""))
        lines.append(f"    {next(iter(both.values())).signature}")
    return "\n".join(lines) or "none yet; run `taxpraben score`"


def _value(score: Score) -> str:
    """The value; of a metric that exists over lists only, what it counts: gold and picked letters."""
    return f"gold {score.gold}, picked {score.predicted or '-'}" if score.value is None else f"{score.value:.4f}"


def _item(workspace: Workspace, dataset: str, item_id: str) -> Item:
    whole = item_id or dataset
    task = find_task(dataset if item_id else whole.rpartition("-")[0] or whole).name
    wanted = {whole, f"{task}-{whole}"}
    for row in read_records(workspace.release / f"{task}.parquet", Item):
        if row.item_id in wanted:
            return row
    raise WorkspaceError(
        f"no item {whole!r} in {workspace.release / task}.parquet; ids stand in {task}.jsonl beside it"
    )
