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
from taxpraben.queue.prompts import my_prompts, rate_prompt
from taxpraben.queue.rulings import submit
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


def test_works_are_assigned_shown_and_released_by_command(queue: Queue) -> None:
    say("person", "a01", password="long enough")
    fill(queue, 5)
    assert "3 more works" in say("assign", "a01", "--count", "3", "--task", "TaxQA")
    assert "3 claimed" in say("status")
    assert "3 works" in say("release", "a01")
    refused = CliRunner().invoke(app, ["assign", "nobody"])
    assert "may sign in" in str(refused.exception)


def test_a_share_goes_out_as_excel_and_comes_back_by_command(queue: Queue, tmp_path: Path) -> None:
    fill(queue, 2)
    works = claim(queue, "a01", count=2)
    path = tmp_path / "share.xlsx"
    say("export", str(path), "--person", "a01")
    assert "0 taken, 0 there already, 2 rows left empty" in say("import", str(path), "--person", "a01")
    assert {open_piece(queue, work).state for work in works} == {"claimed"}


def test_label_studios_tasks_and_their_interface_are_written_side_by_side(queue: Queue, tmp_path: Path) -> None:
    fill(queue, 2)
    say("export", str(tmp_path / "tasks.json"), "--label-studio")
    assert (tmp_path / "tasks.xml").read_text(encoding="utf-8").startswith("<View>")
    assert "0 taken" in say("import", str(tmp_path / "tasks.json"))


def test_a_backup_is_taken_and_restored_by_command(queue: Queue, tmp_path: Path) -> None:
    fill(queue, 2)
    path = tmp_path / "queue.backup"
    assert "sha256" in say("backup", str(path))
    fill(queue, 4)
    refused = CliRunner().invoke(app, ["restore", str(path)])
    assert "--force" in str(refused.exception)
    assert "counts and checksum right" in say("restore", str(path), "--force")
    assert len(claim(queue, "a01", count=9)) == 2


def test_prompts_are_added_handed_out_shown_and_written_by_command(queue: Queue, tmp_path: Path) -> None:
    for name in ("r01", "r02"):
        say("person", name, password="long enough")
    (tmp_path / "prompts.yaml").write_text("version: 1\nprompts: [甲问法, 乙问法]\n", encoding="utf-8")
    assert "2 prompts" in say("prompts", "add", "TaxQA", str(tmp_path / "prompts.yaml"))
    assert "4 questionnaires" in say("prompts", "assign", "TaxQA", "r01", "r02")
    for person in ("r01", "r02"):
        for each in my_prompts(queue, person):
            rate_prompt(queue, each.prompt_id, person, 3, 3, 3 if each.text == "甲问法" else 0)
    assert "Round 1" in say("prompts", "close", "TaxQA")
    assert "undefined" in say("prompts", "status")  # accuracy has no variance
    assert "1 of 2 prompts" in say("prompts", "export", str(tmp_path / "out"))
    assert "甲问法" in (tmp_path / "out" / "TaxQA.yaml").read_text(encoding="utf-8")


def test_gold_items_are_drawn_and_removed_and_webhooks_listed_by_command(queue: Queue) -> None:
    fill(queue, 3)
    for work in claim(queue, "a01", count=3):
        submit(queue, work, "a01", "accepted")
    assert "2 gold items" in say("gold", "TaxQA", "--count", "2")
    assert "2 gold items removed" in say("gold", "TaxQA", "--remove")
    say("webhook", "https://hook.example/x")
    assert "TAXPRABEN_WEBHOOK_SECRET" in say("webhook")
    assert "0 delivered" in say("deliver")
