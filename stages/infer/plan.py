"""Which rows an answer file will have: items x settings x runs, each planned before any is asked."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from stages.infer.params import InferParams
from taxpraben.records.answer import Setting
from taxpraben.records.item import Item
from taxpraben.tasks.spec import TaskSpec


class PlanError(ValueError):
    """Items that cannot be asked; the message names the item and the remedy."""


@dataclass(frozen=True)
class Planned:
    """One answer to get.

    Attributes:
        example: the one-shot example; None for zero-shot, and for one-shot where the release has none.
    """

    spec: TaskSpec
    item: Item
    setting: Setting
    run: int
    example: Item | None = None

    @property
    def about(self) -> str:
        """What is asked, for people who read a journal."""
        return f"{self.item.task}/{self.setting}/{self.run}/{self.item.item_id}"


def plan_task(spec: TaskSpec, items: Sequence[Item], params: InferParams) -> list[Planned]:
    """The task's rows, those that share an example together.

    Args:
        spec: the task.
        items: all its items of the release.
        params: what holds for the model.

    Raises:
        PlanError: an item's example is the item itself, or is not in the release.
    """
    by_id = {item.item_id: item for item in items}
    rows: list[Planned] = []
    for item in draw(items, params.items_per_task, params.seed):
        for setting in params.settings:
            example = _example(item, by_id) if setting == "one-shot" else None
            rows += [Planned(spec, item, setting, run, example) for run in range(params.runs)]
    return sorted(rows, key=_order)


def draw(items: Sequence[Item], count: int, seed: int) -> list[Item]:
    """So many items, drawn by seed and item id, so that a grown release keeps most of the draw; 0 takes all."""
    ranked = sorted(items, key=lambda item: hashlib.sha256(f"{seed}|draw|{item.item_id}".encode()).digest())
    return ranked[:count] if count else ranked


def _example(item: Item, by_id: dict[str, Item]) -> Item | None:
    if not item.example_id:
        return None
    if item.example_id == item.item_id:
        raise PlanError(f"{item.task} {item.item_id}: it is its own example; build the release again")
    if item.example_id not in by_id:
        raise PlanError(
            f"{item.task} {item.item_id}: its example {item.example_id} is not in the release; build the release again"
        )
    return by_id[item.example_id]


def _order(row: Planned) -> tuple[str, str, str, int]:
    return row.setting, row.example.item_id if row.example else "", row.item.item_id, row.run
