"""Which files stand at which border, and which suites they meet there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from stages.check.params import CheckParams
from stages.check.rules import Row, Suite
from stages.check.suites import answers, decisions, documents, drafts, items, readings, scores, standings
from taxpraben.records.answer import Answer
from taxpraben.records.base import RecordFileError, read_jsonl, read_records
from taxpraben.records.check import Border
from taxpraben.records.decision import Decision
from taxpraben.records.document import Document
from taxpraben.records.draft import Draft
from taxpraben.records.item import Item
from taxpraben.records.reading import Reading
from taxpraben.records.score import Score
from taxpraben.records.standing import Standing
from taxpraben.tasks.catalog import load_catalog
from taxpraben.workspace import PlanParams, RankedParams, ReleasedParams, SubstituteParams, Workspace


@dataclass(frozen=True)
class Load:
    """Rows that meet a suite, and the file that they come from."""

    suite: Suite
    rows: Sequence[Row]
    file: Path


def loads(border: Border, workspace: Workspace, roster: Mapping[str, str]) -> Iterator[Load]:
    """Every file of the border with its suite, in a fixed order, read one after the other.

    Args:
        border: after which stage.
        workspace: where the files lie.
        roster: the models and their groups, for the border ``rank``.

    Raises:
        RecordFileError: a file is missing or breaks its record's schema.
    """
    params = workspace.section("check", CheckParams)
    if border == "ingest":
        yield Load(documents.SUITE, documents.columns(read_records(workspace.documents, Document)), workspace.documents)
    elif border == "draft":
        yield from _drafts(workspace, params)
    elif border == "build":
        yield from _build(workspace)
    else:
        yield from _rank(workspace, params, roster)


def _drafts(workspace: Workspace, params: CheckParams) -> Iterator[Load]:
    known = {document.document_id: document for document in read_records(workspace.documents, Document)}
    for spec in load_catalog().values():
        path = workspace.drafts / f"{spec.name}.parquet"
        yield Load(drafts.suite(spec, params), drafts.columns(read_records(path, Draft), known, spec), path)


def _build(workspace: Workspace) -> Iterator[Load]:
    release = workspace.section("build", ReleasedParams)
    ruled = read_records(workspace.decisions, Decision)
    drafted: dict[str, Draft] = {}
    for name in load_catalog():
        for draft in read_records(workspace.drafts / f"{name}.parquet", Draft):
            drafted[draft.draft_id] = draft
    yield Load(decisions.SUITE, decisions.columns(ruled, drafted), workspace.decisions)
    for spec in load_catalog().values():
        path = workspace.release / f"{spec.name}.parquet"
        rows = read_records(path, Item)
        _same_lines(path, rows)
        by_draft = {decision.draft_id: decision for decision in ruled if decision.task == spec.name}
        yield Load(
            items.suite(spec), items.columns(rows, by_draft, spec, release.release, release.near_duplicate), path
        )


def _same_lines(path: Path, rows: Sequence[Item]) -> None:
    """The release's JSON lines hold the same items as its Parquet file."""
    lines = path.with_suffix(".jsonl")
    if read_jsonl(lines, Item) != list(rows):
        raise RecordFileError(
            f"{lines}: other items than in {path.name}; make the release again with `dvc repro build`"
        )


def _rank(workspace: Workspace, params: CheckParams, roster: Mapping[str, str]) -> Iterator[Load]:
    tasks = load_catalog()
    plan = workspace.section("infer", PlanParams)
    substitute = workspace.section("score", SubstituteParams).substitute
    domain = workspace.section("rank", RankedParams).domain
    known = {item.item_id: item for name in tasks for item in read_records(workspace.release / f"{name}.parquet", Item)}
    for model, group in roster.items():
        asked, read, scored = workspace.answers(model), workspace.readings(model), workspace.scores(model)
        given = read_records(asked, Answer)
        cells = answers.plan_columns(given, list(known.values()), plan.of_model(model, group))
        yield Load(answers.suite(model, params), answers.columns(given, known, model), asked)
        yield Load(answers.plan_suite(model), cells, asked)
        found = read_records(read, Reading)
        by_answer = {answer.key: answer for answer in given}
        yield Load(readings.suite(model), readings.columns(found, by_answer), read)
        points = read_records(scored, Score)
        by_reading = {reading.key: reading for reading in found}
        yield Load(scores.suite(model), scores.columns(points, by_reading, tasks, substitute), scored)
        yield Load(scores.coverage_suite(model), scores.coverage_columns(points, found, tasks, substitute), scored)
    ranked = read_records(workspace.standings, Standing)
    ranking = {name: spec for name, spec in tasks.items() if spec.domain == domain}
    yield Load(standings.SUITE, standings.columns(ranked, list(roster), ranking), workspace.standings)
