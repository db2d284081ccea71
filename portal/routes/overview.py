"""Pages to look at: progress, the board, data quality."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from portal.access import VisitorOf
from portal.contexts import BoardPage, ProgressPage, QualityPage
from portal.render import render
from portal.routes.review import titles
from taxpraben.board import make_board
from taxpraben.queue.agreement import agreement
from taxpraben.queue.states import STATES
from taxpraben.queue.status import people_status, task_status, verdict_ratings
from taxpraben.queue.store import Queue
from taxpraben.records.base import RecordFileError, read_records
from taxpraben.records.check import BORDERS, read_report
from taxpraben.records.standing import Standing
from taxpraben.workspace import open_workspace

router = APIRouter()


@router.get("/progress", name="progress")
def progress(request: Request, visitor: VisitorOf) -> Response:
    """How far the review is."""
    queue: Queue = request.app.state.queue
    statuses = task_status(queue)
    page = ProgressPage(
        here="progress",
        tasks=statuses,
        titles=titles(request, visitor),
        people=people_status(queue),
        agreement=[(task, agreement(ratings)) for task, ratings in verdict_ratings(queue).items()],
        states=list(STATES),
        needed=sum(status.needed for status in statuses),
        settled=sum(status.settled for status in statuses),
        filtered=sum(status.filtered for status in statuses),
    )
    return render(request, page)


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
