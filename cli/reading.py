"""`taxpraben read` and `taxpraben audit`: outputs from anywhere are read, and the reader is audited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from stages.read.audit import Compared, RawAnswer
    from stages.read.parsing import Said

SHOWN = 20
"""So many bad rows are printed one by one; the rest are counted."""

JOURNALS = Path(".cache/parser")
"""Where the parser's replies are kept when no workspace keeps them, one file a model."""

Source = Annotated[Path | None, typer.Argument(metavar="[IN.jsonl]", help="One answer a line, as below.")]
Target = Annotated[Path | None, typer.Argument(metavar="[OUT.jsonl]", help="One reading a line, in the same order.")]
Parser = Annotated[
    str, typer.Option(metavar="MODEL", help="A model of models.yaml that reads what the rules leave, with evidence.")
]
Models = Annotated[Path, typer.Option(help="models.yaml, or its folder.")]
NewTokens = Annotated[int, typer.Option(min=1, help="Most tokens of one reply of the parser.")]


def with_files(stage: Callable[[], None]) -> Callable[..., None]:
    """The command ``read``: the stage of the lifecycle, or a file of outputs from anywhere where one is named."""

    def read(
        source: Source = None,
        target: Target = None,
        parser: Parser = "",
        models: Models = Path("models.yaml"),
        new_tokens: NewTokens = 300,
    ) -> None:
        """Answers become readings: those of the roster's models, or any in a file.

        \b
        taxpraben read                      the workspace's answers (a step)
        taxpraben read IN.jsonl OUT.jsonl   outputs from anywhere

        A line of IN.jsonl needs id, form, text and what the form needs:

        \b
        {"id": "q1", "text": "the raw answer",
         "form": "single" | "set" | "number" | "span" | "fields",
         "options": "ABCD" or {"A": "text", ...},
         "unit": "万元", "question": "...", "prompt": "all that was sent",
         "fields": [{"name", "kind": "text" | "number" | "label",
                     "unit", "aliases", "labels"}],
         "status": "ok" | "length" | "refused" | ...}

        A line of OUT.jsonl:

        \b
        {"id", "status": "read" | "unread" | "refused" | "truncated"
                         | "reader_error",
         "value", "method": "strict" | "rules" | "model",
         "evidence", "flags", "reason"}

        Other keys (gold) are passed over. A bad row is reported, keeps its place
        with the status reader_error, and the command ends with status 1 when all
        others are read. The rules stand in docs/reading.md.
        """  # noqa: D301 - \b keeps the lines that follow as they are
        if source is None:
            if parser:
                raise typer.BadParameter("name IN.jsonl and OUT.jsonl; the step's parser is set in params.yaml")
            stage()
            return
        if target is None:
            raise typer.BadParameter(f"name the file to write, too: taxpraben read {source} OUT.jsonl")
        _read_file(source, target, parser, models, new_tokens)

    return read


def _read_file(source: Path, target: Path, parser: str, models: Path, new_tokens: int) -> None:
    from stages.console import progress, say
    from stages.read.outputs import load_rows, read_rows, write_readings
    from stages.read.parsing import collect_prompts, left_to_parser
    from stages.read.readings import tally
    from taxpraben.reading.rows import BadRow

    rows = load_rows(source)
    bad = [row for row in rows if isinstance(row, BadRow)]
    said: Said | None = None
    if parser:
        prompts, left = collect_prompts(lambda note: [row for row in read_rows(rows, note) if row is not None])
        say(f"{left_to_parser(left, len(rows) - len(bad), len(prompts))} {parser}")
        said = _ask(prompts, parser, models, new_tokens) if prompts else None
    results = read_rows(progress(rows, "read", len(rows)), said)
    write_readings(target, rows, results)
    say(tally(result for result in results if result is not None))
    for row in bad[:SHOWN]:
        say(row.problem)
    if len(bad) > SHOWN:
        say(f"… and {len(bad) - SHOWN} more bad rows")
    say(f"{len(rows)} rows in {target}" + (f", {len(bad)} of them bad (status reader_error)" if bad else ""))
    if bad:
        raise typer.Exit(1)


def _ask(prompts: Sequence[str], parser: str, models: Path, new_tokens: int) -> Said:
    from stages.console import say
    from stages.read.params import ParserParams
    from stages.read.parsing import ask_parser

    JOURNALS.mkdir(parents=True, exist_ok=True)
    params = ParserParams(model=parser, new_tokens=new_tokens)
    said = ask_parser(prompts, params, models, JOURNALS / f"{parser}.jsonl")
    say(said.bill())
    return said


def audit(
    source: Annotated[
        Path | None, typer.Argument(metavar="[IN.jsonl]", help="Rows as for `taxpraben read`; or use --model.")
    ] = None,
    parser: Parser = "",
    model: Annotated[str, typer.Option(help="Audit this model's answers of the workspace instead of a file.")] = "",
    sample: Annotated[int, typer.Option(min=1, help="So many answers, drawn by seed.")] = 50,
    seed: Annotated[int, typer.Option(help="The seed of the sample.")] = 0,
    models: Models = Path("models.yaml"),
    new_tokens: NewTokens = 300,
) -> None:
    """Read a sample by rules and by a model, and print where the two differ, with counts.

    The rules are the reader; the model is asked about every answer of the sample, also those that the rules read. A
    difference is a place to look at, not a fault of either. Replies are kept: the same audit again asks nothing.
    """
    from stages.console import say
    from stages.read.audit import by_parser, compare, counts, draw
    from stages.read.parsing import collect_prompts

    if not parser:
        raise typer.BadParameter("name the model that reads beside the rules: --parser MODEL (taxpraben models list)")
    if (source is None) is (not model):
        raise typer.BadParameter("name either a file of outputs, IN.jsonl, or --model NAME of the workspace")
    answers = draw(_of_file(source) if source else _of_model(model), sample, seed)
    if not answers:
        raise typer.BadParameter("there is no answer with text to audit")
    prompts, _ = collect_prompts(lambda note: by_parser(answers, note))
    say(f"{len(answers)} answers in the sample (seed {seed}), {len(prompts)} requests to {parser}")
    compared = compare(answers, _ask(prompts, parser, models, new_tokens))
    for row in compared:
        if row.verdict in ("differ", "rules only", "parser only"):
            _show(row)
    typer.echo(f"\n{'rules against parser':<32}{'answers':>8}{'share':>8}")
    for words, count in counts(compared):
        typer.echo(f"{words:<32}{count:>8}{count / len(compared):>8.1%}")


def _of_file(source: Path) -> list[RawAnswer]:
    from stages.console import say
    from stages.read.audit import RawAnswer
    from stages.read.outputs import load_rows
    from taxpraben.reading.rows import BadRow

    answers: list[RawAnswer] = []
    for row in load_rows(source):
        if isinstance(row, BadRow):
            say(row.problem)
        else:
            answers.append(RawAnswer(str(row.id), row.asked, row.text, row.status))
    return answers


def _of_model(model: str) -> list[RawAnswer]:
    from stages.read.audit import RawAnswer
    from stages.read.readings import asked_of
    from taxpraben.records.answer import Answer
    from taxpraben.records.base import read_records
    from taxpraben.records.item import read_release
    from taxpraben.tasks.catalog import find_task
    from taxpraben.workspace import open_workspace

    workspace = open_workspace()
    answers = read_records(workspace.answers(model), Answer)
    tasks = {name: find_task(name) for name in dict.fromkeys(answer.task for answer in answers)}
    items = read_release(workspace.release, tasks)
    return [
        RawAnswer(
            f"{answer.item_id} ({answer.setting}, run {answer.run})",
            asked_of(answer, items[answer.task, answer.item_id], tasks[answer.task]),
            answer.text,
            answer.status,
        )
        for answer in answers
    ]


def _show(row: Compared) -> None:
    text = " ".join(row.answer.text.split())
    typer.echo(f"\n{row.answer.key}: {row.verdict}")
    typer.echo(f"  answer {text[:160]}{'…' if len(text) > 160 else ''}")
    for name, result in (("rules", row.rules), ("parser", row.parser)):
        said = f"{result.value}  ({result.evidence[:60]!r})" if result.value is not None else f"-  ({result.reason})"
        typer.echo(f"  {name:<6} {said}")
