"""The steps of the lifecycle as Prefect tasks: each names DVC targets and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from prefect import task
from prefect.artifacts import create_link_artifact, create_markdown_artifact, create_table_artifact

from flows.pipeline import STEPS, Waiting, repro, roster
from flows.pipeline import review as exchange
from taxpraben.records.base import read_records
from taxpraben.records.standing import Standing
from taxpraben.workspace import open_workspace


def _say(step: str, doing: str) -> None:
    print(f"[{STEPS.index(step) + 1}/{len(STEPS)}] {step}: {doing}")


def _step(
    name: str, doing: str, targets: Callable[[Path], Sequence[str]], retries: int = 0, alone: bool = False
) -> Callable[[Path], None]:
    @task(name=name, retries=retries, retry_delay_seconds=10, log_prints=True)
    def run(workspace: Path) -> None:
        _say(name, doing)
        repro(workspace, targets(workspace), alone)

    return run


ingest = _step("ingest", "sources become documents", lambda _: ["ingest"])
draft = _step("draft", "documents become drafts", lambda _: ["draft"])
# The review is asked again whenever DVC looks at what follows it, so the steps after it look at themselves alone;
# publish, the last, looks at the whole graph.
build = _step("build", "decisions become a release", lambda _: ["build"], alone=True)
# Documents, drafts and standings are checked on the way, since what follows them in dvc.yaml depends on their checks.
check = _step("check", "the release keeps its tasks' rules", lambda _: ["check_build"], alone=True)
# A transient failure of one model is tried again; answers already given are in its journal.
infer = _step(
    "infer", "every model is asked", lambda root: [f"infer@{name}" for name in roster(root)], retries=2, alone=True
)
read = _step("read", "answers are read", lambda root: [f"read@{name}" for name in roster(root)], alone=True)
score = _step("score", "readings are scored", lambda root: [f"score@{name}" for name in roster(root)], alone=True)
rank = _step("rank", "scores become standings", lambda _: ["rank"], alone=True)
_publish = _step("publish", "standings become a board", lambda _: ["publish"])


@task(name="review", log_prints=True)
def review(workspace: Path) -> str:
    """Exchange drafts and decisions with the queue.

    Returns:
        Empty where every draft is decided; else what waits and how the lifecycle goes on.

    Raises:
        StageFailedError: the stage failed for another reason than waiting.
    """
    _say("review", "people rule on the drafts")
    left = exchange(workspace)
    return _checkpoint(left) if left else ""


def _checkpoint(left: Waiting) -> str:
    create_link_artifact(
        key="review-checkpoint", link=left.link, link_text="The review queue", description="Drafts wait"
    )
    rows = [{"task": name, "waiting": count} for name, count in left.by_task.items() if count]
    create_table_artifact(key="review-waiting", table=rows, description=f"{left.total} drafts wait for people")
    message = (
        f"{left.total} drafts wait for people: {left.link} (`taxpraben portal` opens it). The lifecycle goes on by "
        "itself when the last one is decided and `taxpraben deploy` runs, or with `taxpraben run`."
    )
    print(message)
    return message


def publish(workspace: Path) -> Path:
    """Make the board and the exports.

    Returns:
        The board's first page.
    """
    _publish(workspace)
    return open_workspace(workspace).site / "index.html"


@task(name="standings", log_prints=True)
def show_standings(workspace: Path) -> None:
    """Leave the standings as an artifact of the run."""
    rows = read_records(open_workspace(workspace).standings, Standing)
    lines = ["| setting | protocol | group | model | mean | rank |", "|---|---|---|---|---:|---:|"]
    lines += [
        f"| {row.setting} | {row.protocol} | {row.name} | {row.model} | "
        f"{'' if row.mean is None else f'{row.mean:.3f}'} | {'' if row.rank is None else row.rank} |"
        for row in rows
        if row.scope == "group"
    ]
    create_markdown_artifact(key="standings", markdown="\n".join(lines), description="Group means of the last run")
