"""The leaderboard as a table model: standings in, columns, rows and cells out. Pure; pages are drawn elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from taxpraben.records.answer import SETTINGS, Setting
from taxpraben.records.score import PROTOCOLS, Protocol
from taxpraben.records.standing import Standing
from taxpraben.tasks.groups import GROUPS, OVERALL
from taxpraben.tasks.spec import TaskSpec

_Place: TypeAlias = tuple[str, str, str, str]
"""Setting, protocol, column key, model."""

SIGNIFICANT = 0.05
"""A model is behind the best one where its corrected p-value is below this."""
SETTING_TITLES: dict[Setting, tuple[str, str]] = {
    "zero-shot": ("零样本", "Zero-shot"),
    "one-shot": ("单样本", "One-shot"),
}
PROTOCOL_TITLES: dict[Protocol, tuple[str, str]] = {
    "strict": ("严格：按要求的格式作答才算", "Strict: the answer as given"),
    "aligned": ("对齐：先解读再评分", "Aligned: the answer as read"),
}


@dataclass(frozen=True)
class Column:
    """A column of the board.

    Attributes:
        key: ``scope/name/metric``, unique on the board.
        level, nlp_type: of the dataset; empty for groups and for datasets outside the catalogue.
    """

    key: str
    scope: str
    name: str
    metric: str
    title_zh: str
    title_en: str
    level: str = ""
    nlp_type: str = ""


@dataclass(frozen=True)
class Shares:
    """Shares of answers, 0 to 1, that were not read, were refused, cut at the limit, or never came."""

    unread: float = 0.0
    refused: float = 0.0
    truncated: float = 0.0
    failed: float = 0.0

    @property
    def text(self) -> str:
        """The four shares as percentages, in the order of the attributes; ``0%`` where none."""
        return " / ".join(percent(share) for share in (self.unread, self.refused, self.truncated, self.failed))

    @property
    def any(self) -> bool:
        """Whether any answer fell out of the normal way."""
        return any((self.unread, self.refused, self.truncated, self.failed))


@dataclass(frozen=True)
class Cell:
    """One cell; without a mean it is a blank with the reason in ``missing``.

    Attributes:
        text: the mean with three decimals, or empty.
        interval: ``low–high`` with three decimals, or empty.
        p_best: p-value of the difference from the column's best model, see ``Standing``.
        shared: whether another model of the same table holds the same rank.
        missing: datasets that a group lacks; empty for a dataset that was never scored.
        items: the items that the mean stands on.
        most_items: those of the model with most of them in this column of this table.
        format_cost: aligned mean minus strict mean, where both are known: what the asked form cost the model.
    """

    mean: float | None = None
    deviation: float | None = None
    low: float | None = None
    high: float | None = None
    rank: int | None = None
    p_best: float | None = None
    shared: bool = False
    items: int = 0
    most_items: int = 0
    runs: int = 0
    text: str = ""
    interval: str = ""
    missing: tuple[str, ...] = ()
    format_cost: float | None = None
    shares: Shares = Shares()
    signature: str = ""

    @property
    def rank_text(self) -> str:
        """The rank, with ``=`` before a shared one; empty without a mean."""
        if self.rank is None:
            return ""
        return f"={self.rank}" if self.shared else str(self.rank)

    @property
    def behind(self) -> bool:
        """Whether the model differs from the column's best one beyond chance."""
        return self.p_best is not None and self.p_best < SIGNIFICANT

    @property
    def p_text(self) -> str:
        """The p-value with three decimals, ``<0.001`` below these; empty for the best and where there is none."""
        if self.p_best is None:
            return ""
        return "<0.001" if self.p_best < 0.001 else f"{self.p_best:.3f}"

    @property
    def items_text(self) -> str:
        """``2/20`` where another model of the table has more items behind its mean; else, or without a mean, empty."""
        return f"{self.items}/{self.most_items}" if self.mean is not None and self.items < self.most_items else ""

    @property
    def cost_text(self) -> str:
        """The format cost with its sign and three decimals, or empty."""
        return "" if self.format_cost is None else f"{self.format_cost:+.3f}"


BLANK = Cell()


@dataclass(frozen=True)
class BoardRow:
    """A model's cells, by column key; a column without a cell is blank.

    Attributes:
        shares: of all its answers of this setting and protocol, each dataset weighted by its answers.
    """

    model: str
    cells: dict[str, Cell]
    shares: Shares

    def cell(self, column: Column) -> Cell:
        """The cell of a column; ``BLANK`` where the model has none."""
        return self.cells.get(column.key, BLANK)


@dataclass(frozen=True)
class BoardTable:
    """One table of the board: rows by overall mean, best first; models without one come last, by name."""

    setting: Setting
    protocol: Protocol
    rows: tuple[BoardRow, ...]

    @property
    def uneven(self) -> bool:
        """Whether some mean stands on fewer items than another of its column."""
        return any(cell.items_text for row in self.rows for cell in row.cells.values())

    @property
    def slug(self) -> str:
        """An identifier for anchors and queries, ``zero-shot-aligned``."""
        return f"{self.setting}-{self.protocol}"


@dataclass(frozen=True)
class Board:
    """All tables of a standings file over one set of columns.

    Attributes:
        settings, protocols: those that occur, in the order of their records.
        groups: the group columns that occur, in the order of ``GROUPS``.
        datasets: dataset columns in catalogue order; datasets outside the catalogue follow by name.
        metrics: one column a dataset and metric, in the datasets' order.
        signatures: for each dataset, the distinct signatures behind its figures, in order of text.
    """

    settings: tuple[Setting, ...]
    protocols: tuple[Protocol, ...]
    groups: tuple[Column, ...]
    datasets: tuple[Column, ...]
    metrics: tuple[Column, ...]
    tables: tuple[BoardTable, ...]
    signatures: dict[str, tuple[str, ...]]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Groups, then datasets: the columns of the main table."""
        return self.groups + self.datasets

    @property
    def uneven(self) -> bool:
        """Whether some mean of some table stands on fewer items than another of its column."""
        return any(table.uneven for table in self.tables)

    def table(self, setting: str, protocol: str) -> BoardTable | None:
        """The table of a setting and protocol, or None."""
        found = [table for table in self.tables if (table.setting, table.protocol) == (setting, protocol)]
        return found[0] if found else None


def percent(share: float) -> str:
    """A share as a percentage without false precision: ``0%``, ``<1%``, ``37%``, ``>99%``, ``100%``."""
    if share <= 0:
        return "0%"
    if share < 0.01:
        return "<1%"
    if 0.99 < share < 1:
        return ">99%"
    return f"{share * 100:.0f}%"


def make_board(standings: Sequence[Standing], tasks: Sequence[TaskSpec]) -> Board:
    """Lay standings out as tables.

    Args:
        standings: rows in any order, of any number of models.
        tasks: the catalogue in table order; gives titles and the order of datasets.

    Returns:
        The board; empty (no tables) without standings. No row is dropped: names outside the catalogue get columns.
    """
    settings = tuple(setting for setting in SETTINGS if any(row.setting == setting for row in standings))
    protocols = tuple(protocol for protocol in PROTOCOLS if any(row.protocol == protocol for row in standings))
    means: dict[_Place, float | None] = {
        (row.setting, row.protocol, _key(row), row.model): row.mean for row in standings
    }
    tables: list[BoardTable] = []
    for setting in settings:
        for protocol in protocols:
            part = [row for row in standings if (row.setting, row.protocol) == (setting, protocol)]
            if part:
                tables.append(BoardTable(setting, protocol, _rows(part, means)))
    return Board(
        settings=settings,
        protocols=protocols,
        groups=_group_columns(standings),
        datasets=_dataset_columns(standings, tasks),
        metrics=_metric_columns(standings, tasks),
        tables=tuple(tables),
        signatures=_signatures(standings),
    )


def _key(row: Standing) -> str:
    return f"{row.scope}/{row.name}/{row.metric}"


def _group_columns(standings: Sequence[Standing]) -> tuple[Column, ...]:
    found = {row.name for row in standings if row.scope == "group"}
    titles = {name: GROUPS[name] for name in GROUPS if name in found}
    titles |= {name: (name, name) for name in sorted(found - GROUPS.keys())}
    return tuple(Column(f"group/{name}/S", "group", name, "S", zh, en) for name, (zh, en) in titles.items())


def _ordered(names: Iterable[str], tasks: Sequence[TaskSpec]) -> list[str]:
    place = {task.name: number for number, task in enumerate(tasks)}
    return sorted(set(names), key=lambda name: (place.get(name, len(place)), name))


def _dataset_columns(standings: Sequence[Standing], tasks: Sequence[TaskSpec]) -> tuple[Column, ...]:
    specs = {task.name: task for task in tasks}
    columns: list[Column] = []
    for name in _ordered((row.name for row in standings if row.scope == "dataset"), tasks):
        spec = specs.get(name)
        zh, en = (spec.title.zh, spec.title.en) if spec else (name, name)
        level, nlp_type = (spec.level, spec.nlp_type) if spec else ("", "")
        columns.append(Column(f"dataset/{name}/S", "dataset", name, "S", zh, en, level, nlp_type))
    return tuple(columns)


def _metric_columns(standings: Sequence[Standing], tasks: Sequence[TaskSpec]) -> tuple[Column, ...]:
    specs = {task.name: task for task in tasks}
    rows = [row for row in standings if row.scope == "metric"]
    columns: list[Column] = []
    for name in _ordered((row.name for row in rows), tasks):
        found = {row.metric for row in rows if row.name == name}
        asked = [metric for metric in (specs[name].metric_names if name in specs else []) if metric in found]
        spec = specs.get(name)
        zh, en = (spec.title.zh, spec.title.en) if spec else (name, name)
        for metric in asked + sorted(found - set(asked)):
            columns.append(
                Column(f"metric/{name}/{metric}", "metric", name, metric, f"{zh} {metric}", f"{en} {metric}")
            )
    return tuple(columns)


def _rows(part: Sequence[Standing], means: Mapping[_Place, float | None]) -> tuple[BoardRow, ...]:
    holders: dict[tuple[str, int], int] = {}
    most: dict[str, int] = {}
    for row in part:
        if row.mean is not None:
            most[_key(row)] = max(most.get(_key(row), 0), row.items)
        if row.rank is not None:
            holders[_key(row), row.rank] = holders.get((_key(row), row.rank), 0) + 1
    cells: dict[str, dict[str, Cell]] = {}
    for row in part:
        strict = means.get((row.setting, "strict", _key(row), row.model))
        aligned = means.get((row.setting, "aligned", _key(row), row.model))
        cost = None if strict is None or aligned is None else aligned - strict
        shared = row.rank is not None and holders[_key(row), row.rank] > 1
        cells.setdefault(row.model, {})[_key(row)] = _cell(row, shared, cost, most.get(_key(row), 0))
    rows = [
        BoardRow(model, by_key, _shares([row for row in part if row.model == model])) for model, by_key in cells.items()
    ]
    return tuple(sorted(rows, key=_order))


def _cell(row: Standing, shared: bool, cost: float | None, most_items: int) -> Cell:
    known = row.mean is not None
    bounds = row.low is not None and row.high is not None
    return Cell(
        mean=row.mean,
        deviation=row.deviation,
        low=row.low,
        high=row.high,
        rank=row.rank,
        p_best=row.p_best,
        shared=shared,
        items=row.items,
        most_items=most_items,
        runs=row.runs,
        text=f"{row.mean:.3f}" if known else "",
        interval=f"{row.low:.3f}–{row.high:.3f}" if known and bounds else "",
        missing=tuple(row.missing),
        format_cost=cost,
        shares=Shares(row.unread, row.refused, row.truncated, row.failed),
        signature=row.signature,
    )


def _shares(rows: Sequence[Standing]) -> Shares:
    """Weighted by answers (items times runs) over the datasets, so that a missing dataset does not count."""
    datasets = [(max(row.items * row.runs, row.items), row) for row in rows if row.scope == "dataset"]
    total = sum(weight for weight, _ in datasets)
    if not total:
        return Shares()
    return Shares(
        unread=sum(weight * row.unread for weight, row in datasets) / total,
        refused=sum(weight * row.refused for weight, row in datasets) / total,
        truncated=sum(weight * row.truncated for weight, row in datasets) / total,
        failed=sum(weight * row.failed for weight, row in datasets) / total,
    )


def _order(row: BoardRow) -> tuple[int, float, str]:
    overall = row.cells.get(f"group/{OVERALL}/S", BLANK)
    if overall.mean is None:
        return (1, 0.0, row.model)
    return (0, -overall.mean, row.model)


def _signatures(standings: Sequence[Standing]) -> dict[str, tuple[str, ...]]:
    found: dict[str, set[str]] = {}
    for row in standings:
        if row.scope != "group" and row.signature:
            found.setdefault(row.name, set()).update(row.signature.split(" "))
    return {name: tuple(sorted(found[name])) for name in sorted(found)}
