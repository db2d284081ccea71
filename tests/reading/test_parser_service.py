"""The model parser over HTTP: a real server on the loopback answers it (replies set by hand)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from stages.read import __main__ as stage
from taxpraben.records.answer import Answer
from taxpraben.records.base import read_records, write_records
from taxpraben.records.reading import Reading
from tests.infer.samples import make_item, make_text_item
from tests.reading.parser_server import ParserServer

GOLD = "金标准里的独有说法"
PROSE = "这家商行常年收现金不入账，迟早少报收入。往后货款都走公户就稳妥了。"
LEFT = "前两个说不通，还是后面讲按季的那个说法站得住。"


def reply(prompt: str) -> str | int:
    """Quotes for one answer, an invention for another, a failure for a third."""
    if "坏掉" in prompt:
        return 400
    if "瞎编" in prompt:
        return json.dumps({"答案": "D", "原文": "应当选择第四项"}, ensure_ascii=False)
    if "面临的风险" in prompt:
        risk, remedy = "收现金不入账，迟早少报收入", "货款都走公户"
        return json.dumps({"面临的风险": risk, "对应的解决措施": remedy}, ensure_ascii=False)
    return "```json\n" + json.dumps({"答案": "C", "原文": "按季的那个说法站得住"}, ensure_ascii=False) + "\n```"


@pytest.fixture
def server() -> Iterator[ParserServer]:
    one = ParserServer(reply)
    yield one
    one.close()


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: ParserServer) -> Path:
    monkeypatch.chdir(tmp_path)
    roster = {
        "roster": ["copy"],
        "models": {
            "copy": {"title": "Copy", "backend": "baseline", "access": "none", "group": "baseline", "baseline": "copy"},
            "reader": {
                "title": "Reader",
                "backend": "openai",
                "access": "api",
                "group": "chinese",
                "served": "reader-1",
                "base_url": server.url,
                "price": {"input": 2.0, "output": 10.0, "currency": "CNY"},
            },
        },
        "weights": {},
    }
    (tmp_path / "models.yaml").write_text(json.dumps(roster), encoding="utf-8")
    params = {"profile": "p", "sources": "s", "profiles": {"p": {"read": {"parser": {"model": "reader"}}}}}
    (tmp_path / "params.yaml").write_text(json.dumps(params), encoding="utf-8")
    return tmp_path


def answer(task: str, number: int, text: str, item: str) -> Answer:
    return Answer(
        item_id=item,
        task=task,
        model="copy",
        setting="zero-shot",
        run=number,
        request=f"r{number}",
        prompt=json.dumps([{"role": "user", "content": "请作答。"}], ensure_ascii=False),
        status="ok",
        text=text,
    )


def run_stage(monkeypatch: pytest.MonkeyPatch) -> list[Reading]:
    monkeypatch.setattr(sys, "argv", ["stages.read", "--model", "copy"])
    stage.main()
    return read_records(Path("data/p/readings/copy.parquet"), Reading)


def test_stage_asks_for_what_the_rules_leave_shows_no_gold_and_prints_share_and_cost(
    workspace: Path, server: ParserServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    choice = make_item(1, choices=["按月", "按年", "按季", "按次"], gold=[2], answer="C")
    risk = make_text_item(2, "TaxRisk", "某商行情况", json.dumps({"面临的风险": GOLD, "对应的解决措施": GOLD}))
    release = workspace / "data/p/benchmark/0.1.0"
    write_records(release / f"{choice.task}.parquet", type(choice), [choice])
    write_records(release / f"{risk.task}.parquet", type(risk), [risk])
    answers = [
        answer(choice.task, 0, "答案：C", choice.item_id),
        answer(choice.task, 1, LEFT, choice.item_id),
        answer(choice.task, 2, LEFT, choice.item_id),
        answer(choice.task, 3, LEFT + "瞎编", choice.item_id),
        answer(choice.task, 4, LEFT + "坏掉", choice.item_id),
        answer(risk.task, 0, PROSE, risk.item_id),
    ]
    write_records(workspace / "data/p/answers/copy.parquet", Answer, answers)
    readings = {(row.task, row.run): row for row in run_stage(monkeypatch)}
    shown = capsys.readouterr().err

    assert [readings[choice.task, run].status for run in range(5)] == ["read"] * 3 + ["reader_error"] * 2
    assert [readings[choice.task, run].method for run in range(5)] == ["rules", "model", "model", "", ""]
    assert readings[choice.task, 1].value == "C"
    assert readings[choice.task, 1].evidence in LEFT
    assert "evidence does not stand" in readings[choice.task, 3].reason
    assert "gave no reply" in readings[choice.task, 4].reason
    assert readings[risk.task, 0].value == {
        "面临的风险": "收现金不入账，迟早少报收入",
        "对应的解决措施": "货款都走公户",
    }

    assert "rules leave 5 of 6 answers (83.3%, 4 different requests) to the model parser reader" in shown
    # Three replies of 100 + 10 tokens at 2 and 10 CNY for a million: 3 x (200 + 100) / 1e6.
    assert "3 asked, 0 from the journal, 1 without a reply; 300 + 30 tokens, 0.0009 CNY" in shown
    assert not any(GOLD in prompt or "答案：C" in prompt for prompt in server.prompts)
    assert any(PROSE in prompt for prompt in server.prompts)

    server.prompts.clear()
    assert {(row.task, row.run): row for row in run_stage(monkeypatch)} == readings
    assert all("坏掉" in prompt for prompt in server.prompts)  # what failed is tried again, nothing else
    assert "0 asked, 3 from the journal" in capsys.readouterr().err


def test_file_is_read_with_a_parser_and_a_second_run_asks_nothing(workspace: Path, server: ParserServer) -> None:
    rows = [
        {"id": "a", "form": "single", "options": "ABCD", "text": "选B", "gold": GOLD},
        {"id": "b", "form": "single", "options": "ABCD", "text": LEFT, "gold": GOLD},
    ]
    Path("in.jsonl").write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    for _ in range(2):
        told = CliRunner().invoke(app, ["read", "in.jsonl", "out.jsonl", "--parser", "reader"])
        assert told.exit_code == 0, told.output
        out = [json.loads(line) for line in Path("out.jsonl").read_text(encoding="utf-8").splitlines()]
        assert [(row["id"], row["value"], row["method"]) for row in out] == [("a", "B", "rules"), ("b", "C", "model")]
    assert len(server.prompts) == 1
    assert GOLD not in server.prompts[0]


def test_audit_prints_where_rules_and_parser_differ_with_counts(workspace: Path, server: ParserServer) -> None:
    rows = [
        {"id": "same", "form": "single", "options": "ABCD", "text": "选C，按季的那个说法站得住"},
        {"id": "other", "form": "single", "options": "ABCD", "text": "选B，虽然按季的那个说法站得住"},
        {"id": "only", "form": "single", "options": "ABCD", "text": LEFT},
        {"id": "made", "form": "single", "options": "ABCD", "text": "选A 瞎编"},
    ]
    Path("in.jsonl").write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    told = CliRunner().invoke(app, ["audit", "in.jsonl", "--parser", "reader", "--sample", "9"])
    assert told.exit_code == 0, told.output
    assert "other: differ" in told.output
    assert "only: parser only" in told.output
    assert "same: " not in told.output
    counted = {line[:32].strip(): line[32:].split() for line in told.output.splitlines() if line.endswith("%")}
    assert counted == {
        "both read the same": ["1", "25.0%"],
        "both read, but not the same": ["1", "25.0%"],
        "only the parser read": ["1", "25.0%"],
        "the parser failed": ["1", "25.0%"],
    }


def test_audit_sample_is_drawn_by_seed(workspace: Path) -> None:
    rows = [
        {"id": f"q{n}", "form": "single", "options": "ABCD", "text": f"选B 按季的那个说法站得住 {n}"} for n in range(30)
    ]
    Path("in.jsonl").write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    command = ["audit", "in.jsonl", "--parser", "reader", "--sample", "5", "--seed"]
    one, again, other = (CliRunner().invoke(app, [*command, seed]).output for seed in ("1", "1", "2"))
    drawn = [{line for line in text.splitlines() if ": differ" in line} for text in (one, again, other)]
    assert len(drawn[0]) == 5
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]


@pytest.mark.parametrize("command", [["audit", "in.jsonl"], ["audit", "--parser", "reader"], ["read", "in.jsonl"]])
def test_command_that_lacks_something_says_what(workspace: Path, command: list[str]) -> None:
    told = CliRunner().invoke(app, command)
    assert told.exit_code == 2
    assert "name" in told.output
