"""Parameters of the rank stage."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from taxpraben.workspace import RankedParams


class RankParams(RankedParams):
    """How standings are made.

    Attributes:
        draws: bootstrap draws over items; 0 leaves intervals blank and ranks by the mean alone.
        level: coverage of the interval, and of the differences that decide whether a rank is shared.
        seed: of the draws.
        domain: see ``RankedParams``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    draws: int = Field(default=1000, ge=0)
    level: float = Field(default=0.95, gt=0.5, lt=1)
    seed: int = 20260101
