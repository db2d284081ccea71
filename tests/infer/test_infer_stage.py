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
from taxpraben.backends.journal import read_replies
from taxpraben.records.answer import Answer
from taxpraben.records.base import read_records, write_records
from taxpraben.records.item import Item
from taxpraben.tasks.catalog import load_catalog
from tests.backends.batch_server import BatchServer
from tests.backends.faulty_server import FaultyServer
from tests.infer.samples import make_item, make_text_item

ROOT = Path(__file__).parents[2]

Runner = Callable[..., str]


def workspace(
    folder: Path,
    items: list[Item],
    url: str = "http://127.0.0.1:9/v1",
    entry: dict[str, object] | None = None,
    **infer: object,
) -> Path:
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
            }
            | (entry or {}),
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


def served_apart(log: Path) -> subprocess.Popen[str]:
    """A server in a process of its own, which keeps a log; its first line of output is its address."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.backends.faulty_server", str(log)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def log_lines(log: Path, kind: str) -> Counter[str]:
    # The server may be in the midst of a line: only whole ones count.
    whole = log.read_bytes().rpartition(b"\n")[0] if log.exists() else b""
    rows = [json.loads(line) for line in whole.splitlines()]
    return Counter(prompt for found, prompt in rows if found == kind)


@pytest.mark.slow
def test_kill_9_at_ten_random_moments_costs_no_answer_and_changes_no_byte(tmp_path: Path, run: Runner) -> None:
    log = tmp_path / "server.log"
    (tmp_path / "killed").mkdir()
    (tmp_path / "calm").mkdir()
    with served_apart(log) as server:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        calm = workspace(tmp_path / "calm", scq_items(150), url)
        run(calm)
        assert log_lines(log, "answered").total() == 300
        log.unlink()
        folder = workspace(tmp_path / "killed", scq_items(150), url)
        chance = random.Random(7)
        kills = surplus = 0
        for _ in range(10):
            before = log_lines(log, "answered")
            on_disk = len(replies_on_disk(folder))
            with start(folder) as process:
                enough = before.total() + chance.randint(2, 26)
                while process.poll() is None and log_lines(log, "answered").total() < enough:
                    time.sleep(0.005)
                if process.poll() is None:
                    process.send_signal(signal.SIGKILL)
                    kills += 1
                process.communicate()
            assert len(replies_on_disk(folder)) >= on_disk
            time.sleep(0.1)  # what was in flight is still answered, into a closed connection
            surplus += log_lines(log, "answered").total() - len(replies_on_disk(folder)) - surplus
        run(folder)
        name = "data/t/answers/service.parquet"
        assert kills == 10
        assert (folder / name).read_bytes() == (calm / name).read_bytes()
        answered = log_lines(log, "answered")
        assert len(answered) == 300
        # asked again is only what was answered into a dead process: at most the eight in flight at each kill
        assert answered.total() - 300 == surplus <= 8 * kills
        keys = [json.loads(line)["key"] for line in journal(folder).read_text(encoding="utf-8").splitlines()]
        assert len(keys) == len(set(keys)) == 300
        server.communicate()


def replies_on_disk(folder: Path) -> dict[str, object]:
    """What the journal holds in whole lines."""
    return dict(read_replies(journal(folder))[0])


def test_a_killed_run_that_had_85_of_100_asks_for_15(tmp_path: Path, run: Runner) -> None:
    server = FaultyServer()
    try:
        folder = workspace(tmp_path, scq_items(50), server.url)
        run(folder)
        lines = journal(folder).read_bytes().splitlines(keepends=True)
        assert len(lines) == 100
        journal(folder).write_bytes(b"".join(lines[:85]) + lines[85][:40])  # torn in the middle of the next line
        server.tries.clear()
        said = run(folder)
        assert "mended, 40 bytes cut" in said
        assert "15 asked now, 85 from the journal" in said
        assert sorted(server.tries.values()) == [1] * 15
    finally:
        server.close()


PRICED = {"price": {"input": 1_000_000.0, "output": 0.0, "currency": "CNY"}}
"""A yuan for each token of the prompt; the server counts a token a character."""


def test_a_budget_ends_the_run_politely_and_a_higher_one_goes_on(tmp_path: Path, run: Runner) -> None:
    server = FaultyServer()
    try:
        folder = workspace(tmp_path, scq_items(20), server.url, PRICED, settings=["zero-shot"], budget=600)
        said = run(folder, expect=4)
        assert "infer.budget is 600 CNY" in said
        assert "raise infer.budget in params.yaml and start again" in said
        assert "Traceback" not in said
        asked = len(server.bodies)
        assert 0 < asked < 20
        assert len(journal(folder).read_text(encoding="utf-8").splitlines()) == asked  # all that was paid for
        assert not (folder / "data" / "t" / "answers" / "service.parquet").exists()
        standing = json.loads((journal(folder).parent / "infer-service.status.json").read_text())
        assert standing["state"] == "stopped"
        assert standing["currency"] == "CNY"
        assert 0 < standing["cost"] <= 600
        said = run(workspace(tmp_path, scq_items(20), server.url, PRICED, settings=["zero-shot"], budget=10_000))
        assert len(server.bodies) == 20
        spent = sum(answer.prompt_tokens for answer in answers(folder))
        assert f"{spent:.4f} CNY spent" in said
    finally:
        server.close()


def test_a_total_budget_counts_what_other_models_of_its_currency_cost(tmp_path: Path, run: Runner) -> None:
    server = FaultyServer()
    try:
        folder = workspace(tmp_path, scq_items(2), server.url, PRICED, settings=["zero-shot"])
        models = yaml.safe_load((folder / "models.yaml").read_text(encoding="utf-8"))
        models["models"]["second"] = models["models"]["service"]
        (folder / "models.yaml").write_text(yaml.safe_dump(models), encoding="utf-8")
        run(folder, "second")
        spent = sum(answer.prompt_tokens for answer in answers(folder, "second"))
        params = yaml.safe_load((folder / "params.yaml").read_text(encoding="utf-8"))
        params["profiles"]["t"]["infer"]["total_budget"] = {"CNY": spent + 1}
        (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
        said = run(folder, expect=4)
        assert f"infer.total_budget.CNY is {spent + 1:g} CNY, {spent:.4f} are spent" in said
        assert len(server.bodies) == 2
        params["profiles"]["t"]["infer"]["total_budget"] = {"USD": 5}
        (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
        assert "service is charged in CNY; add CNY" in run(folder, expect=1)
    finally:
        server.close()


def test_a_budget_for_a_service_without_a_price_is_refused(tmp_path: Path, run: Runner) -> None:
    said = run(workspace(tmp_path, scq_items(2), budget=5), expect=1)
    assert "models.service has no price, so infer.budget cannot be kept" in said


def test_batch_files_give_the_same_answers_as_single_calls(tmp_path: Path, run: Runner) -> None:
    server = BatchServer()
    batch = {"poll_s": 0.02, "requests": 6}
    (tmp_path / "singly").mkdir()
    (tmp_path / "batches").mkdir()
    try:
        items = [*scq_items(8), make_text_item(1, "TaxSum", "某局发布公告。", "公告")]
        singly = workspace(tmp_path / "singly", items, server.url)
        run(singly)
        asked = server.singly
        assert "its service is not known to take batch files" in run(
            workspace(tmp_path / "batches", items, server.url, batches=True), expect=1
        )
        entry = {"options": {"batch_api": True}}
        folder = workspace(tmp_path / "batches", items, server.url, entry, batches=True, batch=batch)
        said = run(folder)
        assert server.singly == asked
        assert len(server.batches) == 3
        assert "17 asked now, 0 from the journal" in said
        assert [row.model_dump() for row in answers(folder)] == [row.model_dump() for row in answers(singly)]
    finally:
        server.close()


@pytest.mark.slow
def test_a_batch_survives_kill_9_and_is_paid_for_once(tmp_path: Path, run: Runner) -> None:
    server = BatchServer(looks=1_000_000)
    try:
        entry = {"options": {"batch_api": True}}
        folder = workspace(tmp_path, scq_items(6), server.url, entry, batches=True, batch={"poll_s": 0.05})
        with start(folder) as process:
            while not any(server.looks.values()):
                time.sleep(0.01)
            process.kill()
            process.communicate()
        server.until = 0
        said = run(folder)
        assert (len(server.batches), server.singly) == (1, 0)
        assert "12 asked now" in said
        assert Counter(row.status for row in answers(folder)) == {"ok": 12}
    finally:
        server.close()


def test_what_made_the_answers_stands_beside_them(tmp_path: Path, run: Runner) -> None:
    server = FaultyServer()
    try:
        folder = workspace(tmp_path, scq_items(3), server.url, {"api_key_env": ""}, runs=2, temperature=0.7)
        run(folder)
        path = folder / "data" / "t" / "answers" / "service.record.json"
        record = json.loads(path.read_text(encoding="utf-8"))
        assert (record["model"], record["revision"], record["release"]) == ("service", "openai|service", "0.1.0")
        assert record["params"]["temperature"] == 0.7
        assert record["seeds"] == {"0": 20260101, "1": 20260102}
        assert record["answers"]["statuses"] == {"ok": 12}
        assert record["prompts"]["tasks"] == {"TaxSCQ": {"task_version": [1], "items": 3, "drawn": {"0": 3}}}
        assert record["tokens"]["prompt"] == sum(row.prompt_tokens for row in answers(folder))
        (asked_by,) = record["asked_by"]
        for who in (asked_by, record["written_by"]):
            assert {"python", "openai", "aiohttp", "commit"} <= set(who["versions"])
            assert {"system", "processor", "cores", "memory_gib", "gpus"} == set(who["machine"])
        run(folder)  # nothing is asked: the record still names who asked
        again = json.loads(path.read_text(encoding="utf-8"))
        assert again["asked_by"] == [asked_by]
        assert again["answers"] == record["answers"]
        assert again["prompts"] == record["prompts"]
    finally:
        server.close()


@pytest.mark.slow
def test_status_shows_a_running_and_a_killed_inference_from_elsewhere(tmp_path: Path) -> None:
    server = FaultyServer(latency=1.5)

    def status(folder: Path) -> str:
        code = "from cli.main import main; main()"
        command = [sys.executable, "-c", code, "status"]
        found = subprocess.run(
            command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
        )
        return next(line for line in found.stdout.splitlines() if line.startswith("service"))

    try:
        folder = workspace(tmp_path, scq_items(100), server.url, PRICED)
        models = yaml.safe_load((folder / "models.yaml").read_text(encoding="utf-8"))
        models["roster"] = ["service"]
        (folder / "models.yaml").write_text(yaml.safe_dump(models), encoding="utf-8")
        assert status(folder) == "service: not asked yet"
        with start(folder) as process:
            while (
                '"done": 0' in (found := read_text(journal(folder).parent / "infer-service.status.json")) or not found
            ):
                time.sleep(0.05)
            line = status(folder)
            assert line.startswith("service: running (")
            assert " of 200, " in line
            assert "CNY spent" in line
            assert "tokens/s in and out" in line
            assert " left" in line
            process.kill()
            process.communicate()
        assert status(folder).startswith("service: killed (")
    finally:
        server.close()


def read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


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
