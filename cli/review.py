"""`taxpraben review`: the queue from the terminal."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from cli import rating
from cli.queue_access import TERMINAL, open_here, shown
from taxpraben.queue.backup import backup, restore
from taxpraben.queue.batches import batch_status
from taxpraben.queue.claims import assign, release_all
from taxpraben.queue.events import EVENTS
from taxpraben.queue.files import import_file, is_share, write_decisions, write_sheet
from taxpraben.queue.gold import draw_gold, gold_drafts, gold_scores, remove_gold
from taxpraben.queue.judged import verdict_agreement
from taxpraben.queue.label_studio import export_label_studio, import_label_studio, label_config
from taxpraben.queue.people import come_back, create_person, leave, set_password
from taxpraben.queue.rounds import next_round
from taxpraben.queue.share import ShareReport, export_share, import_share
from taxpraben.queue.status import people_status, round_status, task_status
from taxpraben.queue.webhooks import add_webhook, deliver_due, deliveries, remove_webhook, webhooks
from taxpraben.workspace import WorkspaceError

PASSWORD = "TAXPRABEN_PASSWORD"  # noqa: S105 (the name of a variable, not a password)

SECRET = "TAXPRABEN_WEBHOOK_SECRET"  # noqa: S105 (likewise)

app = typer.Typer(
    no_args_is_help=True, help="People rule on drafts: run the step, see where it stands, files, accounts."
)

app.add_typer(rating.app, name="prompts")

Name = Annotated[str, typer.Argument(help="The queue's name for the person.")]
Tasks = Annotated[list[str] | None, typer.Option("--task", help="Only this task; may be given several times.")]


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
    with open_here() as queue:
        tasks, people = task_status(queue), people_status(queue)
        batches, rounds = batch_status(queue), round_status(queue)
        gold = {score.name: score for score in gold_scores(queue)}
        agreed = verdict_agreement(queue)
    console = Console(highlight=False)
    by_task = Table("task", "drafts", "filtered", "waiting")
    for row in tasks:
        by_task.add_row(row.task, _counts(row.states), str(row.filtered), str(row.waiting))
    console.print(by_task)
    if people:
        by_person = Table("person", "role", "works", *(["gold right"] if gold else []))
        for person in people:
            score = gold.get(person.name)
            of_gold = [f"{score.right} of {score.judged}" if score else ""] if gold else []
            by_person.add_row(person.name, person.role, _counts(person.states), *of_gold)
        console.print(by_person)
    if any(batch.batch > 1 for batch in batches):
        by_batch = Table("task", "batch", "settled", "of")
        for batch in batches:
            by_batch.add_row(batch.task, str(batch.batch), str(batch.settled), str(batch.needed))
        console.print(by_batch)
    if any(number.drawn for number in rounds):
        by_round = Table("round", "people", "waiting", "settled", "shares passed", "sent back", "spot checks passed")
        for number in rounds:
            by_round.add_row(
                *map(str, (number.round, number.people, number.waiting, number.settled)),
                *map(str, (number.accepted, number.sent_back, f"{number.passed} of {number.drawn}")),
            )
        console.print(by_round)
    if agreed:
        table = Table("task", "round", "pair", "drafts", "kappa", "alpha", "equal", "note")
        for judged in agreed:
            table.add_row(
                judged.task,
                "" if judged.round is None else str(judged.round),
                " ".join(judged.pair),
                str(judged.figures.units),
                *(shown(figure) for figure in (judged.figures.kappa, judged.figures.alpha, judged.figures.percent)),
                judged.figures.note,
            )
        console.print(table)


@app.command("assign")
def assign_(
    name: Name,
    count: Annotated[int, typer.Option(help="How many at most.", min=1)] = 20,
    task: Annotated[str | None, typer.Option(help="Only of this task.")] = None,
    batch: Annotated[int | None, typer.Option(help="Only of this batch of the task.")] = None,
) -> None:
    """Hand open drafts to somebody, in order; their time limit begins."""
    with open_here() as queue:
        works = assign(queue, name, count, task, batch, TERMINAL)
    typer.echo(f"{name} has {len(works)} more works" + ("" if works else "; nothing is open for them"))


@app.command("release")
def release_(name: Name) -> None:
    """Put everything that somebody holds back in the queue; what they typed is kept."""
    with open_here() as queue:
        count = release_all(queue, name, TERMINAL)
    typer.echo(f"{count} works of {name} went back to the queue")


def _counts(states: dict[str, int]) -> str:
    return ", ".join(f"{count} {state}" for state, count in states.items() if count) or "none"


@app.command("export")
def export(
    path: Annotated[Path, typer.Argument(help="A .jsonl, .parquet, .xlsx or .json file to write.")],
    tasks: Tasks = None,
    sheet: Annotated[bool, typer.Option(help="Write what waits, for people to fill in without the portal.")] = False,
    limit: Annotated[int, typer.Option(help="At most this many drafts on a sheet; 0 for all.")] = 0,
    person: Annotated[str, typer.Option(help="Write what this person holds: .xlsx or .jsonl, to fill in.")] = "",
    label_studio: Annotated[
        bool, typer.Option("--label-studio", help="Write tasks for Label Studio, and its labelling interface beside.")
    ] = False,
) -> None:
    """Write the decisions that stand; or what waits (--sheet), a person's share (--person), Label Studio's tasks."""
    with open_here() as queue:
        if label_studio:
            path.write_bytes(export_label_studio(queue, tasks or ()))
            interface = path.with_suffix(".xml")
            interface.write_text(label_config(), encoding="utf-8")
            typer.echo(f"{path}: tasks for Label Studio; {interface}: the labelling interface of their project")
            return
        if person:
            path.write_bytes(export_share(queue, person, _kind(path)))
            typer.echo(f"{path}: what {person} holds")
            return
        if sheet:
            count = write_sheet(queue, path, tasks or (), limit or None)
        else:
            count = write_decisions(queue, path, tasks or ())
    typer.echo(f"{path}: {count} {'drafts that wait' if sheet else 'decisions'}")


def _kind(path: Path) -> Literal["jsonl", "xlsx"]:
    if path.suffix == ".xlsx":
        return "xlsx"
    if path.suffix == ".jsonl":
        return "jsonl"
    raise WorkspaceError(f"{path}: a share is an .xlsx or a .jsonl file")


@app.command("import")
def import_(
    path: Annotated[Path, typer.Argument(help="Decisions, a sheet or share that was filled in, or Label Studio's.")],
    person: Annotated[str, typer.Option(help="Who filled it in; a name of the queue.")] = "offline",
) -> None:
    """Take decisions from a file; what contradicts the queue is said and left out."""
    if not path.exists():
        raise WorkspaceError(f"{path}: no such file")
    with open_here() as queue:
        if path.suffix == ".xlsx" or is_share(path):
            _tell_share(path, import_share(queue, path.read_bytes(), _kind(path), person))
            return
        if path.suffix == ".json":
            taken, empty = import_label_studio(queue, path.read_bytes(), TERMINAL), 0
        else:
            taken, empty = import_file(queue, path, person)
    typer.echo(f"{path}: {len(taken.imported)} taken, {len(taken.unchanged)} there already, {empty} rows left empty")
    for what, drafts in taken.left_out.items():
        for draft_id in drafts:
            typer.echo(f"left out, {what}: {draft_id}", err=True)
    if any(taken.left_out.values()):
        raise typer.Exit(1)


def _tell_share(path: Path, report: ShareReport) -> None:
    typer.echo(
        f"{path}: {len(report.taken)} taken, {len(report.unchanged)} there already, {len(report.empty)} rows left empty"
    )
    for what, notes in (("wrong", report.problems), ("conflict", report.conflicts), ("too late", report.late)):
        for note in notes:
            typer.echo(f"{what}, row {note.row} ({note.draft_id}): {note.message}", err=True)
    if report.problems:
        typer.echo("Nothing of the file was taken: mend these rows and import it again", err=True)
    if report.problems or report.conflicts or report.late:
        raise typer.Exit(1)


@app.command("backup")
def backup_(
    path: Annotated[Path, typer.Argument(help="The file to write; it holds password hashes, keep it safe.")],
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
) -> None:
    """Write the whole queue to one file while people work on, and read it again to be sure."""
    with open_here() as queue:
        held = backup(queue, path, force)
    typer.echo(f"{path}: {held.total} rows ({held.rows['decisions']} decisions), sha256 {held.checksum}")


@app.command("restore")
def restore_(
    path: Annotated[Path, typer.Argument(help="A file that `backup` wrote, from SQLite or PostgreSQL.")],
    force: Annotated[bool, typer.Option("--force", help="Replace what the queue holds.")] = False,
) -> None:
    """Put a backup in the place of the queue's contents, all of it or nothing; stop the portal first."""
    with open_here() as queue:
        held = restore(queue, path, force)
    typer.echo(f"{path}: {held.total} rows of {held.made_at} restored, counts and checksum right")


@app.command("gold")
def gold_(
    task: Annotated[str, typer.Argument(help="The task.")],
    count: Annotated[int, typer.Option(help="How many to draw among the drafts that people settled.", min=1)] = 10,
    seed: Annotated[int, typer.Option(help="Seeds the draw.")] = 20241130,
    remove: Annotated[bool, typer.Option("--remove", help="Hand out none of the task's gold items any more.")] = False,
) -> None:
    """Make settled drafts gold items: mixed in unseen (review.gold_every), they show who finds the answer again."""
    with open_here() as queue:
        if remove:
            gone = [each.draft_id for each in gold_drafts(queue) if each.task == task]
            for draft_id in gone:
                remove_gold(queue, draft_id, TERMINAL)
            typer.echo(f"{task}: {len(gone)} gold items removed; their scores stay")
            return
        drawn = draw_gold(queue, task, count, seed, TERMINAL)
    typer.echo(f"{task}: {len(drawn)} gold items: {', '.join(drawn)}")


@app.command("deliver")
def deliver(
    watch: Annotated[bool, typer.Option("--watch", help="Go on until stopped.")] = False,
) -> None:
    """Send the events that webhooks wait for; nothing else sends them, so keep `--watch` running beside the portal."""
    with open_here() as queue:
        while True:
            sent = deliver_due(queue)
            if sent or not watch:
                typer.echo(f"{sent} delivered")
            if not watch:
                return
            time.sleep(5)


@app.command("webhook")
def webhook(
    url: Annotated[str, typer.Argument(help="Where to send events; empty to list the webhooks.")] = "",
    secret_env: Annotated[str, typer.Option(help="The variable that holds the secret.")] = SECRET,
    event: Annotated[list[str] | None, typer.Option("--event", help="Only this event; may be given again.")] = None,
    remove: Annotated[int, typer.Option(help="Remove the webhook of this number.")] = 0,
) -> None:
    """Tell another system when a batch, a round or a dataset is complete; without arguments list who is told."""
    with open_here() as queue:
        if remove:
            remove_webhook(queue, remove, TERMINAL)
        elif url:
            number = add_webhook(queue, url, event or EVENTS, secret_env, TERMINAL)
            typer.echo(f"Webhook {number}: {url}")
            return
        for hook in webhooks(queue):
            typer.echo(f"{hook.webhook_id}  {hook.url}  {', '.join(hook.events)}  secret in {hook.secret_env}")
        for sent in deliveries(queue, 20):
            typer.echo(f"   {sent.state}  {sent.event}  {sent.attempts} attempts  {sent.last_error}")


@app.command()
def person(
    name: Annotated[str, typer.Argument(help="The queue's name for the person; no personal name.")],
    role: Annotated[str, typer.Option(help="annotator, checker, expert or admin")] = "annotator",
) -> None:
    """Add somebody who may sign in; the password is asked for, or taken from TAXPRABEN_PASSWORD."""
    given = _ask_password()
    with open_here() as queue:
        create_person(queue, name, role, given)
    typer.echo(f"{name} may sign in as {role}")


@app.command()
def password(name: Name) -> None:
    """Give somebody a new password and end their sessions; it is asked for, or taken from TAXPRABEN_PASSWORD."""
    given = _ask_password()
    with open_here() as queue:
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
    with open_here() as queue:
        count = leave(queue, name, to, TERMINAL)
    typer.echo(f"{name} may no longer sign in; {count} works went {f'to {to}' if to else 'back to the queue'}")


@app.command("back")
def back(name: Name) -> None:
    """Let somebody who left sign in again, with the role and the password they had."""
    with open_here() as queue:
        member = come_back(queue, name, TERMINAL)
    typer.echo(f"{name} may sign in as {member.role}")


@app.command("next-round")
def next_round_() -> None:
    """Open the next round of spot checks; what is submitted from now on belongs to it."""
    with open_here() as queue:
        number = next_round(queue, TERMINAL)
    typer.echo(f"Round {number}: what is submitted from now on belongs to it")
