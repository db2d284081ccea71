"""What a model is shown: the paper's zero-shot and one-shot forms (Tables C4 to C17), and where a text may be cut.

The tables print Query, Example-Text, Example-Answer, Text and Answer. Here the query stands first, without a label,
and the others under their Chinese names; the example comes before the text, so that items which share an example
share the beginning of their prompts.
"""

from __future__ import annotations

import itertools
import string

from taxpraben.records.item import Item
from taxpraben.tasks.spec import TaskSpec

CUT_MARK = "……"
"""Stands where a passage was cut."""


def render(
    spec: TaskSpec, item: Item, example: Item | None = None, kept: int | None = None, example_kept: int | None = None
) -> str:
    """The prompt of an item, with an example for one-shot.

    Args:
        spec: the task.
        item: the question; its ``query`` has been drawn, with its own field list where the task has one.
        example: an answered item of the same task.
        kept: how many characters of the item's passage to keep; all where None.
        example_kept: the same for the example's.
    """
    parts = [item.query]
    if example is not None:
        parts += [f"示例文本：{_cut(spec, example, example_kept)}", f"示例答案：{example.answer}"]
    parts += [f"文本：{_cut(spec, item, kept)}", "答案："]
    return "\n\n".join(parts)


def passage_length(spec: TaskSpec, item: Item) -> int:
    """How many characters of the item's text are passage; what follows is the question, which no cut may touch."""
    label = _question_label(spec)
    at = item.text.rfind(label) if label else -1
    return at if at >= 0 else len(item.text)


def _cut(spec: TaskSpec, item: Item, kept: int | None) -> str:
    length = passage_length(spec, item)
    if kept is None or kept >= length:
        return item.text
    return item.text[:kept] + CUT_MARK + item.text[length:]


def _question_label(spec: TaskSpec) -> str:
    """What the task's text template writes after the passage: ``问题：`` in ``{text}问题：{question}``."""
    pieces = list(string.Formatter().parse(spec.drafting.text))
    for (_, name, _, _), (following, _, _, _) in itertools.pairwise(pieces):
        if name == "text":
            return following
    return ""
