"""Templates of drafting.yaml, filled with a slot's variables."""

from __future__ import annotations

import math
import string
from collections.abc import Mapping
from decimal import Decimal

from pydantic import JsonValue


class NothingToFillError(ValueError):
    """A template's variable is absent or empty: the source does not give what the draft needs."""

    def __init__(self, variable: str) -> None:
        super().__init__(f"the source has no {variable!r}")
        self.variable = variable


MAY_BE_EMPTY = frozenset({"issued", "published_zh", "unit"})
"""Variables that add to a text where they are known and are left out where not."""


def fill(template: str, variables: Mapping[str, JsonValue]) -> str:
    """The template with its variables' values; lists are joined by ``；``.

    Raises:
        NothingToFillError: a variable is absent or empty.
    """
    values: dict[str, str] = {}
    for _, name, _, _ in string.Formatter().parse(template):
        if name is None:
            continue
        values[name] = as_text(variables.get(name))
        if not values[name] and name not in MAY_BE_EMPTY:
            raise NothingToFillError(name)
    return template.format_map(values).strip()


def as_text(value: JsonValue) -> str:
    """A JSON value as people would write it: no quotes, list elements joined, figures in full.

    Nothing for null, nor for a float that is no number (NaN, infinity: an empty cell of a table).
    """
    if value is None:
        return ""
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, bool):
        return "是" if value else "否"
    if isinstance(value, list):
        return "；".join(text for text in map(as_text, value) if text)
    if isinstance(value, dict):
        return "；".join(f"{name}：{as_text(inner)}" for name, inner in value.items())
    if isinstance(value, float):
        # repr has the fewest digits that give the float back: those that it was written with, up to fifteen.
        return as_figure(Decimal(repr(value))) if math.isfinite(value) else ""
    return str(value)


def as_figure(number: Decimal) -> str:
    """All digits of a finite number, without exponent and without zeros at the end of its decimals."""
    digits = format(number, "f")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return "0" if digits == "-0" else digits
