"""Parameters of the score stage."""

from __future__ import annotations

from pydantic import ConfigDict, JsonValue

from taxpraben.workspace import SubstituteParams


class ScoreParams(SubstituteParams):
    """How readings are scored.

    Attributes:
        metrics: parameters by metric name, for example ``bertscore: {model: …, layer: 7}``; a metric's own defaults
            hold for the rest. ``model`` may be a name under ``weights:`` in models.yaml, a folder, or a hub id.
        substitute: see ``SubstituteParams``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    metrics: dict[str, dict[str, JsonValue]] = {}
