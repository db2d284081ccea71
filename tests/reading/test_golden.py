"""Every task folder's golden cases: raw model text and what a person reads in it (values set by hand)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from taxpraben.reading import read_answer
from taxpraben.records.field import Field
from taxpraben.tasks.catalog import TASKS_FOLDER, load_task

FOLDERS = sorted(path.parent for path in TASKS_FOLDER.glob("*/*/task.yaml"))
CASES = [
    pytest.param(folder, json.loads(line), id=f"{folder.name}-{number}")
    for folder in FOLDERS
    if (folder / "golden.jsonl").exists()
    for number, line in enumerate((folder / "golden.jsonl").read_text(encoding="utf-8").splitlines(), start=1)
]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_task_has_golden_cases_of_read_and_of_other_answers(folder: Path) -> None:
    rows = [json.loads(line) for line in (folder / "golden.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= 4
    assert any(row["status"] == "read" for row in rows)
    assert any(row["strict"] for row in rows)
    assert any(not row["strict"] for row in rows)


@pytest.mark.parametrize(("folder", "case"), CASES)
def test_golden_answer_is_read_as_a_person_reads_it(folder: Path, case: dict[str, Any]) -> None:
    task = load_task(folder)
    own = [Field.model_validate(field) for field in case.get("fields", [])]
    result = read_answer(
        task.form,
        case["answer"],
        letters=task.letters,
        choices=case.get("choices", task.labels),
        fields=task.fields_of(own),
        unit=case.get("unit", ""),
        question=case.get("question", ""),
    )
    assert (result.value, result.status) == (case["value"], case["status"]), result
    assert (result.value is not None and result.strict_value == result.value) is case["strict"], result
    assert result.evidence in case["answer"]
    assert bool(result.reason) is (result.status != "read")
