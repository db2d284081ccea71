"""documents.parquet -> drafts/TASK.parquet, for every task of the catalogue."""

from __future__ import annotations

import asyncio
from collections import Counter

from stages.console import run_stage, say
from stages.draft.drafting import Drafted, draft_all
from stages.draft.params import DraftParams
from stages.draft.slots import Slot, draw_slots, find_slots
from taxpraben.backends.asking import Asker, Manners
from taxpraben.backends.journal import Journal, read_replies
from taxpraben.backends.opening import open_backend
from taxpraben.backends.pace import Pace
from taxpraben.backends.protocol import Reply
from taxpraben.backends.roster import load_roster
from taxpraben.records.base import read_records, write_records
from taxpraben.records.document import Document
from taxpraben.records.draft import Draft
from taxpraben.tasks.catalog import find_task, load_catalog
from taxpraben.workspace import Workspace, open_workspace


def main() -> None:
    """Draft what the documents of the workspace give."""
    workspace = open_workspace()
    params = workspace.section("draft", DraftParams)
    for name in params.limits:
        find_task(name)
    documents = read_records(workspace.documents, Document)
    slots: list[Slot] = []
    beyond: dict[str, int] = {}
    for name, spec in load_catalog().items():
        found = find_slots(spec, documents)
        drawn = draw_slots(found, params.limits.get(name, params.items_per_task), params.seed)
        beyond[name] = len(found) - len(drawn)
        slots += drawn
    drafter = open_backend(load_roster(workspace.root), params.drafter)
    manners = Manners(
        concurrency=params.concurrency,
        attempts=params.attempts,
        requests_a_minute=params.requests_a_minute,
        breaker=params.breaker,
    )
    with Journal(workspace.journals / "draft.jsonl") as journal:
        if journal.healed or journal.broken:
            say(f"{journal.path}: mended, {journal.healed} bytes cut and {journal.broken} lines left out; asked again")
        asker = Asker(drafter, journal, manners, shipped=_shipped(workspace, params), seed=params.seed)
        drafted = asyncio.run(_draft(slots, params, asker, workspace))
    for name in load_catalog():
        rows = drafted.drafts.get(name, [])
        write_records(workspace.drafts / f"{name}.parquet", Draft, rows)
        say(_line(name, rows, drafted, beyond[name]))
    say(
        f"drafter {params.drafter}: {asker.asked} replies asked now, {asker.kept} from the journal, "
        f"{asker.shipped} shipped with the sources ({params.shipped or 'none'})"
    )


def _shipped(workspace: Workspace, params: DraftParams) -> dict[str, Reply]:
    if not params.shipped or workspace.asking:
        return {}
    path = workspace.root / params.shipped
    replies, broken = read_replies(path)
    if broken:
        say(f"{path}: {broken} lines cannot be read and are left out")
    return replies


async def _draft(slots: list[Slot], params: DraftParams, asker: Asker, workspace: Workspace) -> Drafted:
    pace = Pace("drafts", len(slots), asker, say, workspace.journals / "draft.status.json")
    state = "stopped"
    try:
        async with asker:
            drafted = await draft_all(slots, params, asker, pace.step)
        state = "done"
    finally:
        pace.report(state)
    return drafted


def _line(name: str, rows: list[Draft], drafted: Drafted, beyond: int) -> str:
    counts = Counter(f"{row.status} ({row.method})" if row.status == "drafted" else row.status for row in rows)
    parts = [f"{count} {words}" for words, count in sorted(counts.items())]
    parts += [
        f"{count} without {variable}" for (task, variable), count in sorted(drafted.empty.items()) if task == name
    ]
    if beyond:
        parts.append(f"{beyond} beyond the limit")
    return f"{name}: {', '.join(parts) or 'nothing to draft from'}"


if __name__ == "__main__":
    run_stage(main)
