"""The lifecycle of the benchmark, step by step; DVC knows what depends on what, this says when and who waits."""

from __future__ import annotations

from pathlib import Path

from prefect import State, flow
from prefect.states import Completed

from flows.steps import build, check, draft, infer, ingest, publish, rank, read, review, score, show_standings


@flow(name="lifecycle", log_prints=True)
def lifecycle(root: str = ".") -> State[str] | str:
    """Run the ten steps. It ends at the review checkpoint, with a link, while drafts wait for people.

    Args:
        root: the workspace, the folder with params.yaml, models.yaml and dvc.yaml.

    Returns:
        The path of the board; or a completed state that says what waits, where, and how it goes on.
    """
    workspace = Path(root).resolve()
    ingest(workspace)
    draft(workspace)
    waits = review(workspace)
    if waits:
        return Completed(message=waits)
    build(workspace)
    check(workspace)
    infer(workspace)
    read(workspace)
    score(workspace)
    rank(workspace)
    board = publish(workspace)
    show_standings(workspace)
    return str(board)
