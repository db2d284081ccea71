"""Evaluates, unattended, whatever the roster names and nobody has asked yet."""

from __future__ import annotations

from pathlib import Path

from prefect import flow

from flows.evaluate_model import evaluate, rank_and_publish
from flows.pipeline import roster
from taxpraben.workspace import open_workspace


@flow(name="new-models", log_prints=True)
def new_models(root: str = ".") -> list[str]:
    """Ask every model of the roster that has no answers yet, then publish once.

    Args:
        root: the workspace.

    Returns:
        The models that were evaluated, in roster order.
    """
    folder = Path(root).resolve()
    workspace = open_workspace(folder)
    new = [model for model in roster(folder) if not workspace.answers(model).exists()]
    for model in new:
        evaluate(folder, model)
    if new:
        rank_and_publish(folder)
    print(f"new models evaluated: {', '.join(new) if new else 'none'}")
    return new
