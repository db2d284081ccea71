"""Answers into readings: each with its item's form, options, fields and unit, and never with its gold."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from taxpraben.reading import Asked, ReadResult, read_asked
from taxpraben.records.answer import Answer
from taxpraben.records.item import Item
from taxpraben.records.reading import Reading, ReadingMethod
from taxpraben.tasks.spec import TaskSpec

Ask = Callable[[str], str]
ItemKey = tuple[str, str]


class ReadStageError(ValueError):
    """Answers that do not fit the release; the message names the row and the remedy."""


def read_all(
    answers: Iterable[Answer],
    items: Mapping[ItemKey, Item],
    tasks: Mapping[str, TaskSpec],
    ask: Ask | None = None,
) -> list[Reading]:
    """One reading for each answer, in their order.

    Args:
        answers: the answers of one model.
        items: the release's items by task and item id.
        tasks: the task catalogue.
        ask: the model parser, for what the rules leave.

    Raises:
        ReadStageError: an answer belongs to no item of the release.
    """
    readings: list[Reading] = []
    known: dict[tuple[ItemKey, str, str, str], ReadResult] = {}
    for answer in answers:
        key = (answer.task, answer.item_id)
        if key not in items:
            raise ReadStageError(
                f"answer {answer.item_id} of {answer.task} ({answer.model}) belongs to no item of the release; "
                "run infer again for this release (`dvc repro infer@" + answer.model + "`)"
            )
        # Five runs often say the same; the reading of equal answers to one prompt is equal.
        same = (key, answer.setting, answer.status, answer.text)
        if same not in known:
            known[same] = _read(answer, items[key], tasks[answer.task], ask)
        readings.append(_reading(answer, known[same]))
    return readings


def _read(answer: Answer, item: Item, task: TaskSpec, ask: Ask | None) -> ReadResult:
    return read_asked(asked_of(answer, item, task), answer.text, status=answer.status, ask=ask)


def asked_of(answer: Answer, item: Item, task: TaskSpec) -> Asked:
    """What the answer has to be read as: its task's form with the item's options, fields and unit; no gold."""
    return Asked(
        form=task.form,
        letters=task.letters,
        choices=tuple(item.choices or task.labels),
        fields=tuple(task.fields_of(item.fields)),
        unit=item.unit,
        question=item.text,
        prompt=_prompt_text(answer.prompt),
    )


def _prompt_text(prompt: str) -> str:
    try:
        messages = json.loads(prompt)
    except ValueError:
        return prompt
    if not isinstance(messages, list):
        return prompt
    return "\n".join(str(message.get("content", "")) for message in messages if isinstance(message, dict))


def _reading(answer: Answer, result: ReadResult) -> Reading:
    return Reading(
        item_id=answer.item_id,
        task=answer.task,
        model=answer.model,
        setting=answer.setting,
        run=answer.run,
        request=answer.request,
        status=result.status,
        value=result.value,
        strict_value=result.strict_value,
        method=result.method,
        evidence=result.evidence,
        reason=result.reason,
        flags=list(result.flags),
    )


def summary(readings: Sequence[Reading]) -> list[str]:
    """One line a task: how many answers were read strictly, by rules and by the model, and how many were not."""
    lines: list[str] = []
    for task in dict.fromkeys(reading.task for reading in readings):
        lines.append(f"{task}: {tally(reading for reading in readings if reading.task == task)}")
    return lines


def tally(results: Iterable[ReadResult | Reading]) -> str:
    """One line: how many were read in the asked form, by rules and by the model parser, and how many were not."""
    rows = list(results)
    methods = Counter(row.method for row in rows if row.status == "read")
    states = Counter(row.status for row in rows if row.status != "read")
    read = ", ".join(f"{methods[name]} {label}" for name, label in _METHODS if methods[name])
    rest = ", ".join(f"{count} {status}" for status, count in sorted(states.items()))
    return f"{len(rows)} answers, read {read or 0}{'; ' + rest if rest else ''}"


_METHODS: tuple[tuple[ReadingMethod, str], ...] = (
    ("strict", "in the asked form"),
    ("rules", "by rules"),
    ("model", "by the model parser"),
)
