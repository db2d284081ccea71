"""Parameters of the score stage."""

from __future__ import annotations

from pydantic import JsonValue

from taxpraben.workspace import Params


class ScoreParams(Params):
    """How readings are scored.

    Attributes:
        metrics: parameters by metric name, for example ``bertscore: {model: …, layer: 7}``; a metric's own defaults
            hold for the rest. ``model`` may be a name under ``weights:`` in models.yaml, a folder, or a hub id.
        substitute: metrics that stand in for others, for example ``bartscore: likelihood`` where no BART is at hand;
            rows carry the name of the metric that was really used.
    """

    metrics: dict[str, dict[str, JsonValue]] = {}
    substitute: dict[str, str] = {}
