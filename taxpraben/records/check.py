"""What a checked border says about its rows: JSON for people and pages; not a Parquet record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from taxpraben.records.base import Part, RecordFileError

Border = Literal["ingest", "draft", "build", "rank"]
BORDERS: tuple[Border, ...] = ("ingest", "draft", "build", "rank")
Severity = Literal["failure", "warning"]


class FailingRow(Part):
    """A row that breaks an expectation: its id, and the value or problem found there (cut to a readable length)."""

    row: str
    value: str


class CheckedExpectation(Part):
    """One expectation on one column, and what was observed.

    Attributes:
        expectation: its type, as Great Expectations names it.
        column: the column it looks at; empty for the whole table.
        zh, en: what must hold, in words.
        success: whether it holds; an expectation of severity ``warning`` that does not hold stops nothing.
        checked, unexpected: how many values were looked at, and how many were not as expected.
        observed: what was seen, in short.
        failing: the first failing rows, in file order; ``unexpected`` counts them all.
        remedy: what to do when it does not hold.
    """

    expectation: str
    column: str
    zh: str
    en: str
    severity: Severity
    success: bool
    checked: int
    unexpected: int
    observed: str
    failing: list[FailingRow] = []
    remedy: str = ""


class CheckedSuite(Part):
    """One suite on one file.

    Attributes:
        suite: the record's word (``items``); ``part`` says which task's or model's rows (``TaxSCQ``), or is empty.
        file: the file, relative to the workspace.
        rows: number of rows in it.
    """

    suite: str
    part: str
    file: str
    rows: int
    expectations: list[CheckedExpectation]

    @property
    def name(self) -> str:
        """``items TaxSCQ``, or ``documents``."""
        return f"{self.suite} {self.part}".strip()

    def broken(self, severity: Severity) -> list[CheckedExpectation]:
        """The expectations of this severity that do not hold, in order."""
        return [found for found in self.expectations if not found.success and found.severity == severity]


class BorderReport(Part):
    """Everything checked at one border, suites in order; no times and no absolute paths: equal rows, equal bytes."""

    border: Border
    suites: list[CheckedSuite]

    @property
    def failures(self) -> int:
        """How many expectations of severity ``failure`` do not hold; the border is open where it is 0."""
        return sum(len(suite.broken("failure")) for suite in self.suites)

    @property
    def warnings(self) -> int:
        """How many expectations of severity ``warning`` do not hold."""
        return sum(len(suite.broken("warning")) for suite in self.suites)

    @property
    def expectations(self) -> int:
        """How many expectations were checked."""
        return sum(len(suite.expectations) for suite in self.suites)


def write_report(path: Path, report: BorderReport) -> None:
    """Write a report as JSON; the file appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    counts = {"failures": report.failures, "warnings": report.warnings, "expectations": report.expectations}
    text = json.dumps({**report.model_dump(mode="json"), "counts": counts}, ensure_ascii=False, indent=1)
    partial.write_text(text + "\n", encoding="utf-8")
    partial.replace(path)


def read_report(path: Path) -> BorderReport:
    """Read a report.

    Raises:
        RecordFileError: the file is missing or no report.
    """
    if not path.exists():
        raise RecordFileError(f"{path}: no such file; run `dvc repro check_{path.stem}` first")
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        raw.pop("counts", None)
        return BorderReport.model_validate(raw)
    except (json.JSONDecodeError, AttributeError, ValidationError) as error:
        raise RecordFileError(f"{path}: not a check report; run `dvc repro check_{path.stem}` again") from error
