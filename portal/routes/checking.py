"""The checker's and the expert's pages."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from portal.access import EXPERTS
from portal.contexts import CheckItemPage, ChecksPage
from portal.difference import compare_fields
from portal.filled import read_values
from portal.forms import Values, collect, labelled_texts, make_inputs, values_of
from portal.guard import FormOf, Visitor, VisitorOf, WorkId, field_of, number_of, queue_of, texts_of
from portal.images import images_of
from portal.render import done_message, render, spec_of, titles
from portal.routes.judging import reason_of
from portal.routes.review import REJECT_REASONS
from taxpraben.queue.audit import history
from taxpraben.queue.claims import reopen_skipped
from taxpraben.queue.comments import draft_comments
from taxpraben.queue.pieces import Piece, disputed_drafts, open_piece, open_shares, pieces_in_state, pieces_to_check
from taxpraben.queue.policy import current_policy
from taxpraben.queue.rounds import close_share, draw_samples
from taxpraben.queue.rulings import check, settle
from taxpraben.queue.states import FrozenError, QueueError

router = APIRouter()


@router.get("/checks", name="checks")
def checks(request: Request, visitor: VisitorOf, done: str = "") -> Response:
    """Shares, drawn works, disputes and skipped works."""
    queue = queue_of(request)
    page = ChecksPage(
        here="checks",
        message=done_message(visitor, done),
        policy=current_policy(queue),
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
    draw_samples(queue_of(request), visitor.name)
    return RedirectResponse("/checks?done=drawn", status_code=303)


@router.post("/checks/close", name="close")
def close(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Counts a share's spot checks and accepts it or sends it back."""
    passed = close_share(queue_of(request), field_of(form, "person"), visitor.name, number_of(form, "round") or None)
    return RedirectResponse(f"/checks?done={'share_passed' if passed else 'share_back'}", status_code=303)


@router.get("/checks/{work_id}", name="check_item")
def check_item(request: Request, visitor: VisitorOf, work_id: WorkId, done: str = "") -> Response:
    """One submitted work, or all judgements of a disputed draft."""
    piece = open_piece(queue_of(request), work_id)
    return _check_page(request, visitor, piece, message=done_message(visitor, done))


def _check_page(
    request: Request,
    visitor: Visitor,
    piece: Piece,
    values: Values | None = None,
    message: str = "",
    problem: str = "",
    status: int = 200,
) -> Response:
    queue = queue_of(request)
    dispute = next((works for works in disputed_drafts(queue) if works[0].draft_id == piece.draft_id), [])
    spec = spec_of(request, piece.task)
    draft_texts = labelled_texts(spec, piece.draft, visitor.language)
    # Who judged the draft may only yield to another's judgement, so no third version of theirs either.
    may_settle = bool(dispute) and visitor.role in EXPERTS
    third = may_settle and all(each.person != visitor.name for each in dispute)
    shown = values or values_of(spec, piece.draft)
    page = CheckItemPage(
        here="checks",
        message=message,
        problem=problem,
        piece=piece,
        title=titles(request, visitor)[piece.task],
        pieces=piece.excerpt.pieces(),
        images=images_of(request.app.state.pages, piece),
        draft_texts=draft_texts,
        judgements=[
            (each, compare_fields(draft_texts, labelled_texts(spec, each.content, visitor.language)))
            for each in dispute or [piece]
        ],
        history=history(queue, piece.draft_id),
        comments=draft_comments(queue, piece.draft_id),
        may_check=piece.waits_for_check and piece.person != visitor.name,
        adoptable=[each.work_id for each in dispute if may_settle and each.person != visitor.name],
        inputs=make_inputs(
            spec, shown, visitor.language, read_values(spec, shown, piece.draft).problems if values else None
        )
        if third
        else [],
        reject_reasons=[visitor.say(key) for key in REJECT_REASONS],
    )
    return render(request, page, status)


@router.post("/checks/{work_id}", name="check_piece")
def check_piece(request: Request, visitor: VisitorOf, work_id: WorkId, form: FormOf) -> Response:
    """Passes a work or returns it with a reason, and goes to the next."""
    queue = queue_of(request)
    passed = field_of(form, "act") == "pass"
    reason = field_of(form, "reason")
    if not passed and not reason.strip():
        piece = open_piece(queue, work_id)
        return _check_page(request, visitor, piece, problem=visitor.say("needs_reason"), status=422)
    check(queue, work_id, visitor.name, passed, reason)
    waiting = pieces_to_check(queue, visitor.name)
    done = "passed" if passed else "returned"
    where = f"/checks/{waiting[0].work_id}" if waiting else "/checks"
    return RedirectResponse(f"{where}?done={done}", status_code=303)


@router.post("/checks/{work_id}/adopt", name="adopt")
def adopt(request: Request, visitor: VisitorOf, work_id: WorkId) -> Response:
    """An expert makes one of the judgements of a disputed draft the decision; ``settle`` refuses all else."""
    queue = queue_of(request)
    piece = open_piece(queue, work_id)
    settle(queue, piece.draft_id, visitor.name, piece.verdict, piece.content, piece.reason)  # type: ignore[arg-type]
    return RedirectResponse("/checks?done=settled", status_code=303)


@router.post("/checks/{work_id}/third", name="third_version")
def third_version(request: Request, visitor: VisitorOf, work_id: WorkId, form: FormOf) -> Response:
    """An expert ends a dispute with a version of their own, or by rejecting the draft with a reason."""
    queue = queue_of(request)
    piece = open_piece(queue, work_id)
    values = collect(texts_of(form))
    try:
        if field_of(form, "act") == "reject":
            settle(queue, piece.draft_id, visitor.name, "rejected", reason=reason_of(form, "reject"))
        else:
            reading = read_values(spec_of(request, piece.task), values, piece.draft)
            if reading.content is None:
                problem = visitor.say("fix_problems")
                return _check_page(request, visitor, piece, values, problem=problem, status=422)
            settle(queue, piece.draft_id, visitor.name, "fixed", reading.content, field_of(form, "remark"))
    except FrozenError:
        raise
    except QueueError as error:
        known = str(error) == "A rejection needs a reason"
        problem = visitor.say("needs_reason") if known else str(error)
        return _check_page(request, visitor, piece, values, problem=problem, status=422)
    return RedirectResponse("/checks?done=settled", status_code=303)


@router.post("/checks/{work_id}/reopen", name="reopen")
def reopen(request: Request, visitor: VisitorOf, work_id: WorkId) -> Response:
    """Puts a skipped work back in the queue."""
    reopen_skipped(queue_of(request), work_id, visitor.name)
    return RedirectResponse("/checks?done=reopened", status_code=303)
