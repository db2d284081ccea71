"""Rows at a border -> checks/BORDER.json and Data Docs; a broken expectation of severity failure stops what follows."""

from __future__ import annotations

import argparse
from pathlib import Path

from stages.check.borders import loads
from stages.check.docs import write_docs
from stages.check.engine import Validated, validate
from stages.check.params import CheckParams
from stages.console import run_stage, say
from taxpraben.backends.roster import load_roster
from taxpraben.records.check import BORDERS, Border, BorderReport, CheckedExpectation, CheckedSuite, write_report
from taxpraben.workspace import open_workspace

_NAMED_ROWS = 3


class BorderClosedError(ValueError):
    """A border that its rows may not pass; the message names how much is broken and where to read it."""


def main() -> None:
    """Check one border of the workspace."""
    parser = argparse.ArgumentParser(prog="python -m stages.check", description="check the rows at a stage's border")
    parser.add_argument("--border", required=True, choices=BORDERS, help="the stage whose output is checked")
    border: Border = parser.parse_args().border
    workspace = open_workspace()
    params = workspace.section("check", CheckParams)
    models = _models(workspace.root) if border == "rank" else {}
    validated: list[Validated] = []
    for load in loads(border, workspace, models):
        file = load.file.relative_to(workspace.root).as_posix()
        validated.append(validate(load.suite, load.rows, file, params.failing_rows))
        say(_line(validated[-1].checked))
    report = BorderReport(border=border, suites=[found.checked for found in validated])
    write_report(workspace.checks / f"{border}.json", report)
    index = write_docs(workspace.out / "data_docs", workspace.checks, border, [found.result for found in validated])
    say(
        f"border {border}: {report.expectations} expectations, {report.failures} failed, {report.warnings} warnings; "
        f"Data Docs: {index}"
    )
    if report.failures:
        for suite in report.suites:
            for broken in suite.broken("failure"):
                say(sentence(suite, broken))
        raise BorderClosedError(
            f"{report.failures} expectations at border {border} failed, so what follows does not run; read {index}, "
            f"mend the rows named above, then `dvc repro`"
        )


def sentence(suite: CheckedSuite, broken: CheckedExpectation) -> str:
    """One line on a broken expectation: the file, what does not hold, the first rows, the remedy."""
    rows = "; ".join(f"{row.row}: {row.value}" for row in broken.failing[:_NAMED_ROWS])
    more = broken.unexpected - min(len(broken.failing), _NAMED_ROWS)
    listed = f" ({rows}{f'; and {more} more' if rows and more > 0 else ''})" if rows else ""
    return f"{suite.file}: not so: {broken.en}: {broken.observed}{listed}. Remedy: {broken.remedy}."


def _models(root: Path) -> dict[str, str]:
    roster = load_roster(root)
    return {name: roster.find(name).group for name in roster.chosen}


def _line(suite: CheckedSuite) -> str:
    failed, warned = suite.broken("failure"), suite.broken("warning")
    notes = [f"FAILED {found.column or 'rows'} ({found.unexpected})" for found in failed]
    notes += [f"warning {found.column or 'rows'} ({found.observed})" for found in warned]
    return f"{suite.name}: {suite.rows} rows, {len(suite.expectations)} expectations; {', '.join(notes) or 'all hold'}"


if __name__ == "__main__":
    run_stage(main)
