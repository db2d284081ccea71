"""Values that a page names itself: ``答复单位：…`` in a line, ``| 答复单位 | … |`` in a table, or on the next lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence


def labelled_values(lines: Iterable[str], labels: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The values of the labels that the lines hold.

    Args:
        lines: of a page, tables as Markdown rows.
        labels: by name of ours, how pages call it.

    Returns:
        By name of ours; a value runs on over lines until the next label. The first of two wins.
    """
    called = {label: name for name, ways in labels.items() for label in ways}
    ways = "|".join(sorted(map(re.escape, called), key=len, reverse=True))
    opens = re.compile(rf"[【\[]?\s*({ways})\s*[】\]]?\s*(?:[:：]\s*(.*)|$)", re.DOTALL)
    found: dict[str, list[str]] = {}
    current: list[str] | None = None
    for piece in _pieces(lines, set(called)):
        match = opens.match(piece)
        if match is None:
            if current is not None:
                current.append(piece)
            continue
        value = [match.group(2)] if match.group(2) else []
        current = value
        found.setdefault(called[match.group(1)], value)
    return {name: "\n".join(value).strip() for name, value in found.items() if "".join(value).strip()}


def _pieces(lines: Iterable[str], labels: set[str]) -> Iterable[str]:
    """Lines as they are; cells of a table row that opens with a label as ``label：value``."""
    for line in lines:
        cells = [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else []
        if not any(cell.strip("：: ") in labels for cell in cells):
            if not re.fullmatch(r"[|\s-]+", line):
                yield line
            continue
        for name, value in zip(cells[::2], cells[1::2], strict=False):
            if name.strip("：: "):
                yield f"{name.strip('：: ')}：{value}"
