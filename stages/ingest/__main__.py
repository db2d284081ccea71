"""python -m stages.ingest: sources -> documents.parquet, quarantined.parquet."""

from __future__ import annotations

import os
from collections import Counter

from stages.console import run_stage, say
from stages.ingest.page_images import write_pages
from stages.ingest.params import IngestParams
from stages.ingest.sealing import KEY, write_sealed
from stages.ingest.stage import finish_crawls, ingest
from taxpraben.records.base import write_records
from taxpraben.records.document import Document, Quarantined
from taxpraben.workspace import open_workspace


def main() -> None:
    """Read the sources of the profile in force and write its documents."""
    workspace = open_workspace()
    params = workspace.section("ingest", IngestParams)
    if not params.sources:
        say(f"No sources in params.yaml (ingest.sources, profile {workspace.profile!r}); nothing to read.")
    harvest = ingest(params, workspace.sources, workspace.out / "cache", say)
    write_records(workspace.documents, Document, harvest.documents)
    write_records(workspace.quarantined, Quarantined, harvest.quarantined)
    pictures = write_pages(workspace.pages, harvest.pages, workspace.sources)
    finish_crawls(params, workspace.out / "cache")
    for kind, count in sorted(Counter(document.kind for document in harvest.documents).items()):
        parts = sum(len(document.parts) for document in harvest.documents if document.kind == kind)
        say(f"  {kind}: {count} documents, {parts} parts")
    for note, count in sorted(harvest.notes.items()):
        if count:
            say(f"  {note}: {count}")
    if pictures:
        say(f"  pictures of pages for review: {pictures} -> {workspace.pages}")
    masked: Counter[str] = Counter()
    for document in harvest.documents:
        masked.update({name: found for name, found in document.masked.items() if isinstance(found, int)})
    if masked:
        say("  masked: " + ", ".join(f"{kind} {count}" for kind, count in sorted(masked.items())))
    if key := os.environ.get(KEY):
        sealed = write_sealed(workspace.pseudonyms, harvest.documents, harvest.taken, key)
        say(f"  sealed with the key of {KEY}: what was masked in {sealed} documents -> {workspace.pseudonyms}")
    say(
        f"{len(harvest.documents)} documents -> {workspace.documents}; "
        f"{len(harvest.quarantined)} set aside, each with its cause -> {workspace.quarantined}"
    )


if __name__ == "__main__":
    run_stage(main)
