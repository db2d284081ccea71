"""Batches: the drafts of a task in portions of a size, in the order in which they came."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import func, select

from taxpraben.queue.states import FILTERED, FINAL
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Entry


class Batches:
    """Numbers the batches of new drafts; the last batch of a task is filled up first."""

    def __init__(self, entries: Iterable[Entry], size: int) -> None:
        self._size = size
        self._last: dict[str, int] = {}
        self._filled: dict[str, int] = {}
        for entry in entries:
            if entry.batch > self._last.get(entry.task, 0):
                self._last[entry.task], self._filled[entry.task] = entry.batch, 0
            if entry.batch == self._last[entry.task]:
                self._filled[entry.task] += 1

    def next(self, task: str) -> int:
        """The batch of the next draft of a task."""
        if task not in self._last:
            self._last[task], self._filled[task] = 1, 0
        elif self._size and self._filled[task] >= self._size:
            self._last[task], self._filled[task] = self._last[task] + 1, 0
        self._filled[task] += 1
        return self._last[task]


@dataclass(frozen=True)
class BatchStatus:
    """How far one batch of a task is; filtered drafts are left out."""

    task: str
    batch: int
    needed: int
    settled: int

    @property
    def waiting(self) -> int:
        """Drafts that still wait for people."""
        return self.needed - self.settled


def batch_status(queue: Queue, task: str | None = None) -> list[BatchStatus]:
    """Every batch, by task (in the order in which tasks are handed out) and number."""
    query = (
        select(Entry.task, Entry.batch, Entry.state, func.count(), func.min(Entry.place))
        .where(Entry.active.is_(True), Entry.state != FILTERED)
        .group_by(Entry.task, Entry.batch, Entry.state)
    )
    if task:
        query = query.where(Entry.task == task)
    with queue.read() as session:
        rows = session.execute(query).all()
    first: dict[str, int] = {}
    counts: dict[tuple[str, int], list[int]] = {}
    for name, batch, state, count, place in rows:
        first[name] = min(place, first.get(name, place))
        needed_settled = counts.setdefault((name, batch), [0, 0])
        needed_settled[0] += count
        needed_settled[1] += count if state in FINAL else 0
    keys = sorted(counts, key=lambda key: (first[key[0]], *key))
    return [BatchStatus(name, batch, *counts[name, batch]) for name, batch in keys]
