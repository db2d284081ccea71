"""Standings as text: what a person reads on the terminal."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence

from stages.rank.standings import format_costs
from taxpraben.records.answer import SETTINGS, Setting
from taxpraben.records.score import PROTOCOLS
from taxpraben.records.standing import Standing
from taxpraben.tasks.groups import GROUPS, OVERALL


def standings_text(standings: Sequence[Standing], tasks: Sequence[str]) -> str:
    """Groups and datasets for each setting and protocol, what format cost, and what made the figures.

    A cell is the mean and, behind #, the rank; models that the bootstrap cannot tell apart share one. Where models have
    other numbers of items behind a dataset's mean, a cell says how many of the most: ``0.500 #1 (2/20)``. Intervals,
    deviations and metrics stand in standings.jsonl.
    """
    blocks: list[str] = []
    for setting in SETTINGS:
        for protocol in PROTOCOLS:
            rows = [row for row in standings if row.setting == setting and row.protocol == protocol]
            if rows:
                blocks += [
                    _groups(f"{setting}, {protocol}", [row for row in rows if row.scope == "group"]),
                    _datasets(f"{setting}, {protocol}", [row for row in rows if row.scope == "dataset"], tasks),
                ]
        blocks.extend(_costs(standings, setting, tasks))
    signatures = sorted({part for row in standings for part in row.signature.split(" ") if part})
    blocks.append("\n".join(["Made with", *(f"  {signature}" for signature in signatures)]))
    return "\n\n".join(blocks) + "\n"


def _groups(title: str, rows: Sequence[Standing]) -> str:
    names = [name for name in GROUPS if any(row.name == name for row in rows)]
    by_key = {(row.model, row.name): row for row in rows}
    overall = {row.model: row for row in rows if row.name == OVERALL}
    models = sorted(overall, key=lambda model: (overall[model].mean is None, -(overall[model].mean or 0.0), model))
    lines = [["model", "items", *names, "95%", "unread", "refused", "truncated", "failed"]]
    for model in models:
        row = overall[model]
        span = f"[{row.low:.3f}, {row.high:.3f}]" if row.low is not None and row.high is not None else ""
        shares = [f"{share:.0%}" for share in (row.unread, row.refused, row.truncated, row.failed)]
        lines.append([model, str(row.items), *(_cell(by_key.get((model, name))) for name in names), span, *shares])
    notes = [f"  {model}: no {', '.join(overall[model].missing)}" for model in models if overall[model].missing]
    return "\n".join(
        [f"Groups, {title}", *table(lines), *(["Blank where a dataset is missing:", *notes] if notes else [])]
    )


def _datasets(title: str, rows: Sequence[Standing], tasks: Sequence[str]) -> str:
    models = list(dict.fromkeys(row.model for row in rows))
    by_key = {(row.name, row.model): row for row in rows}
    lines = [["dataset", "items", *models]]
    uneven = False
    for name in tasks:
        own = [row for row in rows if row.name == name]
        if own:
            items = max(row.items for row in own)
            uneven |= any(row.items < items for row in own)
            lines.append([name, str(items), *(_cell(by_key.get((name, model)), items) for model in models)])
    note = ["(2/20): 2 of 20 items; ranks compare two models over the items that both answered."] if uneven else []
    return "\n".join([f"Datasets, {title}", *table(lines), *note])


def _costs(standings: Sequence[Standing], setting: Setting, tasks: Sequence[str]) -> Iterator[str]:
    costs = {(name, model): cost for (name, of, model), cost in format_costs(standings).items() if of == setting}
    models = list(dict.fromkeys(model for _, model in costs))
    if not models:
        return
    lines = [["dataset", *models]]
    for name in (*tasks, "overall"):
        cells = [f"{costs[name, model]:+.3f}" if (name, model) in costs else "-" for model in models]
        if any(cell != "-" for cell in cells):
            lines.append([name, *cells])
    yield "\n".join([f"What format cost, {setting} (aligned minus strict)", *table(lines)])


def _cell(row: Standing | None, most_items: int = 0) -> str:
    if row is None or row.mean is None:
        return "-"
    return f"{row.mean:.3f} #{row.rank}" + (f" ({row.items}/{most_items})" if row.items < most_items else "")


def table(lines: Sequence[Sequence[str]]) -> list[str]:
    """Lines of cells as aligned text; Chinese characters take two places."""
    widths = [max(_width(line[place]) for line in lines) for place in range(len(lines[0]))]
    return [
        "  ".join(text + " " * (width - _width(text)) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
