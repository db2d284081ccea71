"""Metrics as params.yaml wants them: parameters, and weights by their name in models.yaml, folder or hub id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from stages.score.params import ScoreParams
from taxpraben.backends.roster import load_roster
from taxpraben.backends.weights import resolve_weight
from taxpraben.metrics import Metric, find_metric, metric_names
from taxpraben.workspace import Workspace


def open_metrics(names: set[str], params: ScoreParams, workspace: Workspace) -> dict[str, Metric]:
    """The metrics of these names with their parameters, prepared to keep what other processes can use again.

    Raises:
        MetricError: params.yaml names a metric or parameter that does not exist.
    """
    place = str(workspace.root / "params.yaml")
    for name in (*params.metrics, *params.substitute, *params.substitute.values()):
        if name not in metric_names():
            find_metric(name, where=place)  # raises, with the nearest name
    found = {
        name: find_metric(name, _resolved(params.metrics.get(name, {}), workspace), place) for name in sorted(names)
    }
    for metric in found.values():
        metric.prepare(workspace.out / "cache")
    return found


def _resolved(raw: dict[str, Any], workspace: Workspace) -> dict[str, Any]:
    model = raw.get("model")
    if not isinstance(model, str) or not model:
        return raw
    if (workspace.root / "models.yaml").exists() and model in load_roster(workspace.root).weights:
        return {**raw, "model": str(resolve_weight(model, workspace.root))}
    folder = workspace.root / Path(model)
    return {**raw, "model": str(folder)} if folder.is_dir() else raw
