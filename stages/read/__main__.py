"""``python -m stages.read --model MODEL``: the answers of one model into readings/MODEL.parquet."""

from __future__ import annotations

import argparse

from stages.console import progress, run_stage, say
from stages.read.params import ReadParams
from stages.read.parsing import ask_parser, collect_prompts, left_to_parser
from stages.read.readings import Ask, read_all, summary
from taxpraben.records.answer import Answer
from taxpraben.records.base import read_records, write_records
from taxpraben.records.item import read_release
from taxpraben.records.reading import Reading
from taxpraben.tasks.catalog import find_task
from taxpraben.workspace import open_workspace


def main() -> None:
    """Read the answers, say how they were read, write the readings."""
    parser = argparse.ArgumentParser(prog="python -m stages.read", description=__doc__)
    parser.add_argument("--model", required=True, help="a name of models.yaml")
    model = parser.parse_args().model
    workspace = open_workspace()
    params = workspace.section("read", ReadParams)
    answers = read_records(workspace.answers(model), Answer)
    tasks = {name: find_task(name) for name in dict.fromkeys(answer.task for answer in answers)}
    items = read_release(workspace.release, tasks)
    ask: Ask | None = None
    if params.parser.model:
        prompts, left = collect_prompts(lambda note: read_all(answers, items, tasks, note))
        say(f"{left_to_parser(left, len(answers), len(prompts))} {params.parser.model}")
        if prompts:
            said = ask_parser(prompts, params.parser, workspace.root, workspace.journals / f"parser-{model}.jsonl")
            say(said.bill())
            ask = said
    readings = read_all(progress(answers, f"read {model}", len(answers)), items, tasks, ask)
    for line in summary(readings):
        say(line)
    write_records(workspace.readings(model), Reading, readings)


if __name__ == "__main__":
    run_stage(main)
