"""What was asked of the model under test, and what came of reading its answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from pydantic import JsonValue

from taxpraben.records.field import Field
from taxpraben.records.reading import ReadingMethod, ReadingStatus

Form = Literal["single", "set", "number", "span", "text", "fields"]


@dataclass(frozen=True)
class Asked:
    """What an answer has to be read as; gold is no part of it.

    Attributes:
        form: the form of the answer.
        letters: the letters that an answer may use, in order (``"ABCD"``), for choices.
        choices: option texts in the order of the letters, where they are known.
        fields: the fields of a structured answer.
        unit: the unit that a number is meant in (元, 万元, 亿元, %), or empty.
        question: the question as put to the model (without instruction and example), to know restated figures.
        prompt: everything that was sent, to know an echo from an answer.
    """

    form: Form
    letters: str = ""
    choices: tuple[str, ...] = ()
    fields: tuple[Field, ...] = ()
    unit: str = ""
    question: str = ""
    prompt: str = ""


@dataclass(frozen=True)
class ReadResult:
    """The reading of one answer; the attributes are those of the record ``Reading``."""

    status: ReadingStatus
    value: JsonValue = None
    strict_value: JsonValue = None
    method: ReadingMethod = ""
    evidence: str = ""
    reason: str = ""
    flags: tuple[str, ...] = ()

    def flagged(self, *flags: str) -> ReadResult:
        """The same result with further flags, each once, in alphabetical order."""
        if not set(flags) - set(self.flags):
            return self
        return replace(self, flags=tuple(sorted({*self.flags, *flags})))


@dataclass(frozen=True)
class Found:
    """What the rules of one form found in an answer.

    Attributes:
        value: the value, or None where the rules leave the answer unread.
        evidence: the stretch of the answer that the value stands in.
        reason: why nothing was read.
        flags: what a reader of the figure should know.
        settled: nothing was read, and there is nothing that a model could read either (the prompt repeated, no figure
            at all, a letter that is no option); the model parser is not asked.
    """

    value: JsonValue = None
    evidence: str = ""
    reason: str = ""
    flags: tuple[str, ...] = ()
    settled: bool = False
