"""The groups that datasets are averaged in: three cognitive levels, three types of work, and all together."""

from __future__ import annotations

from collections.abc import Sequence

from taxpraben.tasks.spec import TaskSpec

OVERALL = "overall"
GROUPS: dict[str, tuple[str, str]] = {
    OVERALL: ("总分", "Overall"),
    "KM": ("知识记忆", "Memorise"),
    "KU": ("知识理解", "Understand"),
    "KA": ("知识应用", "Apply"),
    "CLS": ("分类", "Classify"),
    "GEN": ("生成", "Generate"),
    "REA": ("推理", "Reason"),
}
"""The groups in the order in which tables show them, with their titles."""


def members(group: str, tasks: Sequence[TaskSpec]) -> list[str]:
    """The datasets of a group, in the order of the tasks."""
    return [task.name for task in tasks if group in (OVERALL, task.level, task.nlp_type)]
