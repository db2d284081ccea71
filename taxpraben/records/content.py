"""What a draft proposes, a decision settles and an item asks: the text, the answer, the options, the fields."""

from __future__ import annotations

import hashlib

from taxpraben.records.base import Part
from taxpraben.records.field import Field


class Content(Part):
    """The substance of one benchmark question.

    Attributes:
        text: what is put to the model after the prompt (question, passage, title, scenario).
        answer: the reference answer; letters for choices, a JSON object (keys in field order) for fields.
        choices: option texts in order (A first); empty where the task has none.
        gold: indices into ``choices``, ascending; empty where the task has no choices.
        fields: the item's own field list where the task leaves it to the item (TaxPlan), else empty.
        unit: the unit of a number answer, or empty.
    """

    text: str
    answer: str
    choices: list[str] = []
    gold: list[int] = []
    fields: list[Field] = []
    unit: str = ""

    @property
    def digest(self) -> str:
        """Sixteen hex digits that change whenever any part of the content does."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()[:16]
