"""The site's pages: the board and the data quality page. Pure: records in, HTML out; equal input, equal bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stages.publish.templates import asset, fingerprint, render
from taxpraben.board import PROTOCOL_TITLES, SETTING_TITLES, Board, percent
from taxpraben.records.check import Border, BorderReport
from taxpraben.records.standing import Standing
from taxpraben.tasks.spec import TaskSpec

BORDER_TITLES: dict[Border, tuple[str, str]] = {
    "ingest": ("文档", "Documents"),
    "draft": ("草稿", "Drafts"),
    "build": ("裁定与题目", "Decisions and items"),
    "rank": ("回答、解读、得分与名次", "Answers, readings, scores, standings"),
}


@dataclass(frozen=True)
class About:
    """What every page says of itself.

    Attributes:
        counts: items of the release by task name.
        foreign: metrics that ran with other models than the paper's, with their signatures.
    """

    title_zh: str
    title_en: str
    release: str
    profile: str
    tasks: Sequence[TaskSpec]
    counts: Mapping[str, int]
    foreign: Sequence[tuple[str, str]] = ()

    @property
    def total(self) -> int:
        """Items of the release."""
        return sum(self.counts.values())

    @property
    def smaller(self) -> bool:
        """Whether a task has fewer items than in the paper."""
        return any(self.counts.get(spec.name, 0) < spec.size for spec in self.tasks)


def foreign_metrics(
    standings: Sequence[Standing], tasks: Sequence[TaskSpec], paper_models: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Metrics that are not the paper's: with another model, or standing in for one that its task names.

    Args:
        standings: rows of scope ``metric`` are looked at.
        tasks: the catalogue; a task's own metrics are the paper's.
        paper_models: the model that the paper's metric runs with, by metric.

    Returns:
        Metric name and signature, in order, each once.
    """
    own = {spec.name: spec.metric_names for spec in tasks}
    found: set[tuple[str, str]] = set()
    for row in standings:
        metric = row.metric.partition(":")[0]  # a group of fields is named after its metric, metric:field+field
        stands_in = metric not in own.get(row.name, [metric])
        if row.scope == "metric" and row.signature and (stands_in or paper_models.get(metric, "") not in row.signature):
            found.add((metric, row.signature))
    return sorted(found)


def board_page(board: Board, about: About) -> str:
    """The leaderboard: a table a setting and protocol, sorted in the page, readable without a network."""
    return _page(
        "board.html",
        about=about,
        board=board,
        setting_titles=SETTING_TITLES,
        protocol_titles=PROTOCOL_TITLES,
        percent=percent,
        models=len({row.model for table in board.tables for row in table.rows}),
    )


def quality_page(reports: Sequence[BorderReport], about: About) -> str:
    """What was checked at each border, and every expectation that does not hold."""
    return _page("quality.html", about=about, reports=reports, titles=BORDER_TITLES)


def _page(template: str, **values: object) -> str:
    style, script = asset("site.css"), asset("site.js")
    policy = (
        f"default-src 'none'; style-src {fingerprint(style)}; script-src {fingerprint(script)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return render(template, style=style, script=script, policy=policy, **values)
