"""The questions as they are put to a model, zero-shot and one-shot (Tables C4 to C17), for harnesses to ask."""

from __future__ import annotations

from collections.abc import Mapping

from taxpraben.records.item import Item
from taxpraben.tasks.rendering import render
from taxpraben.tasks.spec import TaskSpec

SETTINGS = ("zero_shot", "one_shot")


def question_row(spec: TaskSpec, item: Item, items: Mapping[str, Item]) -> dict[str, object]:
    """``id``, ``zero_shot``, ``one_shot`` (the same where the release has no example), ``answer``.

    The questions are those that the infer stage asks, uncut.

    Args:
        spec: the task.
        item: the item that is asked.
        items: the task's items by id, for the example.
    """
    example = items.get(item.example_id)
    return {
        "id": item.item_id,
        "zero_shot": render(spec, item),
        "one_shot": render(spec, item, example),
        "answer": item.answer,
    }
