"""Where the review stands, and whether the pipeline may go on."""

from __future__ import annotations

import math
from collections.abc import Sequence

from taxpraben.queue.status import TaskStatus
from taxpraben.records.base import JsonObject

PORTAL = "http://127.0.0.1:8350/"


def missing(status: TaskStatus, share: float) -> int:
    """How many more drafts of a task must be settled for this share of those that need a person."""
    return max(0, math.ceil(status.needed * share - 1e-9) - status.settled)


def awaits_people(statuses: Sequence[TaskStatus], share: float) -> bool:
    """Whether any task lacks settled drafts."""
    return any(missing(status, share) for status in statuses)


def as_json(statuses: Sequence[TaskStatus], share: float) -> JsonObject:
    """Counts by task and state, with totals; equal queues give equal objects.

    ``complete`` says whether the pipeline may go on; ``waiting`` counts all that people have left, ``missing`` (of a
    task) what they must settle before it may.
    """
    tasks: JsonObject = {
        status.task: {
            "states": dict(status.states),
            "needed": status.needed,
            "settled": status.settled,
            "waiting": status.waiting,
            "missing": missing(status, share),
            "failed_drafts": status.failed,
            "filtered": status.filtered,
        }
        for status in statuses
    }
    return {
        "share": share,
        "complete": not awaits_people(statuses, share),
        "needed": sum(status.needed for status in statuses),
        "settled": sum(status.settled for status in statuses),
        "filtered": sum(status.filtered for status in statuses),
        "waiting": sum(status.waiting for status in statuses),
        "waiting_by_task": {status.task: status.waiting for status in statuses if status.waiting},
        "link": PORTAL,
        "tasks": tasks,
    }


def message(statuses: Sequence[TaskStatus], share: float) -> str:
    """What a person reads when the pipeline stops for people: how many, of what, and how to go on."""
    left = [status for status in statuses if status.waiting]
    total = sum(status.waiting for status in left)
    by_task = ", ".join(f"{status.task} {status.waiting}" for status in left)
    words = "draft awaits" if total == 1 else "drafts await"
    enough = sum(missing(status, share) for status in statuses)
    goal = "" if enough == total else f" {enough} of them are enough to go on (review.complete: {share:g})."
    return (
        f"Review: {total} {words} people ({by_task}).{goal} This is no error: judge them, then run again.\n"
        f"  in the browser:  taxpraben portal   then open {PORTAL}\n"
        "  or with files:   taxpraben review export --sheet FILE.jsonl   fill it in, then\n"
        "                   taxpraben review import FILE.jsonl\n"
        "  then:            dvc repro   (what is done is kept)"
    )
