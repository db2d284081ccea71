"""Runs DVC targets for the flows: own process group, output passed on, one `dvc repro` at a time in a workspace."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from taxpraben.workspace import open_workspace

STEPS = ("ingest", "draft", "review", "build", "check", "infer", "read", "score", "rank", "publish")
"""The lifecycle, in order."""


class StageFailedError(RuntimeError):
    """A DVC stage ended with an error; its own output, above, says which file, row and remedy."""


@dataclass(frozen=True)
class Waiting:
    """What still lies with people, as the review stage wrote it."""

    total: int
    by_task: dict[str, int]
    link: str


def roster(root: Path) -> list[str]:
    """The models of the workspace, in the order of models.yaml."""
    from taxpraben.backends.roster import load_roster

    return list(load_roster(root).chosen)


def repro(root: Path, targets: Sequence[str], alone: bool = False, force: bool = False) -> None:
    """Bring the targets, and all that they depend on, up to date.

    Args:
        root: the workspace.
        targets: stages of dvc.yaml.
        alone: look at the targets only; for a step whose upstream was brought up to date a moment ago.
        force: run them even where nothing that DVC knows of has changed (a site on the web has).

    The command runs in a process group of its own, so that a stop reaches the stage that DVC started, too.

    Raises:
        StageFailedError: a stage failed or waits for people (see ``review``).
    """
    options = [*(["--single-item"] if alone else []), *(["--force"] if force else [])]
    command = [sys.executable, "-m", "dvc", "--wait-for-lock", "repro", *options, *targets]
    process = subprocess.Popen(command, cwd=root, env=stage_environment(), start_new_session=True)
    try:
        status = process.wait()
    except BaseException:
        _stop(process)
        raise
    if status:
        raise StageFailedError(f"`dvc repro {' '.join(targets)}` ended with status {status}; see the lines above")


def stage_environment() -> dict[str, str]:
    """The environment of a stage: `python` is the interpreter that runs this, whichever shell it was called from."""
    folder = str(Path(sys.executable).parent)
    return {**os.environ, "PATH": folder + os.pathsep + os.environ.get("PATH", ""), "PYTHONUNBUFFERED": "1"}


def review(root: Path) -> Waiting | None:
    """Exchange drafts and decisions with the queue.

    Returns:
        What waits for people; None where the lifecycle may go on.

    Raises:
        StageFailedError: the stage, or one before it, failed for another reason than waiting.
    """
    # The status of an earlier review must not excuse the failure of this one.
    _status_file(root).unlink(missing_ok=True)
    try:
        repro(root, ["review"])
    except StageFailedError:
        left = _waiting(_status_file(root))
        if left is None:
            raise
        return left
    return None


def _status_file(root: Path) -> Path:
    return open_workspace(root).out / "review" / "status.json"


def _waiting(path: Path) -> Waiting | None:
    if not path.exists():
        return None
    status = json.loads(path.read_text(encoding="utf-8"))
    if status["complete"]:
        return None
    return Waiting(total=status["waiting"], by_task=status["waiting_by_task"], link=status["link"])


def _stop(process: subprocess.Popen[bytes]) -> None:
    for sent in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, sent)
            process.wait(timeout=10)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
        return
