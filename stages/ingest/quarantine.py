"""What was set aside: grouped by cause, and opened again so that the next run tries it anew."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from stages.ingest.crawl.page_cache import forget
from stages.ingest.params import IngestParams
from stages.ingest.parsers import SITE
from stages.ingest.stage import crawl_cache
from taxpraben.records.document import Quarantined

# What makes one cause read differently from row to row.
_PARTICULARS = (
    (re.compile(r"; linked from .*$", re.DOTALL), ""),
    (re.compile(r"https?://\S+|//\S+"), "…"),
    (re.compile(r"(?<=: ).*(?= -> ).*$", re.DOTALL), "…"),
    (re.compile(r"[\w./$?=&#-]+\.(?:html?|pdf|docx?|csv|md|txt|jsonl?)\S*"), "…"),
    (re.compile(r"“[^”]*”|《[^》]*》|'[^']*'"), "…"),
    (re.compile(r"(?<!answered )(?<!\d)\d+"), "N"),
)


@dataclass(frozen=True)
class CauseGroup:
    """Rows of one source with one cause, its particulars (pages, numbers) left out."""

    source: str
    cause: str
    rows: list[Quarantined]


def kind_of_cause(cause: str) -> str:
    """The cause without what differs from row to row: ``the page answered 404; linked from a.html`` loses its page."""
    for pattern, instead in _PARTICULARS:
        cause = pattern.sub(instead, cause)
    return cause.strip()


def by_cause(rows: Iterable[Quarantined]) -> list[CauseGroup]:
    """Groups by source and cause, the largest first."""
    groups: dict[tuple[str, str], list[Quarantined]] = defaultdict(list)
    for row in rows:
        groups[row.source, kind_of_cause(row.cause)].append(row)
    made = [CauseGroup(source, cause, found) for (source, cause), found in groups.items()]
    return sorted(made, key=lambda group: (-len(group.rows), group.source, group.cause))


def chosen(rows: Iterable[Quarantined], source: str = "", cause: str = "") -> list[Quarantined]:
    """Rows of a source whose cause holds the words, whatever their case; empty chooses all."""
    return [
        row
        for row in rows
        if (not source or row.source == source)
        and (cause.lower() in row.cause.lower() or cause.lower() in kind_of_cause(row.cause).lower())
    ]


def open_again(rows: Sequence[Quarantined], params: IngestParams, cache: Path) -> int:
    """Forget the kept answers of these rows' pages: the next run asks for them, and for nothing else of their sites.

    Files, and sites kept in a folder, are read anew by every run; nothing is kept of them.

    Returns:
        How many answers were forgotten.
    """
    forgotten = 0
    for source in params.sources:
        if source.parser != SITE or not source.url:
            continue
        mine = [row for row in rows if row.source == source.name]
        if mine:
            # A document's mark stands behind the page's own address: export?page=2#p17.
            origins = {form for row in mine for form in (row.origin, row.origin.rpartition("#")[0]) if form}
            forgotten += forget(crawl_cache(cache, source.name), sorted(origins))
    return forgotten
