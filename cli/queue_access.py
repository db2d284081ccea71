"""What all commands on the review queue share: opening it, whom the audit log names, how figures look."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from taxpraben.queue.store import Queue, open_queue
from taxpraben.workspace import open_workspace

TERMINAL = "terminal"
"""Actor, in the audit log, of what is done here: whoever may open the queue's database."""


@contextmanager
def open_here() -> Iterator[Queue]:
    """The queue of the current folder's workspace."""
    queue = open_queue(open_workspace().queue_url)
    try:
        yield queue
    finally:
        queue.close()


def shown(figure: float | None) -> str:
    """A figure of agreement; one that is undefined says so."""
    return "undefined" if figure is None else f"{figure:.3f}"
