"""Parameters of the build stage."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from taxpraben.workspace import ReleasedParams


class BuildParams(ReleasedParams):
    """How a release is made.

    Attributes:
        release: the release's number; a corrected release gets a new one.
        seed: draws each item's prompt and ranks the one-shot examples.
        items_per_task: largest number of items a task, drawn by seed; 0 keeps all.
        near_duplicate: Jaccard similarity of character shingles from which two texts count as the same question.
        frozen: digests of releases that are published; building other content under such a number is refused.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = 20260101
    items_per_task: int = Field(default=0, ge=0)
    frozen: dict[str, str] = {}
