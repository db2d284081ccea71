"""The checker's and the expert's pages."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from portal.access import CHECKERS, EXPERTS, FormOf, VisitorOf, field_of
from portal.contexts import CheckItemPage, ChecksPage
from portal.difference import compare_fields
from portal.forms import labelled_texts
from portal.render import render
from portal.routes.review import titles
from portal.words import WORDS, say
from taxpraben.queue.audit import history
from taxpraben.queue.claims import reopen_skipped
from taxpraben.queue.pieces import disputed_drafts, open_piece, open_shares, pieces_in_state, pieces_to_check
from taxpraben.queue.policy import read_policy
from taxpraben.queue.rounds import close_share, draw_samples
from taxpraben.queue.rulings import check, settle
from taxpraben.queue.store import Queue

router = APIRouter()


@router.get("/checks", name="checks")
def checks(request: Request, visitor: VisitorOf, done: str = "") -> Response:
    """Shares, drawn works, disputes and skipped works."""
    queue: Queue = request.app.state.queue
    with queue.read() as session:
        policy = read_policy(session)
    page = ChecksPage(
        here="checks",
        message=say(visitor.language, f"done_{done}") if f"done_{done}" in WORDS else "",
        policy=policy,
        shares=open_shares(queue),
        to_check=pieces_to_check(queue, visitor.name),
        disputes=disputed_drafts(queue),
        skipped=pieces_in_state(queue, "skipped"),
        titles=titles(request, visitor),
        may_settle=visitor.role in EXPERTS,
    )
    return render(request, page)


@router.post("/checks/draw", name="draw")
def draw(request: Request, visitor: VisitorOf) -> Response:
    """Draws the spot checks of every share that has none."""
    draw_samples(request.app.state.queue, visitor.name)
    return RedirectResponse("/checks?done=drawn", status_code=303)


@router.post("/checks/close", name="close")
def close(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Counts a share's spot checks and accepts it or sends it back."""
    number = field_of(form, "round")
    passed = close_share(
        request.app.state.queue,
        field_of(form, "person"),
        visitor.name,
        int(number) if number.isascii() and number.isdigit() and len(number) < 6 else None,
    )
    return RedirectResponse(f"/checks?done={'share_passed' if passed else 'share_back'}", status_code=303)


@router.get("/checks/{work_id}", name="check_item")
def check_item(request: Request, visitor: VisitorOf, work_id: int) -> Response:
    """One submitted work, or all judgements of a disputed draft."""
    queue: Queue = request.app.state.queue
    piece = open_piece(queue, work_id)
    dispute = next((works for works in disputed_drafts(queue) if works[0].draft_id == piece.draft_id), [])
    spec = request.app.state.catalog[piece.task]
    draft_texts = labelled_texts(spec, piece.draft, visitor.language)
    page = CheckItemPage(
        here="checks",
        piece=piece,
        title=titles(request, visitor)[piece.task],
        pieces=piece.excerpt.pieces(),
        draft_texts=draft_texts,
        judgements=[
            (each, compare_fields(draft_texts, labelled_texts(spec, each.content, visitor.language)))
            for each in dispute or [piece]
        ],
        history=history(queue, piece.draft_id),
        may_check=piece.waits_for_check and piece.person != visitor.name and visitor.role in CHECKERS,
        adoptable=[each.work_id for each in dispute if visitor.role in EXPERTS and each.person != visitor.name],
    )
    return render(request, page)


@router.post("/checks/{work_id}", name="check_piece")
def check_piece(request: Request, visitor: VisitorOf, work_id: int, form: FormOf) -> Response:
    """Passes a work or returns it with a reason, and goes to the next."""
    queue: Queue = request.app.state.queue
    passed = field_of(form, "act") == "pass"
    check(queue, work_id, visitor.name, passed, field_of(form, "reason"))
    waiting = pieces_to_check(queue, visitor.name)
    if waiting:
        return RedirectResponse(f"/checks/{waiting[0].work_id}", status_code=303)
    return RedirectResponse(f"/checks?done={'passed' if passed else 'returned'}", status_code=303)


@router.post("/checks/{work_id}/adopt", name="adopt")
def adopt(request: Request, visitor: VisitorOf, work_id: int) -> Response:
    """An expert makes one of the judgements of a disputed draft the decision; ``settle`` refuses all else."""
    queue: Queue = request.app.state.queue
    piece = open_piece(queue, work_id)
    settle(queue, piece.draft_id, visitor.name, piece.verdict, piece.content, piece.reason)  # type: ignore[arg-type]
    return RedirectResponse("/checks?done=settled", status_code=303)


@router.post("/checks/{work_id}/reopen", name="reopen")
def reopen(request: Request, visitor: VisitorOf, work_id: int) -> Response:
    """Puts a skipped work back in the queue."""
    reopen_skipped(request.app.state.queue, work_id, visitor.name)
    return RedirectResponse("/checks?done=reopened", status_code=303)
