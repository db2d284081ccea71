"""One model, from its first answer to its place on the board."""

from __future__ import annotations

from pathlib import Path

from prefect import flow, task

from flows.pipeline import repro, roster


@task(name="evaluate", retries=2, retry_delay_seconds=10, log_prints=True)
def evaluate(workspace: Path, model: str) -> None:
    """Ask, read and score one model; answers that it gave before are not asked again."""
    repro(workspace, [f"infer@{model}", f"read@{model}", f"score@{model}"])


@task(name="rank-and-publish", log_prints=True)
def rank_and_publish(workspace: Path) -> None:
    """Bring standings and board up to date; models of the roster that have no scores yet are asked first."""
    repro(workspace, ["publish"])


@flow(name="evaluate-model", log_prints=True)
def evaluate_model(model: str, root: str = ".") -> None:
    """Evaluate one model of the roster.

    Args:
        model: its name in models.yaml.
        root: the workspace.

    Raises:
        ValueError: the model is not in the roster.
    """
    workspace = Path(root).resolve()
    if model not in roster(workspace):
        raise ValueError(f"{workspace / 'models.yaml'}: {model!r} is not in the roster; add it under `roster:`")
    evaluate(workspace, model)
    rank_and_publish(workspace)
