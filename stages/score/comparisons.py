"""What is compared with what: a reading and its item's gold, once a metric, field and protocol."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pydantic import JsonValue

from taxpraben.metrics import Pair
from taxpraben.metrics.base import Compared
from taxpraben.records.field import FieldKind
from taxpraben.records.item import Item
from taxpraben.records.reading import Reading, ReadingStatus
from taxpraben.records.score import PROTOCOLS, Protocol
from taxpraben.tasks.spec import LETTERS, AnswerForm, TaskSpec

_COMPARED: dict[AnswerForm, Compared] = {
    "single": "letters",
    "set": "letters",
    "number": "number",
    "span": "span",
    "text": "text",
}
_FIELD_COMPARED: dict[FieldKind, Compared] = {"text": "text", "number": "number", "label": "label"}


class GoldError(ValueError):
    """An item whose gold answer is not what its task's form needs; the message names the item."""


@dataclass(frozen=True)
class Comparison:
    """One score row to be.

    Attributes:
        metric: the metric's name.
        field: the compared field, or empty.
        status: the reading's status under this protocol; an answer that is not in the asked form is ``unread`` under
            ``strict``.
    """

    reading: Reading
    protocol: Protocol
    metric: str
    field: str
    pair: Pair
    status: ReadingStatus


def compare(reading: Reading, item: Item, task: TaskSpec, substitute: Mapping[str, str]) -> Iterator[Comparison]:
    """Every comparison that the task's score rule asks for, under both protocols.

    A field without a gold value is not compared.

    Raises:
        GoldError: the item's gold is missing or malformed.
    """
    for protocol in PROTOCOLS:
        value = reading.strict_value if protocol == "strict" else reading.value
        status = reading.status
        if protocol == "strict" and value is None and status == "read":
            status = "unread"
        for metric, field, gold, said, compared in _sides(item, task, value):
            name = substitute.get(metric, metric)
            pair = Pair(reference=gold, candidate=said, compared=compared)
            yield Comparison(reading, protocol, name, field, pair, status)


def _sides(item: Item, task: TaskSpec, value: JsonValue) -> Iterator[tuple[str, str, str, str | None, Compared]]:
    if task.form != "fields":
        gold = gold_of(item, task)
        said = value if isinstance(value, str) else None
        for metric in task.score.metrics:
            yield metric, "", gold, said, _COMPARED[task.form]
        return
    golds = _gold_fields(item)
    values = value if isinstance(value, dict) else {}
    fields = task.fields_of(item.fields)
    for group in task.score.groups:
        for field in fields:
            if field.name not in group.fields and not (not group.fields and field.kind == group.kind):
                continue
            if not golds.get(field.name):
                continue
            yield (
                group.metric,
                field.name,
                golds[field.name],
                _text(values.get(field.name)),
                _FIELD_COMPARED[field.kind],
            )


def _text(value: JsonValue) -> str | None:
    return value if isinstance(value, str) else None


def gold_of(item: Item, task: TaskSpec) -> str:
    """The gold answer as it is compared: sorted letters for choices, the answer's text else.

    Raises:
        GoldError: a choice without gold, or an empty answer.
    """
    if task.form in ("single", "set"):
        if not item.gold:
            raise GoldError(f"item {item.item_id} of {item.task} has no gold; build the release again")
        return "".join(LETTERS[index] for index in sorted(item.gold))
    if not item.answer.strip():
        raise GoldError(f"item {item.item_id} of {item.task} has an empty answer; build the release again")
    return item.answer


def _gold_fields(item: Item) -> dict[str, str]:
    try:
        # As written, because equality is judged at the precision that the gold shows.
        loaded = json.loads(item.answer, parse_float=str)
    except ValueError as error:
        raise GoldError(f"item {item.item_id} of {item.task}: its answer is no JSON object; build it again") from error
    if not isinstance(loaded, dict):
        raise GoldError(f"item {item.item_id} of {item.task}: its answer is no JSON object; build it again")
    return {name: str(value).strip() for name, value in loaded.items() if value is not None}
