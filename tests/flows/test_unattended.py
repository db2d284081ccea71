"""With a Prefect server and `taxpraben deploy`, the last decision starts the lifecycle, once, with nobody there."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from taxpraben.queue.intake import bring_in, import_decisions
from taxpraben.queue.store import open_queue
from taxpraben.records.content import Content
from taxpraben.records.decision import Decision
from taxpraben.records.draft import Draft
from taxpraben.workspace import open_workspace
from tests.flows.conftest import steps_run

pytestmark = [pytest.mark.flow, pytest.mark.slow]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(command: list[str], environment: dict[str, str], folder: Path, log: Path) -> Iterator[None]:
    """A command in the background; at the end it and its children are stopped."""
    with log.open("w") as stream:
        process = subprocess.Popen(
            command, env=environment, cwd=folder, stdout=stream, stderr=stream, start_new_session=True
        )
        try:
            yield
        finally:
            os.killpg(process.pid, 15)
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, 9)
                process.wait()


def until(happened: Callable[[], bool], seconds: float, log: Path) -> None:
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, f"not within {seconds:.0f} s:\n{log.read_text()[-3000:]}"
        time.sleep(1)


def answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=2).is_success
    except httpx.HTTPError:
        return False


def test_the_last_decision_starts_the_lifecycle(workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("prefect")
    port = free_port()
    environment = {
        **os.environ,
        "PREFECT_HOME": str(home),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
    }
    content = Content(text="怎样申报？", answer="网上申报。")
    draft = Draft(
        draft_id="TaxQA-1",
        task="TaxQA",
        document_id="doc-1",
        origin="o",
        slot="all",
        method="parsed",
        status="drafted",
        content=content,
    )
    queue = open_queue(open_workspace(workspace).queue_url)
    bring_in(queue, [draft], [])
    prefect = [sys.executable, "-m", "prefect", "server", "start", "--port", str(port)]
    taxpraben = [sys.executable, "-c", "from cli.main import main; main()", "deploy"]
    server_log, deploy_log = home / "server.log", home / "deploy.log"
    with running(prefect, environment, home, server_log):
        until(lambda: answers(f"http://127.0.0.1:{port}/api/health"), 180, server_log)
        with running(taxpraben, environment, workspace, deploy_log):
            until(lambda: "look-at-queue" in deploy_log.read_text(), 120, deploy_log)
            assert steps_run(workspace) == []

            (workspace / "decided").touch()
            decision = Decision(
                draft_id=draft.draft_id,
                task=draft.task,
                draft_digest=content.digest,
                verdict="accepted",
                content=content,
                annotator="annotator-01",
                decided_at="2026-01-01T00:00:00Z",
            )
            import_decisions(queue, [decision])
            until(lambda: (workspace / "data/mini/site/index.html").exists(), 300, deploy_log)
    queue.close()
    assert steps_run(workspace).count("publish") == 1
