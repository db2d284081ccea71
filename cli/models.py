"""`taxpraben models`: which models there are, what each lacks, a new one, and the embedded weights."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from taxpraben.backends.adding import add_model, parse_options
from taxpraben.backends.opening import check_models, fetch_models, list_models
from taxpraben.backends.roster import load_roster

app = typer.Typer(no_args_is_help=True, help="The models of models.yaml: list, check, add, fetch weights.")

Names = Annotated[list[str] | None, typer.Argument(help="Models of models.yaml; the roster's when none is named.")]


@app.command("list")
def list_() -> None:
    """List all models with access, size, group, licence, release and what each supports; * marks the roster's."""
    shown = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for key in ("", "name", "backend", "access", "size", "group", "release"):
        shown.add_column(key, no_wrap=True)
    console = Console(highlight=False)
    rows = list_models(load_roster())
    for row in rows:
        cells = [row[key] for key in ("name", "backend", "access", "size", "group", "release")]
        shown.add_row("*" if row["roster"] else "", *(escape(cell) for cell in cells))
    console.print(shown)
    console.print("\nname: title, licence; what it supports; price for a million tokens in and out", markup=False)
    for row in rows:
        about = ", ".join(part for part in (row["title"], row["licence"]) if part)
        parts = [about, row["supports"], *([row["price"]] if row["price"] else [])]
        console.print(f"{row['name']}: {'; '.join(parts)}", markup=False, soft_wrap=True)


@app.command()
def check(names: Names = None) -> None:
    """Say what a model lacks before it can be asked: key, package, GPU, weights; exit status 1 if anything."""
    missing = check_models(load_roster(), names or None)
    for lack in missing:
        typer.echo(f"{lack.model}: {lack.what}; {lack.remedy}")
    if missing:
        raise typer.Exit(1)
    typer.echo("nothing is missing")


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="Small letters, digits, hyphens; names its files, too.")],
    backend: Annotated[str, typer.Option(help="openai, vllm, transformers or llama_cpp.")] = "openai",
    title: Annotated[str, typer.Option(help="The name people know; the model's own name if none.")] = "",
    group: Annotated[str, typer.Option(help="multilingual, chinese, tax, embedded.")] = "multilingual",
    size: Annotated[str, typer.Option(help="As published, for example 7B.")] = "",
    licence: Annotated[str, typer.Option(help="As published.")] = "",
    release: Annotated[str, typer.Option(help="Year and month, for example 2025-02.")] = "",
    base_url: Annotated[str, typer.Option(help="openai: the service's address, up to /v1.")] = "",
    served: Annotated[str, typer.Option(help="openai: the model's name at the service.")] = "",
    api_key_env: Annotated[str, typer.Option(help="openai: the environment variable that holds the key.")] = "",
    hub: Annotated[str, typer.Option(help="Weights: the hub's repository, for example Qwen/Qwen2.5-7B-Instruct.")] = "",
    revision: Annotated[str, typer.Option(help="Weights: the commit; a service: a word of your own.")] = "",
    folder: Annotated[str, typer.Option(help="Weights: a local folder instead of the hub.")] = "",
    weights: Annotated[str, typer.Option(help="Weights: a name under weights: in models.yaml.")] = "",
    price_input: Annotated[float | None, typer.Option(help="For a million tokens of prompts.")] = None,
    price_output: Annotated[float | None, typer.Option(help="For a million tokens of answers.")] = None,
    currency: Annotated[str, typer.Option(help="The price's currency.")] = "USD",
    option: Annotated[list[str] | None, typer.Option(help="key=value of the backend; may be repeated.")] = None,
    roster: Annotated[bool, typer.Option("--roster", help="The lifecycle shall evaluate it, too.")] = False,
) -> None:
    """Write a new model into models.yaml; comments, order and all other entries stay as they are."""
    entry: dict[str, Any] = {
        "title": title or name,
        "backend": backend,
        "access": "api" if backend == "openai" else "weights",
        "group": group,
        "size": size,
        "licence": licence,
        "release": release,
        "served": served,
        "base_url": base_url,
        "api_key_env": api_key_env,
        "hub": hub,
        "revision": revision,
        "folder": folder,
        "weights": weights,
        "options": parse_options(backend, option or []),
    }
    if price_input is not None or price_output is not None:
        entry["price"] = {"input": price_input or 0.0, "output": price_output or 0.0, "currency": currency}
    found = add_model(load_roster().path, name, entry, evaluate=roster)
    typer.echo(f"{found.path}: {name} added{', and evaluated from now on' if roster else ''}")
    for lack in check_models(found, [name]):
        typer.echo(f"{lack.model}: {lack.what}; {lack.remedy}")


@app.command()
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(help="Models or weights; all that the roster needs if none.")
    ] = None,
) -> None:
    """Bring weights, from the first source that has them, and check their hashes; what is there is left alone."""
    fetch_models(load_roster(), names or None, typer.echo)
