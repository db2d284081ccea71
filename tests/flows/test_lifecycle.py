"""The lifecycle over real DVC and a real Prefect server: order, checkpoint, going on, doing nothing twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.flows.conftest import BASELINE, steps_run

pytestmark = [pytest.mark.flow, pytest.mark.slow]

FIRST = ["ingest", "check_ingest", "draft", "check_draft"]
REST = [
    *("build", "check_build", "infer-lead", "infer-copy", "read-lead", "read-copy", "score-lead", "score-copy"),
    *("rank", "check_rank", "publish"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    from prefect.testing.utilities import prefect_test_harness

    with prefect_test_harness(server_startup_timeout=180):
        yield


@pytest.fixture(autouse=True)
def _no_standings(monkeypatch: pytest.MonkeyPatch) -> None:
    """The little stages write no Parquet, so the step that prints the standings has nothing to read."""
    import flows.lifecycle

    monkeypatch.setattr(flows.lifecycle, "show_standings", lambda workspace: None)


def test_the_lifecycle_stops_for_people_and_goes_on_when_they_are_done(server: None, workspace: Path) -> None:
    from flows.lifecycle import lifecycle

    waiting = lifecycle(str(workspace), return_state=True)
    assert waiting.is_completed()
    assert "2 drafts wait for people: http://127.0.0.1:8350/" in str(waiting.message)
    assert steps_run(workspace) == FIRST

    (workspace / "decided").touch()
    assert lifecycle(str(workspace)) == str(workspace / "data/mini/site/index.html")
    assert steps_run(workspace) == REST

    lifecycle(str(workspace))
    assert steps_run(workspace) == []


def test_a_failed_stage_fails_the_run_and_is_named(server: None, workspace: Path) -> None:
    from flows.lifecycle import lifecycle

    (workspace / "decided").touch()
    (workspace / "broken-build").touch()
    state = lifecycle(str(workspace), return_state=True)
    assert state.is_failed()
    assert steps_run(workspace) == [*FIRST, "build"]


def test_a_new_model_of_the_roster_is_evaluated_alone(server: None, workspace: Path) -> None:
    from flows.lifecycle import lifecycle
    from flows.new_models import new_models

    (workspace / "decided").touch()
    lifecycle(str(workspace))
    steps_run(workspace)
    models = workspace / "models.yaml"
    raw = yaml.safe_load(models.read_text())
    raw["roster"].append("random")
    raw["models"]["random"] = dict(BASELINE, title="Random", baseline="random")
    models.write_text(yaml.safe_dump(raw))
    answers = workspace / "data/mini/answers"
    answers.mkdir()
    for name in ("lead", "copy"):
        (answers / f"{name}.parquet").touch()
    assert new_models(str(workspace)) == ["random"]
    # The little rank writes the same standings again, so DVC leaves what follows alone.
    assert steps_run(workspace) == ["infer-random", "read-random", "score-random", "rank"]


def test_evaluating_a_model_outside_the_roster_says_where_to_add_it(server: None, workspace: Path) -> None:
    from flows.evaluate_model import evaluate_model

    with pytest.raises(ValueError, match="add it under `roster:`"):
        evaluate_model("gpt", str(workspace))


def test_a_failure_before_the_review_is_no_wait_for_people(server: None, workspace: Path) -> None:
    from flows.lifecycle import lifecycle

    assert lifecycle(str(workspace), return_state=True).is_completed()
    (workspace / "broken-check_draft").touch()
    stages = (workspace / "dvc.yaml").read_text()
    (workspace / "dvc.yaml").write_text(stages.replace("step.py check_draft", "step.py  check_draft"))
    assert lifecycle(str(workspace), return_state=True).is_failed()
