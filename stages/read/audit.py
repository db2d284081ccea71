"""The audit of the reader: rules and model parser over the same sample, and where they differ."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from pydantic import JsonValue

from taxpraben.reading import Asked, ReadResult, read_asked
from taxpraben.reading.surface import squeezed
from taxpraben.records.answer import AnswerStatus

Ask = Callable[[str], str]

VERDICTS = {
    "same": "both read the same",
    "differ": "both read, but not the same",
    "rules only": "only the rules read",
    "parser only": "only the parser read",
    "neither": "neither read",
    "reader_error": "the parser failed",
}


@dataclass(frozen=True)
class RawAnswer:
    """One answer to audit: its id, what was asked, and what was said."""

    key: str
    asked: Asked
    text: str
    status: AnswerStatus = "ok"


@dataclass(frozen=True)
class Compared:
    """One answer as both read it; ``verdict`` is a key of ``VERDICTS``."""

    answer: RawAnswer
    rules: ReadResult
    parser: ReadResult
    verdict: str


def draw(answers: Sequence[RawAnswer], size: int, seed: int) -> list[RawAnswer]:
    """A sample by seed of the answers that hold text and are not texts as a whole (these are not read but taken).

    Equal answers to an equal question count once. The sample keeps the order of the answers.
    """
    distinct = {(repr(answer.asked), answer.text): answer for answer in reversed(answers)}
    fit = [answer for answer in reversed(distinct.values()) if answer.text.strip() and answer.asked.form != "text"]
    chosen = random.Random(seed).sample(range(len(fit)), min(size, len(fit)))  # noqa: S311 - a sample, no secret
    return [fit[place] for place in sorted(chosen)]


def by_parser(answers: Sequence[RawAnswer], ask: Ask) -> list[ReadResult]:
    """Every answer as the model parser reads it, rules left aside."""
    return [read_asked(answer.asked, answer.text, status=answer.status, ask=ask, rules=False) for answer in answers]


def compare(answers: Sequence[RawAnswer], ask: Ask) -> list[Compared]:
    """Each answer by rules and by the model parser, in order."""
    compared: list[Compared] = []
    for answer, parser in zip(answers, by_parser(answers, ask), strict=True):
        rules = read_asked(answer.asked, answer.text, status=answer.status)
        compared.append(Compared(answer, rules, parser, _verdict(rules, parser)))
    return compared


def _verdict(rules: ReadResult, parser: ReadResult) -> str:
    if parser.status == "reader_error":
        return "reader_error"
    if rules.value is None or parser.value is None:
        return "neither" if rules.value is parser.value else "parser only" if rules.value is None else "rules only"
    return "same" if _equal(rules.value, parser.value) else "differ"


def _equal(one: JsonValue, other: JsonValue) -> bool:
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)
    if isinstance(one, str) and isinstance(other, str):
        try:
            return Decimal(one) == Decimal(other)
        except ArithmeticError:
            return squeezed(one) == squeezed(other)
    return one == other


def counts(compared: Sequence[Compared]) -> list[tuple[str, int]]:
    """How often each verdict was given, in the order of ``VERDICTS``, in words."""
    found = Counter(row.verdict for row in compared)
    return [(VERDICTS[verdict], found[verdict]) for verdict in VERDICTS if found[verdict]]
