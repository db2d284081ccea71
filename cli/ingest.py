"""`taxpraben sources`: which sources and adapters there are, what could not be taken and why, and trying it again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from stages.ingest.params import IngestParams
from taxpraben.records.base import read_records
from taxpraben.records.document import Document, Quarantined
from taxpraben.workspace import Workspace, open_workspace

app = typer.Typer(no_args_is_help=True, help="Sources of ingest: adapters, what was set aside, trying it again.")


@app.command("list")
def list_sources() -> None:
    """The sources of the profile in force, with what the last run took of each."""
    workspace = open_workspace()
    documents = read_records(workspace.documents, Document) if workspace.documents.exists() else []
    taken = Counter(document.source for document in documents)
    aside = Counter(row.source for row in _quarantined(workspace))
    table = Table("source", "pipeline", "parser", "where", "documents", "set aside")
    for source in workspace.section("ingest", IngestParams).sources:
        parser = f"{source.parser}: {', '.join(source.adapters)}" if source.adapters else source.parser
        counts = (str(taken[source.name]), str(aside[source.name]))
        table.add_row(source.name, source.pipeline, escape(parser), escape(source.url or source.path), *counts)
    Console().print(table)


@app.command()
def adapters(
    name: Annotated[str, typer.Argument(help="One adapter: its variants are listed, too.")] = "",
) -> None:
    """The site adapters and what each extracts."""
    from stages.ingest.adapters import adapter_names, find_adapter, load_adapter

    if name:
        module = load_adapter(name.partition(":")[0])
        if ":" in name:
            module = find_adapter(name)
        typer.echo(f"{module.name}: {module.extracts}")
        for variant, what in module.variants().items():
            typer.echo(f"  {module.name}:{variant}  {what}")
        return
    table = Table("adapter", "extracts", "variants")
    for known in adapter_names():
        adapter = load_adapter(known)
        table.add_row(known, escape(adapter.extracts), str(len(adapter.variants()) or ""))
    Console().print(table)


@app.command()
def page(
    adapter: Annotated[str, typer.Argument(help="The adapter, e.g. shui5 or bureaus:gansu.")],
    file: Annotated[Path, typer.Argument(help="A page saved from the site.", exists=True, dir_okay=False)],
    path: Annotated[str, typer.Option(help="Its path on the site; where unset, its name.")] = "",
) -> None:
    """Show what an adapter extracts of one page, or what the page lacks."""
    from stages.ingest.adapters import find_adapter
    from stages.ingest.adapters.base import Page
    from stages.ingest.decoding import decode

    found = find_adapter(adapter)
    origin = path or file.name
    shown = Page(f"http://site.invalid/{origin}", origin, decode(file.read_bytes()))
    if not found.is_article(shown):
        rows = [link.url for link in found.requests(shown)]
        rows += [url for url, _ in shown.links() if found.follows(url.removeprefix("http://site.invalid/"))]
        name = found.section_of(shown)
        typer.echo(f"no article; {'a list, ' + name if name else 'no list'}; links to follow: {len(rows)}")
        return
    for article in found.articles(shown):
        for key in (
            "title",
            "kind",
            "published",
            "publisher",
            "number",
            "effective",
            "repealed",
            "category",
            "summary",
        ):
            if value := getattr(article, key):
                typer.echo(f"{key}: {value}")
        for key in ("question", "answer"):
            if value := getattr(article, key):
                typer.echo(f"{key} ({len(value)} characters): {value[:60]}")
        if article.record:
            typer.echo(f"record ({len(article.record)} characters), for the parser of verdicts")
        typer.echo(f"text: {len(article.lines)} paragraphs, {sum(map(len, article.lines))} characters")
        for line in article.lines[:3]:
            typer.echo(f"  {line[:60]}")


@app.command()
def quarantine(
    source: Annotated[str, typer.Option(help="One source only.")] = "",
    cause: Annotated[str, typer.Option(help="Rows whose cause holds these words only.")] = "",
    rows: Annotated[bool, typer.Option("--rows", help="Every row, not the counts by cause.")] = False,
) -> None:
    """What the last run could not take: counts by cause, the largest first, and how to try again."""
    from stages.ingest.quarantine import by_cause, chosen

    workspace = open_workspace()
    found = chosen(_quarantined(workspace), source, cause)
    console = Console()
    if rows:
        table = Table("source", "origin", "where", "cause", "what to do")
        for row in found:
            table.add_row(*(escape(cell) for cell in (row.source, row.origin, row.where, row.cause, row.remedy)))
    else:
        table = Table("rows", "source", "cause", "for example", "what to do")
        for group in by_cause(found):
            first = group.rows[0]
            remedy = first.remedy.partition("; then run:")[0]
            table.add_row(
                str(len(group.rows)), *(escape(cell) for cell in (group.source, group.cause, first.origin, remedy))
            )
    console.print(table)
    console.print(f"{len(found)} rows set aside. To try again: taxpraben sources retry (--source NAME, --cause WORDS)")


@app.command()
def retry(
    source: Annotated[str, typer.Option(help="One source only.")] = "",
    cause: Annotated[str, typer.Option(help="Rows whose cause holds these words only.")] = "",
    clear_only: Annotated[
        bool, typer.Option("--clear-only", help="Forget the failures; leave the run to a later `taxpraben ingest`.")
    ] = False,
) -> None:
    """Try again what could not be taken: its kept failures are forgotten, then ingest runs; good pages are kept."""
    from stages.ingest.quarantine import chosen, open_again

    workspace = open_workspace()
    found = chosen(_quarantined(workspace), source, cause)
    if not found:
        typer.echo("Nothing was set aside that fits; nothing to try again.")
        return
    forgotten = open_again(found, workspace.section("ingest", IngestParams), workspace.out / "cache")
    typer.echo(f"{len(found)} rows are tried again; {forgotten} kept answers of sites were forgotten.")
    if clear_only:
        typer.echo("Next: taxpraben sources retry, or python -m stages.ingest")
        return
    from flows.pipeline import StageFailedError, repro

    try:
        repro(Path(), ["ingest"], alone=True, force=True)
    except StageFailedError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from error
    left = {row.key for row in _quarantined(workspace)}
    still = sum(row.key in left for row in found)
    typer.echo(f"{len(found) - still} of {len(found)} rows are mended, {still} are set aside as before.")


def _quarantined(workspace: Workspace) -> list[Quarantined]:
    return read_records(workspace.quarantined, Quarantined) if workspace.quarantined.exists() else []
