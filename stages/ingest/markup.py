"""HTML to lines of text: one line a block, tables kept as tables, scripts and forms left out."""

from __future__ import annotations

import re

from bs4 import BeautifulSoup, Tag
from bs4.element import Comment, NavigableString

_BLOCKS = {
    "address", "article", "aside", "blockquote", "body", "center", "dd", "div", "dl", "dt", "fieldset", "figure",
    "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "li", "main", "nav", "ol", "p", "pre",
    "section", "table", "td", "th", "tr", "ul",
}  # fmt: skip
_SKIPPED = {"script", "style", "noscript", "template", "iframe", "button", "select", "textarea", "svg", "head"}


def parse_html(text: str) -> BeautifulSoup:
    """The page as a tree (lxml's lenient reading)."""
    return BeautifulSoup(text, "lxml")


def meta(soup: BeautifulSoup, name: str) -> str:
    """The content of a ``meta`` element by name, case-blind, or empty."""
    found = soup.find("meta", attrs={"name": re.compile(f"^{re.escape(name)}$", re.IGNORECASE)})
    return str(found.get("content", "")).strip() if isinstance(found, Tag) else ""


def lines_of(element: Tag) -> list[str]:
    """The element's text, one line a block element or ``br``; white space as a browser shows it; no empty lines.

    A table with more than one column gives Markdown rows (``| a | b |``, a rule after the first row); a one-column
    table is layout and gives its text.
    """
    out: list[str] = [""]
    _walk(element, out)
    lines = (re.sub(r"[^\S\n\u3000]+", " ", line).strip(" \u3000") for line in out)
    return [line for line in lines if line]


def text_of(element: Tag | None) -> str:
    """The element's text on one line, or empty where there is no element."""
    return " ".join(lines_of(element)) if element is not None else ""


def _walk(element: Tag, out: list[str]) -> None:
    for child in element.children:
        if isinstance(child, Comment):
            continue
        if isinstance(child, NavigableString):
            out[-1] += re.sub(r"\s+", _one_space, str(child))
        elif isinstance(child, Tag) and child.name not in _SKIPPED:
            if child.name == "br":
                out.append("")
            elif child.name == "table" and (rows := _rows(child)):
                out += [*rows, ""]
            elif child.name in _BLOCKS:
                out.append("")
                _walk(child, out)
                out.append("")
            else:
                _walk(child, out)


def _one_space(match: re.Match[str]) -> str:
    return "\u3000" if "\u3000" in match.group() else " "


def _rows(table: Tag) -> list[str]:
    """Markdown rows of a table of data; empty for a table of layout (nested tables, or one column)."""
    if table.find("table") is not None:
        return []
    grid: list[list[str]] = []
    pending: dict[tuple[int, int], str] = {}  # cells that a rowspan carries down
    for number, row in enumerate(table.find_all("tr")):
        cells: list[str] = []
        for cell in row.find_all(["td", "th"]):
            while (number, len(cells)) in pending:
                cells.append(pending.pop((number, len(cells))))
            text = " ".join(lines_of(cell)).replace("|", "／")
            for down in range(1, _span(cell, "rowspan")):
                pending[(number + down, len(cells))] = text
            cells.append(text)
            cells += [""] * (_span(cell, "colspan") - 1)
        while (number, len(cells)) in pending:
            cells.append(pending.pop((number, len(cells))))
        if any(cells):
            grid.append(cells)
    width = max((len(row) for row in grid), default=0)
    return markdown_rows(grid) if width > 1 and len(grid) > 1 else []


def _span(cell: Tag, name: str) -> int:
    value = str(cell.get(name, "1"))
    return min(int(value), 100) if value.isdigit() and int(value) > 0 else 1


def markdown_rows(grid: list[list[str]]) -> list[str]:
    """The lines of a Markdown table, rows padded to one width."""
    width = max(len(row) for row in grid)
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in grid]
    return [lines[0], "|" + " --- |" * width, *lines[1:]]
