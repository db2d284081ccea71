"""`taxpraben score`, `rescore` and `compare`: figures made, made again, and held against each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from taxpraben.board import percent
from taxpraben.metrics import Metric, Pair, find_metric, metric_class
from taxpraben.records.answer import Setting
from taxpraben.records.score import Protocol
from taxpraben.workspace import open_workspace

if TYPE_CHECKING:
    from stages.score.keep import ScoreKeep
    from stages.score.values import Values

STATUSES = {"unread": "unread", "refused": "refused", "truncated": "cut", "reader_error": "failed"}


def score(
    file: Annotated[Path | None, typer.Argument(help="JSON lines with a gold answer; none: score the roster.")] = None,
    gold: Annotated[Path | None, typer.Option(help="JSON lines whose keys complete the rows by id.")] = None,
    metrics: Annotated[str, typer.Option(help="Names joined by commas; each form has its own if none.")] = "",
    param: Annotated[list[str] | None, typer.Option(help="METRIC.KEY=VALUE, for example bertscore.layer=7.")] = None,
    draws: Annotated[int, typer.Option(help="Bootstrap draws of the intervals.")] = 1000,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Readings are scored, as given and as read; with FILE: another harness's outputs (rows: docs/scoring.md)."""
    if file is None:
        _repro(["score"])
        return
    from cli.outside_rows import OutsideRowsError, read_outside, read_rows
    from cli.outside_scores import measure_rows, metrics_for
    from stages.console import say
    from stages.rank.params import RankParams
    from stages.score.values import values_of

    rows = read_outside(read_rows(file, gold), file)
    if not rows:
        raise OutsideRowsError(f"{file}: no rows; give a file of JSON lines")
    names = metrics_for(rows, [name.strip() for name in metrics.split(",") if name.strip()])
    with ExitStack() as stack:
        opened, keep = _opened(names, _parsed(param or []), stack)

        def valued(metric: Metric, pairs: Sequence[Pair]) -> Values:
            return values_of(metric, pairs, keep, say)

        lines = measure_rows(rows, opened, valued, RankParams(draws=draws))
    if as_json:
        typer.echo(json.dumps([_plain(line) for line in lines], ensure_ascii=False, indent=1))
        return
    _print_lines(lines)


def _opened(
    names: Sequence[str], params: dict[str, dict[str, Any]], stack: ExitStack
) -> tuple[dict[str, Metric], ScoreKeep | None]:
    """The metrics, with the workspace's parameters where there is one; and where its scores are kept."""
    from stages.score.keep import ScoreKeep
    from stages.score.opening import open_metrics
    from stages.score.params import ScoreParams

    for name in params:
        metric_class(name, "--param")
    if not Path("params.yaml").exists():
        return {name: find_metric(name, params.get(name), "--param") for name in names}, None
    workspace = open_workspace()
    section = workspace.section("score", ScoreParams)
    merged = {name: {**section.metrics.get(name, {}), **params.get(name, {})} for name in names}
    found = open_metrics(set(names), section.model_copy(update={"metrics": merged}), workspace)
    keep = stack.enter_context(ScoreKeep(workspace.out / "cache" / "scores.sqlite"))
    return {name: found[name] for name in names}, keep


def _parsed(given: Sequence[str]) -> dict[str, dict[str, Any]]:
    import yaml

    found: dict[str, dict[str, Any]] = {}
    for text in given:
        name, dot, rest = text.partition(".")
        key, equals, value = rest.partition("=")
        if not (dot and equals):
            raise ValueError(f"--param {text!r}: write METRIC.KEY=VALUE, for example bertscore.layer=7")
        found.setdefault(name, {})[key] = yaml.safe_load(value)
    return found


def _plain(line: Any) -> dict[str, Any]:
    common = {
        "task": line.group, "metric": line.metric, "field": line.field, "rows": line.rows, "items": line.items,
        **line.shares, "flags": dict(line.flags), "format_cost": line.cost, "signature": line.signature,
    }  # fmt: skip
    for protocol, found in line.found.items():
        common[protocol] = {"value": found.value, "low": found.low, "high": found.high}
    return common


def _print_lines(lines: Sequence[Any]) -> None:
    console = Console(highlight=False)
    for group in dict.fromkeys(line.group for line in lines):
        own = [line for line in lines if line.group == group]
        table = Table(title=f"{group}: {own[0].rows} rows, {own[0].items} items", title_justify="left", box=None,
                      padding=(0, 1, 0, 0), pad_edge=False)  # fmt: skip
        table.add_column("metric", no_wrap=True)
        for head in ("strict", "aligned", "95%", "cost"):
            table.add_column(head, justify="right", no_wrap=True)
        for line in own:
            aligned, strict = line.found["aligned"], line.found.get("strict")
            table.add_row(
                escape(f"{line.metric} {line.field}".strip()),
                f"{strict.value:.3f}" if strict else "",
                f"{aligned.value:.3f}",
                f"{aligned.low:.3f}–{aligned.high:.3f}" if aligned.low is not None else "",
                f"{line.cost:+.3f}" if line.cost is not None else "",
            )
        console.print(table)
        fallen = [f"{label} {percent(own[0].shares[name])}" for name, label in STATUSES.items()]
        flags = [f"{count} {flag}" for line in own for flag, count in line.flags.items() if flag != "unread"]
        console.print(", ".join([*fallen, *dict.fromkeys(flags)]) + "\n", markup=False)
    signatures = dict.fromkeys(part for line in lines for part in line.signature.split(" "))
    console.print("scored by", *signatures, sep="\n  ", markup=False, soft_wrap=True)


def _repro(steps: Sequence[str], models: Sequence[str] = (), after: Sequence[str] = (), again: bool = False) -> None:
    from flows.pipeline import StageFailedError, repro, roster

    names = list(models) or roster(Path())
    try:
        repro(Path(), [*(f"{step}@{name}" for step in steps for name in names), *after], alone=again, force=again)
    except StageFailedError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(1) from error


def rescore(
    models: Annotated[list[str] | None, typer.Argument(help="Models of the roster; all if none is named.")] = None,
) -> None:
    """Read and score stored answers again, without asking any model under test; then rank and publish."""
    from flows.pipeline import roster
    from taxpraben.backends.roster import RosterError

    known = roster(Path())
    for name in models or []:
        if name not in known:
            raise RosterError(f"{name!r} is not on the roster of models.yaml; on it are {', '.join(known)}")
    workspace = open_workspace()
    names = [name for name in models or known if workspace.answers(name).exists()]
    for name in models or known:
        if name not in names:
            typer.echo(f"{name}: no answers stored; `taxpraben evaluate {name}` asks it", err=True)
    if not names:
        raise typer.Exit(1)
    _repro(["read", "score"], names, ["rank", "check_rank", "publish"], again=True)
    from cli.inspect import standings

    standings()


def compare(
    first: Annotated[str, typer.Argument(help="A model with scores.")],
    second: Annotated[str, typer.Argument(help="Another.")],
    setting: Annotated[Setting | None, typer.Option(help="zero-shot or one-shot; both if none.")] = None,
    protocol: Annotated[Protocol, typer.Option(help="aligned or strict")] = "aligned",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Compare two models item by item: difference, its interval and significance for each dataset and group."""
    from stages.rank.columns import read_scores
    from stages.rank.comparison import compare_models, comparison_text
    from stages.rank.params import RankParams
    from taxpraben.tasks.catalog import load_catalog
    from taxpraben.workspace import SubstituteParams

    workspace = open_workspace()
    params = workspace.section("rank", RankParams)
    tasks = [task for task in load_catalog().values() if task.domain == params.domain]
    scores = read_scores([workspace.scores(name) for name in (first, second)])
    substitute = workspace.section("score", SubstituteParams).substitute
    rows = [
        row
        for row in compare_models(scores, first, second, tasks, metric_class, substitute, params)
        if row.protocol == protocol and setting in (None, row.setting)
    ]
    if as_json:
        typer.echo(json.dumps([row.as_json() for row in rows], ensure_ascii=False, indent=1))
    else:
        typer.echo(comparison_text(rows, first, second, params.level))
