"""`taxpraben masking`: what was masked, for people to check; and the way back, for whoever holds the key."""

from __future__ import annotations

import os
import random
import re
from collections import Counter, defaultdict
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stages.ingest.sealing import KEY, SealError, new_key, reveal
from taxpraben.records.base import read_records
from taxpraben.records.document import Document
from taxpraben.workspace import open_workspace

app = typer.Typer(no_args_is_help=True, help="Personal data: what was masked, and the way back with the key.")

# What masking leaves in a text, by kind; pseudonyms of people and companies are found by their kind's form.
_TOKENS = re.compile(
    r"\[(?:邮箱|身份证号|信用代码|银行卡号|电话|车牌号|用户|地址)\]|[A-Z某]公司|[甲乙丙丁戊己庚辛壬癸]\d*(?![\u4e00-\u9fff]?方)"
)
_AROUND = 14


@app.command()
def report(
    sample: Annotated[int, typer.Option(help="Places shown for people to check.")] = 20,
    seed: Annotated[int, typer.Option(help="Draws the sample.")] = 1,
) -> None:
    """Counts by kind of document and of datum, and a drawn sample of masked places."""
    documents = read_records(open_workspace().documents, Document)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    places: list[tuple[str, str, str]] = []
    for document in documents:
        found = {kind: count for kind, count in document.masked.items() if isinstance(count, int)}
        counts[document.kind].update(found)
        for match in _TOKENS.finditer(document.text) if found else ():
            around = document.text[max(0, match.start() - _AROUND) : match.end() + _AROUND].replace("\n", " ")
            places.append((document.document_id, document.origin, around))
    kinds = sorted({kind for by_kind in counts.values() for kind in by_kind})
    table = Table("documents", *kinds, title=f"Masked in {len(documents)} documents")
    for name in sorted(counts):
        table.add_row(name, *(str(counts[name][kind] or "") for kind in kinds))
    console = Console()
    console.print(table)
    drawn = random.Random(seed).sample(places, min(sample, len(places)))  # noqa: S311 (a sample, not a secret)
    listed = Table("document", "origin", "text around", title=f"{len(drawn)} of {len(places)} places, seed {seed}")
    for row in sorted(drawn):
        listed.add_row(*(escape(cell) for cell in row))
    console.print(listed)


@app.command("key")
def make_key() -> None:
    """Print a new key. Export it before ingest, and keep it outside the repository: nothing of ours stores it."""
    typer.echo(new_key())


@app.command("reveal")
def undo(document_id: Annotated[str, typer.Argument(help="A document's id, as `masking report` shows it.")]) -> None:
    """Print a document as it was before masking; needs the key that ingest ran with."""
    workspace = open_workspace()
    key = os.environ.get(KEY)
    if not key:
        raise SealError(f"{KEY} is not set; it holds the key that ingest ran with")
    documents = {document.document_id: document for document in read_records(workspace.documents, Document)}
    if document_id not in documents:
        raise SealError(f"{workspace.documents} has no document {document_id!r}; `taxpraben masking report` shows ids")
    typer.echo(reveal(workspace.pseudonyms, documents[document_id], key))
