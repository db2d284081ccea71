"""A field of a structured answer: what RiskScore, InspectScore and PlanScore are made of."""

from __future__ import annotations

from typing import Literal

from taxpraben.records.base import Part

FieldKind = Literal["text", "number", "label"]


class Field(Part):
    """One named slot of a structured answer.

    Attributes:
        name: the name that the gold answer uses.
        kind: text is compared by meaning, number as a decimal, label as one of a closed list.
        unit: the unit in which a number is meant (for example 元, 万元, %), or empty.
        aliases: other names under which prompts and models give the field.
        labels: the closed list of a label field.
    """

    name: str
    kind: FieldKind
    unit: str = ""
    aliases: list[str] = []
    labels: list[str] = []
