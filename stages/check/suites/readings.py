"""Readings of one model: one for each answer, with a value where it was read and a reason where it was not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stages.check.rules import Row, Suite, one_of, present, sound, unique
from stages.check.suites.answers import answer_id
from stages.check.suites.folding import fold
from taxpraben.records.answer import Answer
from taxpraben.records.reading import Reading

STATUSES = ("read", "unread", "refused", "truncated", "reader_error")


def suite(model: str) -> Suite:
    """What must hold of the model's readings."""
    return Suite(
        name="readings",
        part=model,
        remedy=f"`dvc repro -f read@{model}` reads the answers again",
        rules=(
            present("至少有一条解读", "there is a reading"),
            unique("row", "每个回答只有一条解读", "one reading for each answer"),
            sound("answer_problem", "解读对应已有的回答", "the reading is of an answer that exists"),
            one_of("status", STATUSES, "状态已知", "the status is known"),
            sound("status_problem", "读出则有值与方法，未读出则有理由",
                  "what was read has a value and a method, what was not has a reason"),
            sound("evidence_problem", "模型解读所引原文见于回答", "what the model parser quotes stands in the answer"),
        ),
    )  # fmt: skip


def columns(readings: Sequence[Reading], answers: Mapping[tuple[object, ...], Answer]) -> list[Row]:
    """One row a reading, and one for each answer that has none.

    Args:
        readings: of one model.
        answers: the model's answers by key.
    """
    rows: list[Row] = [
        {
            "row": f"{reading.item_id} {reading.setting} {reading.run}",
            "status": reading.status,
            "answer_problem": answer_problem(reading, answers.get(reading.key)),
            "status_problem": status_problem(reading),
            "evidence_problem": evidence_problem(reading, answers.get(reading.key)),
        }
        for reading in readings
    ]
    read = {reading.key for reading in readings}
    for key, answer in answers.items():
        if key not in read:
            lost: Row = {"row": answer_id(answer), "status": None, "answer_problem": "the answer has no reading"}
            rows.append({**lost, "status_problem": "", "evidence_problem": ""})
    return rows


def answer_problem(reading: Reading, answer: Answer | None) -> str:
    """Says that the answer is missing or was another one when it was read."""
    if answer is None:
        return "no such answer"
    return "" if reading.request == answer.request else "the answer has changed since it was read"


def status_problem(reading: Reading) -> str:
    """Says where status, value, method and reason contradict each other."""
    if reading.status == "read":
        lacking = [
            name for name, there in (("value", reading.value is not None), ("method", reading.method)) if not there
        ]
        return f"read without {' and '.join(lacking)}" if lacking else ""
    if reading.status in ("unread", "refused", "reader_error") and not reading.reason.strip():
        return f"{reading.status} without a reason"
    return ""


def evidence_problem(reading: Reading, answer: Answer | None) -> str:
    """Says that the model parser's evidence does not stand in the answer (blind to width and white space).

    Rules quote what they read by themselves.
    """
    if answer is None or reading.method != "model":
        return ""
    if not reading.evidence.strip():
        return "no evidence"
    return "" if fold(reading.evidence) in fold(answer.text) else f"not in the answer: {reading.evidence[:40]!r}"
