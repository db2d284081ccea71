"""Answers of one model: one row for each planned question, each with a known status that its text agrees with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from stages.check.params import CheckParams
from stages.check.rules import Row, Suite, filled, one_of, present, share, sound, unique
from taxpraben.records.answer import Answer
from taxpraben.records.item import Item
from taxpraben.workspace import PlanParams

STATUSES = ("ok", "length", "empty", "refused", "content_filter", "too_long", "error")
# A model that thinks may reach the limit before it says a word, and a service may refuse without one.
_WITH_TEXT = ("ok",)
_WITH_CAUSE = ("error", "content_filter", "too_long")


def suite(model: str, params: CheckParams) -> Suite:
    """What must hold of the model's answers."""
    return Suite(
        name="answers",
        part=model,
        remedy=f"`dvc repro infer@{model}` asks for what is missing; remove the file first where it is wrong",
        rules=(
            present("至少有一个回答", "there is an answer"),
            unique("row", "每道题每种设置每次运行只有一个回答", "one answer for each item, setting and run"),
            sound("model_problem", "回答属于本模型", "the answer is this model's"),
            sound("item_problem", "所答题目在本版本之内", "the item is in the release"),
            one_of("status", STATUSES, "状态已知", "the status is known"),
            sound("status_problem", "状态与文本、原因相符", "the status agrees with text and cause"),
            sound("request_problem", "记有请求摘要值", "the request's hash is kept"),
            filled("prompt", "记有所发消息", "the messages as sent are kept"),
            share("failed", params.failed_answers, f"出错的回答不超过 {params.failed_answers:.0%}",
                  f"at most {params.failed_answers:.0%} of the answers are errors",
                  f"see the column `error`; `dvc repro -f infer@{model}` asks for them again"),
        ),
    )  # fmt: skip


def columns(answers: Sequence[Answer], items: Mapping[str, Item], model: str) -> list[Row]:
    """One row an answer, in the given order; ``items`` by id."""
    return [
        {
            "row": answer_id(answer),
            "status": answer.status,
            "request_problem": "" if answer.request or answer.status == "error" else "no hash",
            "prompt": answer.prompt,
            "model_problem": "" if answer.model == model else f"is {answer.model!r}'s",
            "item_problem": item_problem(answer, items.get(answer.item_id)),
            "status_problem": status_problem(answer),
            "failed": answer.error or "no cause" if answer.status == "error" else "",
        }
        for answer in answers
    ]


def answer_id(row: Answer) -> str:
    """``TaxSCQ-0123456789ab zero-shot 1``: how an answer is named to people."""
    return f"{row.item_id} {row.setting} {row.run}"


def item_problem(answer: Answer, item: Item | None) -> str:
    """Says that the item is unknown, or of another task."""
    if item is None:
        return f"no item {answer.item_id!r}"
    return "" if item.task == answer.task else f"the item belongs to {item.task}"


def status_problem(answer: Answer) -> str:
    """Says where a status lacks its text or its cause."""
    if answer.status in _WITH_TEXT and not answer.text.strip():
        return f"{answer.status} without text"
    if answer.status == "empty" and answer.text.strip():
        return "empty with text"
    return f"{answer.status} without a cause" if answer.status in _WITH_CAUSE and not answer.error.strip() else ""


def plan_suite(model: str) -> Suite:
    """What must hold of the plan's cells: a cell is a task and setting."""
    return Suite(
        name="plan",
        part=model,
        remedy=f"`dvc repro infer@{model}` asks for what is missing",
        rules=(
            present("有计划要问的题", "something was planned"),
            sound("missing", "计划内的题目每次运行都有一行", "every planned question has its row in every run"),
            sound("surplus", "没有计划外的行", "no row was not planned", "warning"),
        ),
    )


def plan_columns(answers: Sequence[Answer], items: Sequence[Item], plan: PlanParams) -> list[Row]:
    """One row a cell of the plan (task and setting).

    Args:
        answers: of one model.
        items: the release's.
        plan: settings, number of runs, and how many items of a task are asked (the same ones in each cell).
    """
    sizes = Counter(item.task for item in items)
    asked: dict[str, set[str]] = {}
    found: dict[tuple[str, str], dict[int, set[str]]] = {}
    for answer in answers:
        asked.setdefault(answer.task, set()).add(answer.item_id)
        found.setdefault((answer.task, answer.setting), {}).setdefault(answer.run, set()).add(answer.item_id)
    planned = {(task, setting) for task in sizes for setting in plan.settings}
    rows: list[Row] = []
    for task, setting in sorted(planned | set(found)):
        runs = found.get((task, setting), {})
        size = min(plan.items_per_task or sizes[task], sizes[task])
        missing, surplus = "", "this cell"
        if (task, setting) in planned:
            missing = _missing(runs, asked.get(task, set()), size, plan.runs)
            surplus = _surplus(runs, size, plan.runs)
        rows.append({"row": f"{task} {setting}", "missing": missing, "surplus": surplus})
    return rows


def _missing(runs: Mapping[int, set[str]], asked: set[str], size: int, planned_runs: int) -> str:
    """Says which runs and items lack; names the items where another cell of the task has them."""
    if len(runs) < planned_runs:
        return f"{len(runs)} runs instead of {planned_runs}"
    for run, ids in sorted(runs.items()):
        if len(ids) < size:
            lost = sorted(asked - ids)
            named = f": {', '.join(lost[:3])}{' …' if len(lost) > 3 else ''}" if lost else ""
            return f"run {run} has {len(ids)} of {size}{named}"
    return ""


def _surplus(runs: Mapping[int, set[str]], size: int, planned_runs: int) -> str:
    if len(runs) > planned_runs:
        return f"{len(runs)} runs instead of {planned_runs}"
    return next((f"run {run} has {len(ids)}, not {size}" for run, ids in sorted(runs.items()) if len(ids) > size), "")
