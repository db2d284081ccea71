"""`taxpraben score FILE`: outputs of another harness, raw or read, with their gold. Expected values by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.main import app
from cli.outside_rows import OutsideRowsError, read_outside, read_rows


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in a workspace."""
    monkeypatch.chdir(tmp_path)


def write(rows: list[dict[str, Any]], name: str = "in.jsonl") -> Path:
    """Rows as JSON lines, with a byte-order mark as some programs write it."""
    path = Path(name)
    path.write_text("\ufeff" + "\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return path


def scored(path: Path, *arguments: str) -> dict[tuple[str, str, str], dict[str, Any]]:
    """What the command prints as JSON, by task, metric and field."""
    result = CliRunner().invoke(app, ["score", str(path), "--json", "--draws", "200", *arguments])
    assert result.exit_code == 0, result.output
    return {(line["task"], line["metric"], line["field"]): line for line in json.loads(result.stdout)}


def choice(number: int, gold: Any, text: str, form: str = "single") -> dict[str, Any]:
    return {"id": f"q{number}", "form": form, "options": "ABCD", "text": text, "gold": gold}


def test_raw_answers_are_read_first_and_scored_under_both_protocols() -> None:
    said = ("A", "答案是B。", "选D", "不知道")
    found = scored(write([choice(at, gold, text) for at, (gold, text) in enumerate(zip("ABCD", said, strict=True))]))
    line = found["single", "accuracy", ""]
    assert line["strict"]["value"] == pytest.approx(1 / 4)  # only the first is in the asked form
    assert line["aligned"]["value"] == pytest.approx(2 / 4)
    assert line["format_cost"] == pytest.approx(1 / 4)
    assert line["aligned"]["low"] <= 0.5 <= line["aligned"]["high"]
    assert line["unread"] + line["refused"] == pytest.approx(1 / 4)
    assert (line["rows"], line["items"]) == (4, 4)


def test_answer_that_is_no_option_is_wrong_and_no_class_of_the_macro_mean() -> None:
    rows = [
        {"id": "1", "form": "single", "options": "AB", "status": "read", "value": "A", "gold": "A"},
        {"id": "2", "form": "single", "options": "AB", "status": "read", "value": "N/A", "gold": "B"},
    ]
    found = scored(write(rows))
    # F1 of A is 1, of B 0; a third class would make the mean a third.
    assert found["single", "macro_f1", ""]["aligned"]["value"] == pytest.approx(0.5)
    assert found["single", "accuracy", ""]["aligned"]["value"] == pytest.approx(0.5)


def test_rows_that_were_read_already_take_their_gold_from_a_second_file() -> None:
    golds = write([choice(1, "AC", "", "set"), choice(2, ["B", "D"], "", "set")], "gold.jsonl")
    read = write(
        [
            {"id": "q1", "status": "read", "value": "AC", "method": "strict", "evidence": "AC", "flags": []},
            {"id": "q2", "status": "read", "value": "BC", "method": "rules", "evidence": "B、C", "flags": []},
        ]
    )
    line = scored(read, "--gold", str(golds))["set", "exact_match", ""]
    assert (line["strict"]["value"], line["aligned"]["value"]) == (0.5, 0.5)
    only_strict = write([{"id": "q1", "status": "read", "value": "AC"}], "bare.jsonl")
    assert "strict" not in scored(only_strict, "--gold", str(golds))["set", "exact_match", ""]


def test_numbers_are_equal_at_the_places_that_the_gold_shows() -> None:
    path = Path("in.jsonl")
    path.write_text(
        '{"id": "1", "form": "number", "text": "12.3456", "gold": 12.35}\n'
        '{"id": "2", "form": "number", "text": "12.3", "gold": 12.30}\n'
        '{"id": "3", "form": "number", "text": "7", "gold": 8}\n',
        encoding="utf-8",
    )
    assert scored(path)["number", "exact_match", ""]["aligned"]["value"] == pytest.approx(2 / 3)


def test_fields_are_averaged_within_the_item_and_then_by_kind() -> None:
    fields = [{"name": "思路", "kind": "text"}, {"name": "税额", "kind": "number"}, {"name": "节税", "kind": "number"}]
    gold = {"思路": "分次发放奖金", "税额": 10, "节税": 2}
    said = {"思路": "分次发放奖金", "税额": "10", "节税": "3"}
    found = scored(
        write(
            [
                {"id": "1", "form": "fields", "fields": fields, "text": json.dumps(said), "gold": gold},
                {
                    "id": "2",
                    "form": "fields",
                    "fields": fields,
                    "text": "无法回答",
                    "gold": {"思路": "合并", "税额": 1},
                },
            ]
        )
    )
    assert found["fields", "exact_match", "税额"]["aligned"]["value"] == pytest.approx(0.5)
    # Numbers: item 1 has one of two, item 2 none of one; texts: 1 and 0.
    assert found["fields", "exact_match", ""]["aligned"]["value"] == pytest.approx(0.25)
    assert found["fields", "rouge_l", ""]["aligned"]["value"] == pytest.approx(0.5)
    assert found["fields", "field_score", ""]["aligned"]["value"] == pytest.approx(0.375)


def test_texts_are_scored_by_the_chosen_metrics_and_empty_ones_are_counted() -> None:
    rows = [
        {"id": "1", "form": "text", "text": "应当按季申报", "gold": "应当按季申报"},
        {"id": "2", "form": "text", "status": "read", "value": "", "gold": "甲"},
    ]
    found = scored(write(rows), "--metrics", "chrf")
    assert [key[1] for key in found] == ["chrf"]
    line = found["text", "chrf", ""]
    assert line["aligned"]["value"] == pytest.approx(50.0)
    assert line["flags"] == {"empty": 1}


def test_rows_are_counted_by_task_and_runs_of_an_item_together() -> None:
    rows = [
        {"id": "1", "run": run, "task": "甲卷", "form": "single", "options": "AB", "value": "A", "gold": gold}
        for run, gold in ((0, "A"), (1, "B"))
    ]
    rows.append({"id": "1", "task": "乙卷", "form": "span", "value": "十五日", "gold": "十五日"})
    found = scored(write(rows))
    assert (found["甲卷", "accuracy", ""]["rows"], found["甲卷", "accuracy", ""]["items"]) == (2, 1)
    # One item alone: every draw is the same.
    assert found["甲卷", "accuracy", ""]["aligned"] == {"value": 0.5, "low": 0.5, "high": 0.5}
    assert found["乙卷", "exact_match", ""]["aligned"]["value"] == 1.0


def test_the_table_shows_protocols_interval_cost_and_shares() -> None:
    path = write([choice(1, "A", "A"), choice(2, "B", "答案是B。"), choice(3, "C", "我无法回答该问题。")])
    result = CliRunner().invoke(app, ["score", str(path)])
    assert result.exit_code == 0, result.output
    assert "single: 3 rows, 3 items" in result.stdout
    line = next(line for line in result.stdout.splitlines() if line.startswith("accuracy "))
    assert line.split()[:3] == ["accuracy", "0.333", "0.667"]
    assert "refused 33%" in result.stdout
    assert "exact" not in result.stdout


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"id": "1", "form": "single", "options": "AB", "text": "A"}, "line 1: no 'gold'"),
        (
            {"id": "1", "form": "single", "options": "AB", "text": "A", "gold": "E"},
            "gold 'E' is none of the letters AB",
        ),
        ({"id": "1", "form": "single", "options": "AB", "gold": "A"}, "has neither 'text'"),
        ({"id": "1", "form": "number", "text": "1", "gold": None}, "gold None is empty"),
        ({"id": "1", "form": "fields", "text": "{}", "gold": "甲"}, "the gold of form 'fields' is an object"),
        ({"id": "1", "form": "choice", "text": "A", "gold": "A"}, "line 1: 'form'"),
    ],
)
def test_a_bad_row_is_named_by_its_line(row: dict[str, Any], message: str) -> None:
    path = write([row])
    with pytest.raises(OutsideRowsError, match=message):
        read_outside(read_rows(path), path)


def test_an_id_that_stands_twice_is_refused() -> None:
    path = write([choice(1, "A", "A"), choice(1, "A", "B")])
    with pytest.raises(OutsideRowsError, match="line 2: id 'q1' stands on line 1 already"):
        read_outside(read_rows(path), path)


def test_the_form_is_taken_from_the_gold_where_no_row_says_it() -> None:
    golds: list[Any] = ["B", "AC", 12.5, "十五日内", {"税额": 3}]
    path = write([{"id": str(number), "value": "x", "gold": gold} for number, gold in enumerate(golds)])
    assert [row.form for row in read_outside(read_rows(path), path)] == ["single", "set", "number", "span", "fields"]
