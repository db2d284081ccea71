"""A small made-up release and answers for it: every task, a few items, a model that knows and one that does not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from taxpraben.records.answer import SETTINGS, Answer
from taxpraben.records.base import write_records
from taxpraben.records.field import Field
from taxpraben.records.item import Item
from taxpraben.tasks.catalog import load_catalog
from taxpraben.tasks.spec import LETTERS, TaskSpec

PLAN_FIELDS = [
    Field(name="核心思路", kind="text"),
    Field(name="筹划前税额", kind="number", unit="万元"),
    Field(name="筹划后税额", kind="number", unit="万元"),
]


def gold_item(task: TaskSpec, number: int) -> Item:
    """A made-up item of a task; the gold of a choice moves with the number."""
    letters = task.letters
    gold: list[int] = []
    choices: list[str] = []
    fields: list[Field] = []
    unit = ""
    if task.form in ("single", "set"):
        gold = [number % len(letters)]
        if task.name == "TaxMCQ":
            gold = sorted({number % 5, (number + 2) % 5})
        choices = [] if task.labels else [f"示例选项{letter}{number}" for letter in letters]
        answer = "".join(LETTERS[index] for index in gold)
    elif task.form == "number":
        answer, unit = f"{100 + number}.50", "万元"
    elif task.form == "fields":
        fields = PLAN_FIELDS if task.fields_from_item else []
        answer = json.dumps(
            {field.name: _field_answer(field, number) for field in task.fields_of(fields)}, ensure_ascii=False
        )
    else:
        answer = f"第{number}号示例公告规定，小微企业可以按季申报并享受减免。"
    return Item(
        item_id=f"{task.name}-{number:012d}",
        task=task.name,
        task_version=task.version,
        release="0.1.0",
        query="请作答。",
        prompt=0,
        text=f"第{number}题：示例企业应如何申报？",
        answer=answer,
        choices=choices,
        gold=gold,
        fields=fields,
        unit=unit,
        example_id="",
        draft_id=f"{task.name}-{number:012d}",
        document_id="doc-000000000000",
        origin="虚构",
        effective="",
        repealed="",
    )


def _field_answer(field: Field, number: int) -> str:
    if field.kind == "number":
        return str(10 + number)
    if field.kind == "label":
        return field.labels[number % len(field.labels)]
    return f"第{number}项：{field.name}的示例内容"


def model_text(model: str, item: Item, run: int) -> str:
    """What the made-up models say: ``knows`` the gold, ``wordy`` the gold in a sentence, ``silent`` nothing useful."""
    if model == "knows":
        return item.answer
    if model == "wordy":
        return item.answer if item.answer.startswith("{") else f"答案：{item.answer}"
    return "我无法回答该问题。" if run == 0 else ""


def write_workspace(root: Path, models: tuple[str, ...], items: int = 4, runs: int = 2) -> None:
    """params.yaml, models.yaml, a release and answers of these models under ``root``."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "params.yaml").write_text(
        "profile: trial\nsources: none\nasking: 0\ndefaults:\n"
        "  score: {substitute: {bertscore: rouge_l, bartscore: chrf}}\n  rank: {draws: 200}\n"
        "profiles: {trial: {}}\n",
        encoding="utf-8",
    )
    entries = "".join(
        f"  {model}: {{title: {model}, backend: baseline, access: none, group: baseline, baseline: lead}}\n"
        for model in models
    )
    (root / "models.yaml").write_text(
        f"roster: [{', '.join(models)}]\nmodels:\n{entries}weights: {{}}\n", encoding="utf-8"
    )
    tasks = [task for task in load_catalog().values() if task.domain == "tax"]
    release = {task.name: [gold_item(task, number) for number in range(items)] for task in tasks}
    for name, rows in release.items():
        write_records(root / "data/trial/benchmark/0.1.0" / f"{name}.parquet", Item, rows)
    for model in models:
        write_records(
            root / "data/trial/answers" / f"{model}.parquet",
            Answer,
            list(_answers(model, [item for rows in release.values() for item in rows], runs)),
        )


def _answers(model: str, items: list[Item], runs: int) -> Iterator[Answer]:
    for item in items:
        for setting in SETTINGS:
            for run in range(runs):
                text = model_text(model, item, run)
                yield Answer(
                    item_id=item.item_id,
                    task=item.task,
                    model=model,
                    setting=setting,
                    run=run,
                    request=f"{model}{item.item_id}{setting}{run}",
                    prompt=json.dumps([{"role": "user", "content": f"{item.query}\n\n文本：{item.text}\n\n答案："}]),
                    status="ok" if text else "empty",
                    text=text,
                )
