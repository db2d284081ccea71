"""The questions as they are put to a model, zero-shot and one-shot (Tables C4 to C17), for harnesses to ask."""

from __future__ import annotations

from collections.abc import Mapping

from taxpraben.records.item import Item

SETTINGS = ("zero_shot", "one_shot")


def question_row(item: Item, items: Mapping[str, Item]) -> dict[str, object]:
    """``id``, ``zero_shot``, ``one_shot`` (the same where the release has no example), ``answer``.

    The questions are those that the infer stage asks, uncut (a test compares them).

    Args:
        item: the item that is asked.
        items: the task's items by id, for the example.
    """
    example = items.get(item.example_id)
    return {
        "id": item.item_id,
        "zero_shot": _question(item),
        "one_shot": _question(item, example),
        "answer": item.answer,
    }


def _question(item: Item, example: Item | None = None) -> str:
    shown = [f"示例文本：{example.text}", f"示例答案：{example.answer}"] if example else []
    return "\n\n".join([item.query, *shown, f"文本：{item.text}", "答案："])
