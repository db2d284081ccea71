"""Tells Prefect, once, that people finished: the queue's outbox becomes events, and an event starts the lifecycle."""

from __future__ import annotations

from pathlib import Path

from prefect import flow
from prefect.events import emit_event

from taxpraben.queue.events import COMPLETED, mark_delivered, pending_events
from taxpraben.queue.store import open_queue
from taxpraben.workspace import open_workspace


@flow(name="review-round", log_prints=True)
def review_round(root: str = ".") -> list[str]:
    """Emit an event for everything that was completed since the last look.

    An event is emitted before it is marked as delivered: a crash in between repeats it, under the same id, and the
    lifecycle that it starts a second time finds nothing to do.

    Args:
        root: the workspace.

    Returns:
        The ids of the events emitted, oldest first.
    """
    workspace = open_workspace(Path(root).resolve())
    queue = open_queue(workspace.queue_url)
    try:
        emitted = []
        for pending in pending_events(queue):
            resource = {"prefect.resource.id": f"taxpraben.review.{workspace.profile}"}
            emit_event(pending.name, resource=resource, payload={**pending.payload, "event_id": pending.event_id})
            mark_delivered(queue, pending.event_id)
            emitted.append(pending.event_id)
            print(f"{'all drafts are' if pending.name == COMPLETED else 'one dataset is'} decided: {pending.event_id}")
        return emitted
    finally:
        queue.close()
