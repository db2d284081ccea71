"""How a suite is declared: expectations by their Great Expectations type, with the words that people read.

A rule looks at one column. Columns that a record does not have are computed beforehand by pure functions; a *problem*
column holds an empty text where all is well and says in words what is wrong where it is not, so that a failing row
explains itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from taxpraben.records.check import Severity

Row: TypeAlias = dict[str, object]
"""One row as a suite sees it: column name to value; ``row`` is its id."""


@dataclass(frozen=True)
class Rule:
    """One expectation.

    Attributes:
        expectation: its type, as Great Expectations names it.
        column: the column, or empty for the whole table.
        zh, en: what must hold, in words.
        remedy: what to do when it does not hold; empty takes the suite's.
        kwargs: what the expectation needs besides the column.
    """

    expectation: str
    column: str
    zh: str
    en: str
    severity: Severity = "failure"
    remedy: str = ""
    kwargs: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Suite:
    """The expectations on one record's rows (of one task or model where ``part`` says so)."""

    name: str
    rules: Sequence[Rule]
    remedy: str
    part: str = ""

    @property
    def columns(self) -> list[str]:
        """The columns that the rules look at, ``row`` first, each once."""
        return list(dict.fromkeys(["row", *(rule.column for rule in self.rules if rule.column)]))


def unique(column: str, zh: str, en: str, severity: Severity = "failure", remedy: str = "") -> Rule:
    """No value occurs twice."""
    return Rule("expect_column_values_to_be_unique", column, zh, en, severity, remedy)


def filled(column: str, zh: str, en: str, severity: Severity = "failure", remedy: str = "") -> Rule:
    """Each value holds a character that is not white space."""
    return Rule("expect_column_values_to_match_regex", column, zh, en, severity, remedy, {"regex": r"\S"})


def one_of(column: str, values: Sequence[str], zh: str, en: str, severity: Severity = "failure") -> Rule:
    """Each value is one of a closed list."""
    return Rule("expect_column_values_to_be_in_set", column, zh, en, severity, "", {"value_set": list(values)})


def within(
    column: str,
    low: float | None,
    high: float | None,
    zh: str,
    en: str,
    severity: Severity = "failure",
    remedy: str = "",
) -> Rule:
    """Each value lies between two bounds, both included; None leaves a side open; empty values are passed over."""
    kwargs = {"min_value": low, "max_value": high}
    return Rule("expect_column_values_to_be_between", column, zh, en, severity, remedy, kwargs)


def share(column: str, highest: float, zh: str, en: str, remedy: str = "") -> Rule:
    """At most this share of a problem column's rows states a problem; a warning."""
    rule = sound(column, zh, en, "warning", remedy)
    return replace(rule, kwargs={"mostly": 1 - highest})


def present(zh: str, en: str, severity: Severity = "failure", remedy: str = "") -> Rule:
    """The table has a row."""
    return Rule("expect_table_row_count_to_be_between", "", zh, en, severity, remedy, {"min_value": 1})


def sound(column: str, zh: str, en: str, severity: Severity = "failure", remedy: str = "") -> Rule:
    """A problem column is empty in every row (our own expectation, see ``engine``)."""
    return Rule("expect_column_values_to_state_no_problem", column, zh, en, severity, remedy)
