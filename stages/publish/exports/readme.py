"""The page that stands beside the exports: what is in them and how to use them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stages.publish.templates import render
from taxpraben.records.item import Item
from taxpraben.tasks.spec import TaskSpec


def readme(items: Mapping[str, Sequence[Item]], tasks: Sequence[TaskSpec], release: str) -> str:
    """The page in Markdown, with the count of items of each task that has some."""
    rows = [{"task": spec, "count": len(items[spec.name])} for spec in tasks if items.get(spec.name)]
    return render("exports.md", release=release, rows=rows)
