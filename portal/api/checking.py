"""What checkers and experts do, and what one may look at: progress, agreement, decisions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from portal.api import shapes
from portal.api.work import NDJSON, breaks_rules, refuse_unstorable, shown
from portal.guard import VisitorOf, WorkId, queue_of
from portal.render import spec_of
from portal.sheets import decisions_as_csv
from taxpraben.queue import rulings
from taxpraben.queue.batches import batch_status
from taxpraben.queue.intake import export_decisions
from taxpraben.queue.judged import verdict_agreement
from taxpraben.queue.pieces import disputed_drafts, pieces_to_check
from taxpraben.queue.prompts import METRICS
from taxpraben.queue.ratings import rating_summary
from taxpraben.queue.states import NotFoundError
from taxpraben.queue.status import round_status, task_status
from taxpraben.tasks.rules import broken_rules

router = APIRouter(prefix="/api", responses=shapes.PROBLEMS, dependencies=[Depends(refuse_unstorable)])


@router.get("/checks", name="api_checks")
def checks(request: Request, visitor: VisitorOf) -> list[shapes.Work]:
    """Drawn works that wait for a checker other than their annotator."""
    return [shown(piece, visitor) for piece in pieces_to_check(queue_of(request), visitor.name)]


@router.post("/works/{work_id}/check", name="api_check")
def check(request: Request, visitor: VisitorOf, work_id: WorkId, word: shapes.Checked) -> shapes.Judged:
    """Pass a work, or return it to the same person with a reason."""
    return shapes.Judged(state=rulings.check(queue_of(request), work_id, visitor.name, word.passed, word.reason))


@router.post("/drafts/{draft_id}/settlement", name="api_settle", response_model=shapes.Settled)
def settle(
    request: Request, visitor: VisitorOf, draft_id: Annotated[str, Path(max_length=80)], word: shapes.Settlement
) -> Response | shapes.Settled:
    """End a dispute: adopt what somebody found, or a third version."""
    queue = queue_of(request)
    if word.verdict == "fixed" and word.content is not None:
        disputed = [works[0] for works in disputed_drafts(queue) if works[0].draft_id == draft_id]
        if not disputed:
            raise NotFoundError(f"Draft {draft_id!r} is not disputed")
        faults = broken_rules(word.content, spec_of(request, disputed[0].task))
        if faults:
            return breaks_rules(faults)
    content = word.content if word.verdict == "fixed" else None
    rulings.settle(queue, draft_id, visitor.name, word.verdict, content, word.reason)
    return shapes.Settled(draft_id=draft_id, verdict=word.verdict)


@router.get("/progress", name="api_progress")
def progress(request: Request, _visitor: VisitorOf) -> shapes.Progress:
    """How far the review is, by dataset, batch and round."""
    queue = queue_of(request)
    return shapes.Progress(
        tasks=[
            shapes.TaskProgress(
                task=each.task,
                needed=each.needed,
                settled=each.settled,
                filtered=each.filtered,
                failed=each.failed,
                states=each.states,
            )
            for each in task_status(queue)
        ],
        batches=[shapes.BatchProgress(**asdict(each)) for each in batch_status(queue)],
        rounds=[shapes.RoundProgress(**asdict(each)) for each in round_status(queue)],
    )


@router.get("/agreement", name="api_agreement")
def agreement(request: Request, _visitor: VisitorOf) -> list[shapes.Figures]:
    """How far people agree: verdicts by task, round and pair; marks of prompts by task and metric, and averaged."""
    queue = queue_of(request)
    found = [
        shapes.Figures(task=each.task, round=each.round, pair=list(each.pair), metric="verdict", **asdict(each.figures))
        for each in verdict_agreement(queue)
    ]
    for each in rating_summary(queue):
        for metric in (*METRICS, "averaged"):
            figures = asdict(getattr(each, metric))
            found.append(shapes.Figures(task=each.task, round=each.round, pair=[], metric=metric, **figures))
    return found


_TABLES = {"content": {NDJSON: {"schema": {"type": "string"}}, "text/csv": {"schema": {"type": "string"}}}}


@router.get(
    "/decisions",
    name="api_decisions",
    response_class=Response,
    responses={200: {**_TABLES, "description": "The decisions that stand"}},
)
def decisions(
    request: Request,
    _visitor: VisitorOf,
    format: Literal["jsonl", "csv"] = "jsonl",
    task: Annotated[str, Query(max_length=60)] = "",
) -> Response:
    """The decisions that stand, in stable order: a JSON object a line, or CSV without formulas."""
    rows = export_decisions(queue_of(request), (task,) if task else ())
    if format == "csv":
        return Response(decisions_as_csv(rows), media_type="text/csv; charset=utf-8")
    return Response("".join(f"{row.model_dump_json()}\n" for row in rows), media_type=NDJSON)
