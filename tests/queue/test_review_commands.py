"""`taxpraben review`: people and rounds from the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from queue_samples import fill
from typer.testing import CliRunner

from cli.review import app
from taxpraben.queue.claims import claim
from taxpraben.queue.people import verify
from taxpraben.queue.pieces import open_piece
from taxpraben.queue.store import Queue, open_queue
from taxpraben.workspace import open_workspace


@pytest.fixture
def queue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Queue]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "params.yaml").write_text("profile: trial\nprofiles: {trial: {}}\n", encoding="utf-8")
    opened = open_queue(open_workspace().queue_url)
    yield opened
    opened.close()


def say(*words: str, password: str = "") -> str:
    done = CliRunner().invoke(app, list(words), env={"TAXPRABEN_PASSWORD": password})
    assert done.exit_code == 0, done.output
    return done.output


def test_somebody_is_added_gets_a_new_password_leaves_and_comes_back(queue: Queue) -> None:
    say("person", "a01", password="the first one")
    assert "sessions have ended" in say("password", "a01", password="the second one")
    assert verify(queue, "a01", "the first one") is None
    assert verify(queue, "a01", "the second one") is not None
    fill(queue, 2)
    works = claim(queue, "a01", count=2)
    assert "2 works went back to the queue" in say("leave", "a01")
    assert verify(queue, "a01", "the second one") is None
    assert {open_piece(queue, work).state for work in works} == {"open"}
    say("back", "a01")
    assert verify(queue, "a01", "the second one") is not None


def test_what_somebody_held_goes_to_the_colleague_that_is_named(queue: Queue) -> None:
    for name in ("a01", "a02"):
        say("person", name, password="long enough")
    fill(queue, 1)
    (work,) = claim(queue, "a01")
    assert "1 works went to a02" in say("leave", "a01", "--to", "a02")
    assert open_piece(queue, work).person == "a02"


def test_the_next_round_is_opened_from_the_terminal(queue: Queue) -> None:
    assert "Round 2" in say("next-round")
    assert "Round 3" in say("next-round")


@pytest.mark.parametrize("command", ["password", "leave", "back"])
def test_an_unknown_name_is_said(queue: Queue, command: str) -> None:
    done = CliRunner().invoke(app, [command, "a09"], env={"TAXPRABEN_PASSWORD": "long enough"})
    assert "'a09'" in str(done.exception)
