"""Pages to look at: progress, agreement, the board, data quality; and the decisions as a file."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from portal.access import CHECKERS
from portal.contexts import AgreementPage, BoardPage, ProgressPage, QualityPage
from portal.guard import VisitorOf, queue_of
from portal.render import render, titles
from portal.sheets import decisions_as_csv
from taxpraben.board import make_board
from taxpraben.queue.batches import batch_status
from taxpraben.queue.gold import gold_scores
from taxpraben.queue.intake import export_decisions
from taxpraben.queue.judged import verdict_agreement
from taxpraben.queue.ratings import pair_agreement, rating_summary
from taxpraben.queue.states import STATES
from taxpraben.queue.status import people_status, round_status, task_status
from taxpraben.records.base import RecordFileError, read_records
from taxpraben.records.check import BORDERS, read_report
from taxpraben.records.standing import Standing
from taxpraben.workspace import open_workspace

router = APIRouter()


@router.get("/progress", name="progress")
def progress(request: Request, visitor: VisitorOf) -> Response:
    """How far the review is; annotators see of people only themselves."""
    queue = queue_of(request)
    statuses = task_status(queue)
    batches = batch_status(queue)
    several = {batch.task for batch in batches if batch.batch > 1}
    people = people_status(queue)
    page = ProgressPage(
        here="progress",
        tasks=statuses,
        batches=[batch for batch in batches if batch.task in several],
        rounds=round_status(queue),
        titles=titles(request, visitor),
        people=[each for each in people if visitor.role in CHECKERS or each.name == visitor.name],
        states=list(STATES),
        needed=sum(status.needed for status in statuses),
        settled=sum(status.settled for status in statuses),
        filtered=sum(status.filtered for status in statuses),
    )
    return render(request, page)


@router.get("/agreement", name="agreement")
def agreement(request: Request, visitor: VisitorOf) -> Response:
    """How far people agree: on drafts, on prompts, and with gold items."""
    queue = queue_of(request)
    ratings = rating_summary(queue)
    page = AgreementPage(
        here="agreement",
        verdicts=verdict_agreement(queue),
        ratings=ratings,
        pairs=[
            (each.task, pair, figures[-1])
            for each in ratings
            for pair, figures in pair_agreement(queue, each.task).items()
        ],
        gold=gold_scores(queue),
        titles=titles(request, visitor),
    )
    return render(request, page)


@router.get("/exports/decisions.csv", name="decisions_csv")
def decisions_csv(request: Request) -> Response:
    """The decisions that stand, for a spreadsheet."""
    return Response(
        decisions_as_csv(export_decisions(queue_of(request))),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": 'attachment; filename="decisions.csv"'},
    )


@router.get("/board", name="board")
def board(
    request: Request, _visitor: VisitorOf, setting: str = "", protocol: str = "", view: str = "groups"
) -> Response:
    """The leaderboard of the workspace's standings."""
    path = open_workspace(request.app.state.root).standings
    problem = ""
    standings: list[Standing] = []
    if path.exists():
        try:
            standings = read_records(path, Standing)
        except RecordFileError as error:
            problem = str(error)
    made = make_board(standings, list(request.app.state.catalog.values()))
    table = made.table(setting, protocol)
    if table is None:
        aligned = [each for each in made.tables if each.protocol == "aligned"]
        table = next(iter([*aligned, *made.tables]), None)
    shown = view if view in ("groups", "datasets") else "groups"
    return render(request, BoardPage(here="board", board=made, table=table, view=shown, problem=problem))


@router.get("/quality", name="quality")
def quality(request: Request, _visitor: VisitorOf) -> Response:
    """What the checks at the pipeline's borders found."""
    folder = open_workspace(request.app.state.root).checks
    reports, problems = [], []
    for border in BORDERS:
        path = folder / f"{border}.json"
        if not path.exists():
            continue
        try:
            reports.append(read_report(path))
        except RecordFileError as error:
            problems.append(str(error))
    return render(request, QualityPage(here="quality", reports=reports, problems=problems))
