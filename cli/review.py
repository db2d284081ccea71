"""`taxpraben review`: the queue from the terminal."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from taxpraben.queue.files import import_file, write_decisions, write_sheet
from taxpraben.queue.people import come_back, create_person, leave, set_password
from taxpraben.queue.rounds import next_round
from taxpraben.queue.status import people_status, task_status
from taxpraben.queue.store import Queue, open_queue
from taxpraben.workspace import WorkspaceError, open_workspace

PASSWORD = "TAXPRABEN_PASSWORD"  # noqa: S105 (the name of a variable, not a password)

app = typer.Typer(
    no_args_is_help=True, help="People rule on drafts: run the step, see where it stands, files, accounts."
)

TERMINAL = "terminal"
"""Actor, in the audit log, of what is done here: whoever may open the queue's database."""

Name = Annotated[str, typer.Argument(help="The queue's name for the person.")]
Tasks = Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given several times.")]


@contextmanager
def _queue() -> Iterator[Queue]:
    queue = open_queue(open_workspace().queue_url)
    try:
        yield queue
    finally:
        queue.close()


@app.command()
def run() -> None:
    """Bring drafts in and take decisions out; exit status 3 while drafts wait for people."""
    from flows.pipeline import StageFailedError, review

    try:
        left = review(Path())
    except StageFailedError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from error
    if left:
        raise typer.Exit(3)


@app.command()
def status() -> None:
    """Show how far every task and every person is."""
    with _queue() as queue:
        tasks, people = task_status(queue), people_status(queue)
    console = Console(highlight=False)
    by_task = Table("task", "drafts", "filtered", "waiting")
    for row in tasks:
        by_task.add_row(row.task, _counts(row.states), str(row.filtered), str(row.waiting))
    console.print(by_task)
    if people:
        by_person = Table("person", "role", "works")
        for person in people:
            by_person.add_row(person.name, person.role, _counts(person.states))
        console.print(by_person)


def _counts(states: dict[str, int]) -> str:
    return ", ".join(f"{count} {state}" for state, count in states.items() if count) or "none"


@app.command("export")
def export(
    path: Annotated[Path, typer.Argument(help="A .jsonl or .parquet file to write.")],
    tasks: Tasks = None,
    sheet: Annotated[bool, typer.Option(help="Write what waits, for people to fill in without the portal.")] = False,
    limit: Annotated[int, typer.Option(help="At most this many drafts on a sheet; 0 for all.")] = 0,
) -> None:
    """Write the decisions that stand; or, with --sheet, what still waits, to be filled in and imported."""
    with _queue() as queue:
        if sheet:
            count = write_sheet(queue, path, tasks or (), limit or None)
        else:
            count = write_decisions(queue, path, tasks or ())
    typer.echo(f"{path}: {count} {'drafts that wait' if sheet else 'decisions'}")


@app.command("import")
def import_(
    path: Annotated[Path, typer.Argument(help="Decisions (.jsonl, .parquet), or a sheet that was filled in.")],
    person: Annotated[str, typer.Option(help="Who filled in the sheet; a name of the queue.")] = "offline",
) -> None:
    """Take decisions from a file; what contradicts the queue is said and left out."""
    with _queue() as queue:
        taken, empty = import_file(queue, path, person)
    typer.echo(f"{path}: {len(taken.imported)} taken, {len(taken.unchanged)} there already, {empty} rows left empty")
    for what, drafts in taken.left_out.items():
        for draft_id in drafts:
            typer.echo(f"left out, {what}: {draft_id}", err=True)
    if any(taken.left_out.values()):
        raise typer.Exit(1)


@app.command()
def person(
    name: Annotated[str, typer.Argument(help="The queue's name for the person; no personal name.")],
    role: Annotated[str, typer.Option(help="annotator, checker, expert or admin")] = "annotator",
) -> None:
    """Add somebody who may sign in; the password is asked for, or taken from TAXPRABEN_PASSWORD."""
    given = _ask_password()
    with _queue() as queue:
        create_person(queue, name, role, given)
    typer.echo(f"{name} may sign in as {role}")


@app.command()
def password(name: Name) -> None:
    """Give somebody a new password and end their sessions; it is asked for, or taken from TAXPRABEN_PASSWORD."""
    given = _ask_password()
    with _queue() as queue:
        set_password(queue, name, given, TERMINAL)
    typer.echo(f"{name} has a new password; their sessions have ended")


def _ask_password() -> str:
    given = os.environ.get(PASSWORD) or typer.prompt("Password", hide_input=True, confirmation_prompt=True)
    if not given:
        raise WorkspaceError("a password is needed")
    return str(given)


@app.command("leave")
def leave_(
    name: Name,
    to: Annotated[str | None, typer.Option(help="Who takes over what they hold; the whole queue by default.")] = None,
) -> None:
    """End somebody's part: no signing in, and what they hold goes back to the queue or to a colleague."""
    with _queue() as queue:
        count = leave(queue, name, to, TERMINAL)
    typer.echo(f"{name} may no longer sign in; {count} works went {f'to {to}' if to else 'back to the queue'}")


@app.command("back")
def back(name: Name) -> None:
    """Let somebody who left sign in again, with the role and the password they had."""
    with _queue() as queue:
        member = come_back(queue, name, TERMINAL)
    typer.echo(f"{name} may sign in as {member.role}")


@app.command("next-round")
def next_round_() -> None:
    """Open the next round of spot checks; what is submitted from now on belongs to it."""
    with _queue() as queue:
        number = next_round(queue, TERMINAL)
    typer.echo(f"Round {number}: what is submitted from now on belongs to it")
