"""`taxpraben review prompts`: the rating of prompts from the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
import yaml
from rich.console import Console
from rich.table import Table

from cli.queue_access import TERMINAL, open_here, shown
from taxpraben.queue.prompts import PROMPTS_A_PERSON, PROMPTS_A_TASK, add_prompts, assign_prompts, close_rating_round
from taxpraben.queue.ratings import rating_summary, write_retained
from taxpraben.workspace import WorkspaceError

app = typer.Typer(no_args_is_help=True, help="Twenty prompts a dataset, rated by people; those above 2 are kept.")

Task = Annotated[str, typer.Argument(help="The task, for example TaxQA.")]


@app.command()
def add(
    task: Task,
    path: Annotated[Path, typer.Argument(help="A prompts.yaml of a task folder, or a text file with a prompt a line.")],
    limit: Annotated[int, typer.Option(help="Most prompts of a task.")] = PROMPTS_A_TASK,
) -> None:
    """Add prompts to be rated."""
    if not path.exists():
        raise WorkspaceError(f"{path}: no such file")
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix in (".yaml", ".yml"):
        loaded = yaml.safe_load(text)
        prompts = loaded.get("prompts") if isinstance(loaded, dict) else None
        if not isinstance(prompts, list) or not all(isinstance(each, str) for each in prompts):
            raise WorkspaceError(f"{path}: no list of texts under 'prompts'")
    else:
        prompts = [line for line in text.splitlines() if line.strip()]
    with open_here() as queue:
        ids = add_prompts(queue, task, prompts, TERMINAL, limit)
    typer.echo(f"{task}: {len(ids)} prompts to rate")


@app.command()
def assign(
    task: Task,
    people: Annotated[list[str], typer.Argument(help="Who rates; names of the queue.")],
    each: Annotated[int, typer.Option(help="Prompts a person in this round.", min=1)] = PROMPTS_A_PERSON,
) -> None:
    """Hand prompts out for a round of rating: balanced, and none twice to anybody."""
    with open_here() as queue:
        given = assign_prompts(queue, task, people, TERMINAL, each)
        total = sum(len(ids) for ids in given.values())
        prompts = len(rating_summary(queue, task)[0].prompts)
    typer.echo(f"{task}: {total} questionnaires to {len(people)} people; they stand in the portal under their names")
    if total % prompts:
        typer.echo(
            f"{total} is no multiple of {prompts} prompts: they get different numbers of raters, and kappa needs equal "
            "ones (alpha does not)",
            err=True,
        )


@app.command()
def close(task: Task) -> None:
    """Close the open round: its ratings are frozen."""
    with open_here() as queue:
        number = close_rating_round(queue, task, TERMINAL)
    typer.echo(f"Round {number} of {task} is closed")


@app.command()
def status(
    task: Annotated[str | None, typer.Argument(help="One task; all by default.")] = None,
    round_number: Annotated[int | None, typer.Option("--round", help="One round; all by default.")] = None,
) -> None:
    """Show agreement and retained prompts as Table C22 does: a metric, and averaged."""
    with open_here() as queue:
        rows = rating_summary(queue, task, round_number)
    table = Table("task", "total", "retained", "metric", "kappa", "alpha", "equal")
    for row in rows:
        figures = [
            ("ACC", row.accuracy),
            ("NAT", row.naturalness),
            ("INF", row.informativeness),
            ("mean", row.averaged),
        ]
        for number, (name, figure) in enumerate(figures):
            head = [row.task, str(row.total), str(row.retained)] if number == 0 else ["", "", ""]
            table.add_row(*head, name, shown(figure.kappa), shown(figure.alpha), shown(figure.percent))
    Console(highlight=False).print(table)


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="A folder to write to: TASK.yaml each, and ratings.jsonl.")],
    task: Annotated[str | None, typer.Option(help="One task; all by default.")] = None,
) -> None:
    """Write the retained prompts, each task's in the form of its prompts.yaml, and every prompt's means beside."""
    with open_here() as queue:
        written = write_retained(queue, folder, task)
    for name, (kept, total) in written.items():
        typer.echo(f"{folder / f'{name}.yaml'}: {kept} of {total} prompts retained")
