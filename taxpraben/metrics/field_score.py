"""Field score (appendix F.3): RiskScore, InspectScore and PlanScore are one mechanism, chosen by a task file.

Fields form groups, one metric judges each group. Within an item the values of a group's fields are averaged; a group's
value is the mean of these over the items; the score is the plain mean of the groups. A field without gold is not
compared, so it neither helps nor costs. The module states the formula for a handful of rows; ``stages/rank`` computes
the same over millions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

ItemValues = Mapping[str, Sequence[float]]
"""The values of an item's fields, on the scale from 0 to 1, by group."""


def group_values(items: Sequence[ItemValues]) -> dict[str, float]:
    """Each group's mean over the items that have a field in it; groups in the order of their first appearance."""
    names = dict.fromkeys(name for item in items for name, values in item.items() if values)
    return {name: float(np.mean([np.mean(item[name]) for item in items if item.get(name)])) for name in names}


def field_score(items: Sequence[ItemValues]) -> float | None:
    """The plain mean of the groups' values; None where nothing was compared."""
    groups = group_values(items)
    return float(np.mean(list(groups.values()))) if groups else None
