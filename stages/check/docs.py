"""Data Docs that are readable without a network: pages over Great Expectations' results.

Great Expectations' own pages load fourteen assets and a logo from elsewhere and do not escape observed values. These
pages show the same results, refer to nothing outside their folder, and escape everything; the results as the library
gives them lie beside them in ``results/``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from taxpraben.records.check import BORDERS, Border, BorderReport, read_report

TITLES: dict[Border, tuple[str, str]] = {
    "ingest": ("采集之后：文档", "after ingest: documents"),
    "draft": ("起草之后：草稿", "after draft: drafts"),
    "build": ("成卷之后：裁定与题目", "after build: decisions and items"),
    "rank": ("排名之后：回答、解读、得分与名次", "after rank: answers, readings, scores, standings"),
}


def write_docs(folder: Path, checks: Path, border: Border, results: Sequence[dict[str, Any]]) -> Path:
    """Write the border's page, its raw results, and the index over all borders checked so far.

    Args:
        folder: the Data Docs' folder; pages of other borders in it stay.
        checks: the folder of BORDER.json reports.
        border: the border just checked; its report is in ``checks``.
        results: Great Expectations' results of its suites, as JSON objects.

    Returns:
        The index page.
    """
    raw = folder / "results" / border
    raw.mkdir(parents=True, exist_ok=True)
    for old in raw.glob("*.json"):
        old.unlink()
    for result in results:
        name = re.sub(r"[^\w.-]+", "-", str(result["suite_name"]))
        text = json.dumps(result, ensure_ascii=False, indent=1, default=str)
        (raw / f"{name}.json").write_text(text, encoding="utf-8")
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    reports = [read_report(path) for name in BORDERS if (path := checks / f"{name}.json").exists()]
    report = next(found for found in reports if found.border == border)
    _write(folder / f"{border}.html", "border.html", report=report, title=TITLES[border], made=now)
    index = folder / "index.html"
    _write(index, "index.html", borders=[_row(found) for found in reports], made=now)
    return index


def _row(report: BorderReport) -> dict[str, object]:
    return {"report": report, "title": TITLES[report.border], "rows": sum(suite.rows for suite in report.suites)}


def _write(path: Path, template: str, **values: object) -> None:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    pages = Environment(
        loader=PackageLoader("stages.check"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    path.write_text(pages.get_template(template).render(**values), encoding="utf-8")
