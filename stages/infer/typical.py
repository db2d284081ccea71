"""The majority baseline's answers: what the other items of a task are most often, or most typically, answered with."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence

from taxpraben.records.field import Field
from taxpraben.records.item import Item
from taxpraben.tasks.spec import TaskSpec

COMPARED = 64
"""With so many other answers a text is compared at most."""


def typical_answers(spec: TaskSpec, items: Sequence[Item]) -> dict[str, str]:
    """An answer for each item that knows the task's answers, never the item's own question.

    Letters and labels: the task's most frequent one, for every item, as majority-class baselines do. Numbers: the
    most frequent of the other items. Texts: items fall into two halves by id, and each half gets the other half's
    most typical text. Fields: the same, field by field. Empty text where there is no other item to learn from.
    """
    if spec.form == "fields":
        return _typical_objects(spec, items)
    answers = {item.item_id: item.answer for item in items}
    kind = {"single": "label", "set": "label", "number": "number"}.get(spec.form, "text")
    return _TYPICAL[kind](answers)


def most_frequent(answers: dict[str, str]) -> dict[str, str]:
    """For every id the most frequent answer, the same for all; of equally frequent ones the first by text."""
    counts = Counter(answers.values())
    typical = min(counts, key=lambda answer: (-counts[answer], answer), default="")
    return dict.fromkeys(answers, typical if len(answers) > 1 else "")


def most_frequent_of_the_others(answers: dict[str, str]) -> dict[str, str]:
    """For each id the answer that most other ids have; of equally frequent ones the first by text."""
    counts = Counter(answers.values())
    typical = {}
    for name, own in answers.items():
        others = {answer: count - (answer == own) for answer, count in counts.items() if count > (answer == own)}
        typical[name] = min(others, key=lambda answer: (-others[answer], answer), default="")
    return typical


def most_like_the_others(answers: dict[str, str]) -> dict[str, str]:
    """For each id the text of the other half of the ids that shares most character pairs with that half's texts."""
    halves: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for place, name in enumerate(sorted(answers, key=_shuffled)):
        halves[place % 2][name] = answers[name]
    first, second = _medoid(halves[0]), _medoid(halves[1])
    return {name: second if name in halves[0] else first for name in answers}


def _typical_objects(spec: TaskSpec, items: Sequence[Item]) -> dict[str, str]:
    kinds: dict[str, Field] = {}
    values: dict[str, dict[str, str]] = {}
    for item in items:
        given = json.loads(item.answer)
        for field in spec.fields_of(item.fields):
            kinds.setdefault(field.name, field)
            values.setdefault(field.name, {})[item.item_id] = str(given.get(field.name, ""))
    typical = {name: _TYPICAL[kinds[name].kind](found) for name, found in values.items()}
    return {
        item.item_id: json.dumps(
            {field.name: typical[field.name][item.item_id] for field in spec.fields_of(item.fields)},
            ensure_ascii=False,
        )
        for item in items
    }


def _medoid(answers: dict[str, str]) -> str:
    """The text most like the others, by the mean overlap with a sample of them; the shorter of equals."""
    pairs = {name: Counter(text[at : at + 2] for at in range(len(text) - 1)) for name, text in answers.items()}
    sample = sorted(answers, key=_shuffled)[:COMPARED]

    def rank(name: str) -> tuple[float, int, str]:
        likeness = sum(_overlap(pairs[name], pairs[other]) for other in sample if other != name)
        return -round(likeness, 9), len(answers[name]), name

    best = min(answers, key=rank, default="")
    return answers[best] if best else ""


def _overlap(left: Counter[str], right: Counter[str]) -> float:
    """Dice's coefficient of two multisets."""
    size = left.total() + right.total()
    return 2 * (left & right).total() / size if size else 0.0


def _shuffled(name: str) -> bytes:
    return hashlib.sha256(name.encode()).digest()


_TYPICAL = {"label": most_frequent, "number": most_frequent_of_the_others, "text": most_like_the_others}
