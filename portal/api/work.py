"""An annotator's acts: claim, save, submit, skip, give back, comment, rate; and files for work offline."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Path, Query, Request
from fastapi.responses import JSONResponse
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from portal.access import CHECKERS
from portal.api import shapes
from portal.forms import collect, kept_of, pairs_of
from portal.guard import Visitor, VisitorOf, WorkId, queue_of
from portal.render import spec_of
from taxpraben.queue import claims, comments, rulings
from taxpraben.queue.pieces import Piece, open_piece, pieces_of
from taxpraben.queue.policy import current_policy
from taxpraben.queue.prompts import my_prompts, rate_prompt
from taxpraben.queue.share import export_share, import_share
from taxpraben.queue.states import NotFoundError, kept
from taxpraben.queue.texts import Saved, save
from taxpraben.tasks.rules import broken_rules


async def refuse_unstorable(request: Request) -> None:
    """Refuse a JSON body that could not be kept as it is.

    Raises:
        UnkeptTextError: a text in it has NUL or half a character.
    """
    if request.headers.get("content-type", "").startswith("application/json") and await request.body():
        waiting: list[object] = [await request.json()]
        while waiting:
            value = waiting.pop()
            if isinstance(value, dict):
                waiting += [*value.keys(), *value.values()]
            elif isinstance(value, list):
                waiting += value
            elif isinstance(value, str):
                kept(value)


router = APIRouter(prefix="/api", responses=shapes.PROBLEMS, dependencies=[Depends(refuse_unstorable)])

NDJSON = "application/x-ndjson"
EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
Kind = Literal["jsonl", "xlsx"]


def shown(piece: Piece, visitor: Visitor) -> shapes.Work:
    """A piece as its reader may see it: an annotator judges blind."""
    sees = visitor.role in CHECKERS or piece.person == visitor.name
    return shapes.Work(
        work_id=piece.work_id,
        draft_id=piece.draft_id,
        task=piece.task,
        batch=piece.batch,
        slot=piece.slot,
        origin=piece.origin,
        state=piece.state,
        claimed_until=piece.claimed_until if sees else "",
        version=piece.version if sees else 0,
        round=piece.round if sees else 0,
        drafting_error=piece.error,
        draft=piece.draft,
        source=piece.excerpt,
        person=piece.person if sees else "",
        verdict=piece.verdict if sees else "",
        content=piece.content if sees else None,
        reason=piece.reason if sees else "",
        note=piece.note if sees else "",
    )


def refused(saved: Saved) -> JSONResponse:
    """The answer to a text that is kept but is not the current one."""
    message = "Another save came first; both texts are kept" if saved.kind == "conflict" else "The claim had ended"
    problem = shapes.Problem(
        kind="conflict" if saved.kind == "conflict" else "late",
        message=message,
        version=saved.version,
        theirs=saved.theirs,
        by=saved.by,
    )
    return JSONResponse(problem.model_dump(), status_code=409)


@router.get("/me", name="api_me")
def me(visitor: VisitorOf) -> shapes.Me:
    """Who the token stands for."""
    return shapes.Me(name=visitor.name, role=visitor.role)


@router.get("/works", name="api_works")
def works(
    request: Request,
    visitor: VisitorOf,
    state: Literal["claimed", "returned", "submitted", "checked", "skipped"] | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> list[shapes.Work]:
    """Your works, in list order: what you hold, or those in one state."""
    states = (state,) if state is not None else ("returned", "claimed")
    return [shown(piece, visitor) for piece in pieces_of(queue_of(request), visitor.name, states, limit)]


@router.post("/claims", name="api_claim")
def claim(request: Request, visitor: VisitorOf, wanted: shapes.Claim) -> shapes.Claimed:
    """Take open works; never more at a time than the review's hand-off."""
    queue = queue_of(request)
    count = min(wanted.count, current_policy(queue).hand_off) if wanted.count > 1 else 1
    return shapes.Claimed(work_ids=claims.claim(queue, visitor.name, count, wanted.task, batch=wanted.batch))


@router.get("/works/{work_id}", name="api_work")
def work(request: Request, visitor: VisitorOf, work_id: WorkId) -> shapes.Work:
    """One work with its source and draft."""
    return shown(open_piece(queue_of(request), work_id), visitor)


@router.put("/works/{work_id}/text", name="api_save", response_model=shapes.Kept)
def keep(request: Request, visitor: VisitorOf, work_id: WorkId, text: shapes.Text) -> Response | shapes.Kept:
    """Keep what is typed so far; it need not be complete."""
    kept = kept_of(collect(pairs_of(text.form)))
    saved = save(queue_of(request), work_id, visitor.name, text.version, kept)
    return shapes.Kept(version=saved.version, until=saved.until) if saved.kind == "save" else refused(saved)


@router.post("/works/{work_id}/submission", name="api_submit", response_model=shapes.Judged)
def submit(request: Request, visitor: VisitorOf, work_id: WorkId, given: shapes.Submission) -> Response | shapes.Judged:
    """Hand in a judgement; a fix must satisfy the task's rules."""
    queue = queue_of(request)
    if given.verdict == "fixed" and given.content is not None:
        faults = broken_rules(given.content, spec_of(request, open_piece(queue, work_id).task))
        if faults:
            return breaks_rules(faults)
    content = given.content if given.verdict == "fixed" else None
    outcome = rulings.submit(queue, work_id, visitor.name, given.verdict, content, given.reason, given.version)
    if outcome.kind != "submitted" and outcome.saved is not None:
        return refused(outcome.saved)
    return shapes.Judged(state=outcome.state)


def breaks_rules(faults: list[str]) -> JSONResponse:
    """The answer to a content that may not become an item."""
    problem = shapes.Problem(kind="error", message="The content breaks the task's rules", problems=faults)
    return JSONResponse(problem.model_dump(), status_code=422)


@router.post("/works/{work_id}/skip", name="api_skip")
def skip(request: Request, visitor: VisitorOf, work_id: WorkId, why: shapes.Skipped) -> shapes.Judged:
    """Set an item aside with a reason."""
    rulings.skip(queue_of(request), work_id, visitor.name, why.reason)
    return shapes.Judged(state="skipped")


@router.delete("/works/{work_id}/claim", name="api_release")
def release(request: Request, visitor: VisitorOf, work_id: WorkId) -> shapes.Judged:
    """Give an item back to the queue."""
    claims.release(queue_of(request), work_id, visitor.name)
    return shapes.Judged(state="open")


def _must_see(request: Request, visitor: Visitor, work_id: int) -> Piece:
    piece = open_piece(queue_of(request), work_id)
    if visitor.role not in CHECKERS and piece.person != visitor.name:
        raise NotFoundError(f"No work {work_id} of {visitor.name}'s")
    return piece


@router.get("/works/{work_id}/comments", name="api_comments")
def list_comments(request: Request, visitor: VisitorOf, work_id: WorkId) -> list[shapes.Said]:
    """What was said about a work, oldest first; for checkers, about all works of its draft."""
    queue, piece = queue_of(request), _must_see(request, visitor, work_id)
    all_of_draft = visitor.role in CHECKERS
    found = comments.draft_comments(queue, piece.draft_id) if all_of_draft else comments.comments(queue, work_id)
    return [shapes.Said(**asdict(each)) for each in found]


@router.post("/works/{work_id}/comments", name="api_comment")
def comment(request: Request, visitor: VisitorOf, work_id: WorkId, remark: shapes.Remark) -> shapes.Said:
    """Say something about a work, to its annotator or its checkers."""
    _must_see(request, visitor, work_id)
    return shapes.Said(**asdict(comments.add_comment(queue_of(request), work_id, visitor.name, remark.text)))


_FILES = {"content": {NDJSON: {"schema": {"type": "string"}}, EXCEL: {"schema": {"type": "string"}}}}


@router.get(
    "/share", name="api_share", response_class=Response, responses={200: {**_FILES, "description": "What you hold"}}
)
def share(request: Request, visitor: VisitorOf, kind: Kind = "jsonl") -> Response:
    """What you hold, as a file to fill in offline; nothing changes."""
    data = export_share(queue_of(request), visitor.name, kind)
    return Response(data, media_type=EXCEL if kind == "xlsx" else NDJSON)


@router.post(
    "/share",
    name="api_take_back_share",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def take_back_share(request: Request, visitor: VisitorOf, kind: Kind = "jsonl") -> shapes.Report:
    """Take a filled-in file back; with a fault in it nothing is taken."""
    data = await request.body()
    report = await run_in_threadpool(import_share, queue_of(request), data, kind, visitor.name)
    return shapes.Report.model_validate(asdict(report))


@router.get("/ratings", name="api_ratings")
def ratings(
    request: Request, visitor: VisitorOf, round: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None
) -> list[shapes.Questions]:
    """The prompts that you are to rate or have rated."""
    mine = my_prompts(queue_of(request), visitor.name, round)
    return [shapes.Questions.model_validate(asdict(each)) for each in mine]


@router.put("/ratings/{prompt_id}", name="api_rate")
def rate(
    request: Request, visitor: VisitorOf, prompt_id: Annotated[str, Path(max_length=80)], marks: shapes.Marks
) -> shapes.Rated:
    """Rate a prompt, or change the marks while the round is open."""
    rate_prompt(
        queue_of(request),
        prompt_id,
        visitor.name,
        marks.accuracy,
        marks.naturalness,
        marks.informativeness,
        marks.note,
        marks.round,
    )
    return shapes.Rated(prompt_id=prompt_id)
