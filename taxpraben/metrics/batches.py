"""Batches by length for metrics that run a network: little padding, and smaller ones where memory runs out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


def batches_by_length(lengths: Sequence[int], most_items: int, most_tokens: int) -> Iterator[list[int]]:
    """Places of items in batches of like length, longest first, so that a batch that is too large shows at once.

    Args:
        lengths: the length of each item, in tokens.
        most_items: most items of a batch.
        most_tokens: most tokens of a batch, padding included; one item always goes.
    """
    batch: list[int] = []
    widest = 0
    for place in sorted(range(len(lengths)), key=lambda place: (-lengths[place], place)):
        if batch and (len(batch) >= most_items or widest * (len(batch) + 1) > most_tokens):
            yield batch
            batch = []
        if not batch:
            widest = max(lengths[place], 1)
        batch.append(place)
    if batch:
        yield batch


def run_shrinking(batch: Sequence[ItemT], run: Callable[[Sequence[ItemT]], list[ResultT]]) -> list[ResultT]:
    """Run a batch; where memory does not suffice, its halves, down to single items.

    Raises:
        MemoryError: not even one item fits.
    """
    try:
        return run(batch)
    except (MemoryError, RuntimeError) as error:
        if not _out_of_memory(error):
            raise
        if len(batch) < 2:
            raise MemoryError("one text alone does not fit into memory; lower the metric's max_tokens") from error
    middle = len(batch) // 2
    return [*run_shrinking(batch[:middle], run), *run_shrinking(batch[middle:], run)]


def _out_of_memory(error: Exception) -> bool:
    words = str(error).lower()
    return isinstance(error, MemoryError) or "out of memory" in words or "can't allocate memory" in words
