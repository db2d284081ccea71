"""Fixtures of the publish room."""

from pathlib import Path

import pytest
import yaml
from published_world import EVIL, MODELS, small_release, standings

from taxpraben.records.base import write_jsonl, write_records
from taxpraben.records.check import BorderReport, CheckedExpectation, CheckedSuite, FailingRow, write_report
from taxpraben.records.item import Item
from taxpraben.records.standing import Standing
from taxpraben.workspace import Workspace, open_workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A workspace with a release of twelve items, standings of five models, and one report with a warning."""
    params = {"profile": "p", "defaults": {}, "profiles": {"p": {}}}
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(params))
    made = open_workspace(tmp_path)
    for name, items in small_release().items():
        write_records(made.benchmark / "0.1.0" / f"{name}.parquet", Item, items)
        write_jsonl(made.benchmark / "0.1.0" / f"{name}.jsonl", items)
    write_records(made.standings, Standing, standings({**MODELS, EVIL: 0.05}, without="TaxPlan"))
    found = CheckedExpectation(
        expectation="expect_column_values_to_be_between", column="text_length", zh="题面 35 至 328 字", en="length",
        severity="warning", success=False, checked=3, unexpected=1, observed="1 of 3 (33.3 %) not as expected",
        failing=[FailingRow(row="TaxSCQ-1", value=EVIL)],
    )  # fmt: skip
    suite = CheckedSuite(suite="items", part="TaxSCQ", file="data/p/x.parquet", rows=3, expectations=[found])
    write_report(made.checks / "build.json", BorderReport(border="build", suites=[suite]))
    return made
