"""Parameters of the build stage."""

from __future__ import annotations

import datetime

from pydantic import ConfigDict, Field

from taxpraben.workspace import ReleasedParams


class BuildParams(ReleasedParams):
    """How a release is made.

    Attributes:
        release: the release's number; a corrected release gets a new one.
        seed: draws each item's prompt and ranks the one-shot examples.
        items_per_task: largest number of items a task, drawn by seed; 0 keeps all.
        near_duplicate: Jaccard similarity of character shingles from which two texts count as the same question.
        in_force_on: a day; items whose rule had not taken effect then, had been repealed, or is known here in a
            later version only are left out and counted. Unset keeps all. Items of sources without dates stay.
        frozen: digests of releases that are published; building other content under such a number is refused.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = 20260101
    items_per_task: int = Field(default=0, ge=0)
    in_force_on: datetime.date | None = None
    frozen: dict[str, str] = {}
