from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from stages.console import run_stage
from stages.infer.__main__ import main
from taxpraben.records.answer import Answer
from taxpraben.records.base import read_records, write_records
from taxpraben.records.item import Item
from taxpraben.tasks.catalog import load_catalog
from tests.backends.faulty_server import FaultyServer
from tests.infer.samples import make_item, make_text_item

ROOT = Path(__file__).parents[2]

Runner = Callable[..., str]


def workspace(folder: Path, items: list[Item], url: str = "http://127.0.0.1:9/v1", **infer: object) -> Path:
    params = {
        "profile": "t",
        "sources": "s",
        "asking": 0,
        "defaults": {},
        "profiles": {"t": {"infer": {"runs": 1, "temperature": 0, "attempts": 3, **infer}}},
    }
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    models = {
        "roster": [],
        "models": {
            "service": {
                "title": "Service",
                "backend": "openai",
                "access": "api",
                "group": "chinese",
                "base_url": url,
                "options": {"concurrency": 8},
            },
            **{
                name: {"title": name, "backend": "baseline", "access": "none", "group": "baseline", "baseline": name}
                for name in ("random", "majority", "lead", "copy")
            },
        },
    }
    (folder / "models.yaml").write_text(yaml.safe_dump(models), encoding="utf-8")
    for name in load_catalog():
        rows = [item for item in items if item.task == name]
        write_records(folder / "data" / "t" / "benchmark" / "0.1.0" / f"{name}.parquet", Item, rows)
    return folder


def start(folder: Path, model: str = "service") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "stages.infer", "--model", model],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Runner:
    """Runs the stage in this process, where no process is to be killed; gives what it said."""

    def runner(folder: Path, model: str = "service", expect: int = 0) -> str:
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["stages.infer", "--model", model])
        with pytest.raises(SystemExit) as ended:
            run_stage(main)
        said = capsys.readouterr().err
        assert ended.value.code == expect, said
        return said

    return runner


def answers(folder: Path, model: str = "service") -> list[Answer]:
    return read_records(folder / "data" / "t" / "answers" / f"{model}.parquet", Answer)


def journal(folder: Path, model: str = "service") -> Path:
    return folder / "data" / "t" / "journals" / "0" / f"infer-{model}.jsonl"


def scq_items(count: int) -> list[Item]:
    return [make_item(n, example_id=f"TaxSCQ-{1 if n != 1 else 2:03}") for n in range(1, count + 1)]


def test_every_planned_row_is_there_with_its_status_and_prompt(tmp_path: Path, run: Runner) -> None:
    server = FaultyServer()
    try:
        items = [
            *scq_items(4),
            make_text_item(1, "TaxSum", "[filter]某局发布公告。", "公告", example_id="TaxSum-002"),
            make_text_item(2, "TaxSum", "[null]某局召开会议。", "会议"),
            make_text_item(3, "TaxSum", "[500]某局开展培训。", "培训", example_id="TaxSum-002"),
            make_item(1, "TaxMCQ", text="题" * 3000, answer="AB", gold=[0, 1]),
        ]
        folder = workspace(tmp_path, items, server.url, settings=["zero-shot", "one-shot"], attempts=1)
        said = run(folder)
        rows = {(row.item_id, row.setting): row for row in answers(folder)}
        assert len(rows) == 8 * 2
        assert rows["TaxSCQ-001", "zero-shot"].status == "ok"
        assert rows["TaxSum-001", "zero-shot"].status == "content_filter"
        assert rows["TaxSum-002", "zero-shot"].status == "length"
        assert rows["TaxSum-002", "zero-shot"].text == ""
        assert rows["TaxSum-003", "zero-shot"].status == "error"
        assert rows["TaxMCQ-001", "zero-shot"].status == "too_long"
        assert rows["TaxSum-002", "one-shot"].error == "the release has no one-shot example for this item"
        assert not any("题题题" in turn["content"] for body in server.bodies for turn in body["messages"])
        prompt = json.loads(rows["TaxSCQ-002", "one-shot"].prompt)[0]["content"]
        assert prompt.startswith("请选出正确的选项。\n\n示例文本：云栖公司第1季度")
        assert "16 answers (" in said
        assert len({row.request for row in rows.values() if row.request}) == len(
            [row for row in rows.values() if row.request]
        )
    finally:
        server.close()


def test_a_second_run_asks_nothing_and_gives_the_same_bytes(tmp_path: Path, run: Runner) -> None:
    server = FaultyServer()
    try:
        folder = workspace(tmp_path, scq_items(5), server.url)
        run(folder)
        path = folder / "data" / "t" / "answers" / "service.parquet"
        first, asked = path.read_bytes(), len(server.bodies)
        assert asked == 10
        path.unlink()
        assert "0 asked now, 10 from the journal" in run(folder)
        assert (path.read_bytes(), len(server.bodies)) == (first, asked)
    finally:
        server.close()


def test_another_temperature_is_another_question(tmp_path: Path, run: Runner) -> None:
    server = FaultyServer()
    try:
        run(workspace(tmp_path, scq_items(2), server.url, temperature=0))
        run(workspace(tmp_path, scq_items(2), server.url, temperature=0.7))
        assert len(server.bodies) == 8
        assert Counter(body["temperature"] for body in server.bodies) == {0: 4, 0.7: 4}
    finally:
        server.close()


def test_an_unfinished_row_is_asked_again_and_the_others_are_not(tmp_path: Path, run: Runner) -> None:
    server = FaultyServer()
    try:
        items = [*scq_items(3), make_text_item(1, "TaxSum", "[500x3]某局开展培训。", "培训")]
        folder = workspace(tmp_path, items, server.url, settings=["zero-shot"])
        run(folder)
        assert Counter(row.status for row in answers(folder)) == {"ok": 3, "error": 1}
        run(folder)
        assert Counter(row.status for row in answers(folder)) == {"ok": 4}
        assert len(server.bodies) == 3 + 3 + 1
    finally:
        server.close()


@pytest.mark.slow
def test_kill_9_at_random_moments_costs_no_answer_and_changes_no_byte(tmp_path: Path, run: Runner) -> None:
    server = FaultyServer(latency=0.02)
    (tmp_path / "killed").mkdir()
    (tmp_path / "calm").mkdir()
    try:
        calm = workspace(tmp_path / "calm", scq_items(100), server.url)
        run(calm)
        server.answered.clear()
        folder = workspace(tmp_path / "killed", scq_items(100), server.url)
        chance = random.Random(7)
        kills = 0
        for _ in range(4):
            with start(folder) as process:
                enough = len(server.answered) + chance.randint(5, 45)
                while process.poll() is None and len(server.answered) < enough:
                    time.sleep(0.005)
                if process.poll() is None:
                    process.send_signal(signal.SIGKILL)
                    kills += 1
                process.communicate()
        run(folder)
        name = "data/t/answers/service.parquet"
        assert kills >= 3
        assert (folder / name).read_bytes() == (calm / name).read_bytes()
        assert len(server.answered) == 200
        # at most the eight in flight at each kill may have been answered without reaching the disk
        assert sum(count - 1 for count in server.answered.values()) <= 8 * kills
        keys = [json.loads(line)["key"] for line in journal(folder).read_text(encoding="utf-8").splitlines()]
        assert len(keys) == len(set(keys)) == 200
    finally:
        server.close()


@pytest.mark.slow
def test_ctrl_c_ends_in_one_line_and_keeps_what_was_answered(tmp_path: Path, run: Runner) -> None:
    server = FaultyServer(latency=0.05)
    try:
        folder = workspace(tmp_path, scq_items(100), server.url)
        with start(folder) as process:
            while len(server.answered) < 20:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            said = process.communicate(timeout=30)[1]
        assert process.returncode == 130
        assert "Traceback" not in said
        assert "Stopped; what is done is kept" in said
        assert len(journal(folder).read_text(encoding="utf-8").splitlines()) >= 12
        assert json.loads((journal(folder).parent / "infer-service.status.json").read_text())["state"] == "stopped"
    finally:
        server.close()


@pytest.mark.slow
def test_two_processes_on_one_journal_the_second_says_so(tmp_path: Path, run: Runner) -> None:
    server = FaultyServer(latency=1.0)
    try:
        folder = workspace(tmp_path, scq_items(100), server.url)
        with start(folder) as first:
            while not server.bodies:
                time.sleep(0.01)
            said = run(folder, expect=1)
            assert "another process is writing this journal" in said
            assert "Traceback" not in said
            first.kill()
            first.communicate()
    finally:
        server.close()


@pytest.mark.parametrize("model", ["random", "majority", "lead", "copy"])
def test_a_baseline_answers_everything_the_same_way_twice(tmp_path: Path, run: Runner, model: str) -> None:
    items = [
        *scq_items(6),
        *(
            make_text_item(n, "TaxSum", f"某局第{n}次发布公告。", f"公告{n}", example_id=f"TaxSum-{3 - n:03}")
            for n in (1, 2)
        ),
    ]
    folder = workspace(tmp_path, items, runs=2)
    run(folder, model)
    path = folder / "data" / "t" / "answers" / f"{model}.parquet"
    first = path.read_bytes()
    assert Counter(row.status for row in answers(folder, model)) == {"ok": 8 * 2 * 2}
    journal(folder, model).unlink()
    run(folder, model)
    assert path.read_bytes() == first


def test_an_unknown_model_is_named_with_the_nearest(tmp_path: Path, run: Runner) -> None:
    said = run(workspace(tmp_path, scq_items(2)), "servise", expect=1)
    assert "no model 'servise'; did you mean 'service'?" in said
    assert "Traceback" not in said
