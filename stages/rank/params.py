"""Parameters of the rank stage."""

from __future__ import annotations

from pydantic import Field

from taxpraben.workspace import Params


class RankParams(Params):
    """How standings are made.

    Attributes:
        draws: bootstrap draws over items; 0 leaves intervals blank and ranks by the mean alone.
        level: coverage of the interval, and of the differences that decide whether a rank is shared.
        seed: of the draws.
        domain: the domain whose tasks make up the groups.
    """

    draws: int = Field(default=1000, ge=0)
    level: float = Field(default=0.95, gt=0.5, lt=1)
    seed: int = 20260101
    domain: str = "tax"


class SubstituteParams(Params):
    """What rank needs of the ``score`` section: which metrics stood in for others."""

    model_config = {"frozen": True, "extra": "ignore"}

    substitute: dict[str, str] = {}
