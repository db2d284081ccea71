"""An annotator's pages: the own queue, an item, and what is done with it."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body, Path, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response

from portal.access import CHECKERS
from portal.contexts import ItemPage, QueuePage
from portal.difference import compare_fields
from portal.filled import read_values
from portal.forms import Values, collect, kept_of, labelled_texts, make_inputs, pairs_of, saved_values, values_of
from portal.guard import FormOf, Visitor, VisitorOf, WorkId, field_of, file_of, number_of, queue_of
from portal.images import find_image, images_of
from portal.render import done_message, render, spec_of, titles
from taxpraben.queue.audit import annotator_history, history
from taxpraben.queue.claims import claim, claim_work, next_piece, release
from taxpraben.queue.comments import add_comment, comments, draft_comments
from taxpraben.queue.pieces import Piece, open_piece, pieces_of
from taxpraben.queue.policy import current_policy
from taxpraben.queue.share import ShareReport, export_share, import_share
from taxpraben.queue.states import NotFoundError, QueueError
from taxpraben.queue.status import task_status
from taxpraben.queue.texts import latest_text, save

router = APIRouter()

LISTED = 100
"""Most rows of a list on the queue's page."""

REJECT_REASONS = ("reason_unfaithful", "reason_outdated", "reason_unclear", "reason_offtopic", "reason_duplicate")
SKIP_REASONS = ("reason_unsure", "reason_unreadable")

EXCEL = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@router.get("/queue", name="my_queue")
def my_queue(request: Request, visitor: VisitorOf, done: str = "") -> Response:
    """What the visitor holds, and what could be taken."""
    return _queue_page(request, visitor, message=done_message(visitor, done))


def _queue_page(
    request: Request,
    visitor: Visitor,
    message: str = "",
    problem: str = "",
    report: ShareReport | None = None,
    status: int = 200,
) -> Response:
    queue = queue_of(request)
    statuses = task_status(queue)
    page = QueuePage(
        here="my_queue",
        message=message,
        problem=problem,
        report=report,
        held=pieces_of(queue, visitor.name, ("returned", "claimed"), LISTED),
        handed_in=pieces_of(queue, visitor.name, ("submitted", "checked"), LISTED),
        set_aside=pieces_of(queue, visitor.name, ("skipped",), LISTED),
        tasks=[each for each in statuses if each.states["open"]],
        titles=titles(request, visitor),
        open_count=sum(each.states["open"] for each in statuses),
        hand_off=current_policy(queue).hand_off,
        limit=LISTED,
    )
    return render(request, page, status)


@router.post("/queue/take", name="take")
def take(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Takes open works and goes to the first."""
    queue = queue_of(request)
    asked = number_of(form, "count", 1)
    count = min(asked, current_policy(queue).hand_off) if asked > 1 else 1
    taken = claim(queue, visitor.name, count, field_of(form, "task") or None)
    return RedirectResponse(f"/pieces/{taken[0]}" if taken else "/queue?done=nothing_open", status_code=303)


@router.post("/queue/next", name="next_piece")
def go_on(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Goes to the next work in hand after the one given, or takes one."""
    return RedirectResponse(onward(request, visitor, number_of(form, "after")), status_code=303)


def onward(request: Request, visitor: Visitor, after: int, done: str = "") -> str:
    """The address of what comes next: the next work in hand, a fresh one, or the queue where none is open."""
    following = next_piece(queue_of(request), visitor.name, after)
    query = f"?done={done}" if done else ""
    return f"/pieces/{following}{query}" if following else f"/queue{query}"


@router.get("/queue/share.{kind}", name="my_share")
def my_share(request: Request, visitor: VisitorOf, kind: Annotated[str, Path(pattern="^(xlsx|jsonl)$")]) -> Response:
    """What the visitor holds, as a file for work without the portal."""
    data = export_share(queue_of(request), visitor.name, "xlsx" if kind == "xlsx" else "jsonl")
    return Response(
        data,
        media_type=EXCEL if kind == "xlsx" else "application/x-ndjson",
        headers={"Content-Disposition": f'attachment; filename="share.{kind}"'},
    )


@router.post("/queue/share", name="take_back_share")
def take_back_share(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Takes a filled-in file back and says of every row what became of it."""
    name, data = file_of(form, "file")
    try:
        report = import_share(queue_of(request), data, "xlsx" if name.endswith(".xlsx") else "jsonl", visitor.name)
    except QueueError as error:
        return _queue_page(request, visitor, problem=str(error), status=422)
    return _queue_page(request, visitor, report=report, status=422 if report.problems else 200)


@router.get("/pieces/{work_id}", name="item")
def item(request: Request, visitor: VisitorOf, work_id: WorkId, done: str = "") -> Response:
    """One item with its source, draft and form."""
    queue = queue_of(request)
    piece = open_piece(queue, work_id)
    kept = latest_text(queue, work_id, visitor.name) if is_mine(request, piece, visitor) else None
    values = saved_values(spec_of(request, piece.task), kept) if kept else None
    return item_page(request, visitor, piece, values, message=done_message(visitor, done))


def is_mine(request: Request, piece: Piece, visitor: Visitor) -> bool:
    """Whether the visitor may write in a piece now."""
    if piece.person != visitor.name:
        return False
    return piece.state == "returned" or (piece.state == "claimed" and piece.claimed_until >= queue_of(request).now())


def item_page(
    request: Request,
    visitor: Visitor,
    piece: Piece,
    values: Values | None,
    message: str = "",
    problem: str = "",
    show_problems: bool = False,
    status: int = 200,
) -> Response:
    """The item's page, with what is typed in its form."""
    queue = queue_of(request)
    spec = spec_of(request, piece.task)
    # Annotators judge blind: what others did with the draft is for checkers.
    sees_all = visitor.role in CHECKERS
    submitted = (piece.content if sees_all or piece.person == visitor.name else None) or piece.draft
    shown = values or values_of(spec, submitted)
    reading = read_values(spec, shown, piece.draft)
    draft_texts = labelled_texts(spec, piece.draft, visitor.language)
    now = reading.content or submitted
    page = ItemPage(
        here="my_queue",
        message=message,
        problem=problem,
        piece=piece,
        title=titles(request, visitor)[piece.task],
        pieces=piece.excerpt.pieces(),
        images=images_of(request.app.state.pages, piece),
        mine=is_mine(request, piece, visitor),
        takeable=piece.state == "open",
        inputs=make_inputs(spec, shown, visitor.language, reading.problems if show_problems else None),
        draft_texts=draft_texts,
        changes=compare_fields(draft_texts, labelled_texts(spec, now, visitor.language)) if now else [],
        history=history(queue, piece.draft_id) if sees_all else annotator_history(queue, piece.work_id, visitor.name),
        comments=_said(request, piece, visitor),
        reject_reasons=[visitor.say(key) for key in REJECT_REASONS],
        skip_reasons=[visitor.say(key) for key in SKIP_REASONS],
    )
    return render(request, page, status)


def _said(request: Request, piece: Piece, visitor: Visitor) -> list[Any]:
    queue = queue_of(request)
    if visitor.role in CHECKERS:
        return draft_comments(queue, piece.draft_id)
    return comments(queue, piece.work_id) if piece.person == visitor.name else []


@router.post("/pieces/{work_id}/take", name="take_item")
def take_item(request: Request, visitor: VisitorOf, work_id: WorkId) -> Response:
    """Takes this one item, when it is open."""
    claim_work(queue_of(request), work_id, visitor.name)
    return RedirectResponse(f"/pieces/{work_id}", status_code=303)


@router.post("/pieces/{work_id}/save", name="autosave")
def autosave(
    request: Request,
    visitor: VisitorOf,
    work_id: WorkId,
    version: Annotated[int, Body(ge=0, le=2**31 - 1)],
    form: Annotated[dict[str, str | list[str]], Body()],
) -> Response:
    """Keeps what is typed; answers with what became of it and what it changes in the draft."""
    queue = queue_of(request)
    piece = open_piece(queue, work_id)
    values = collect(pairs_of(form))
    saved = save(queue, work_id, visitor.name, version, kept_of(values))
    spec = spec_of(request, piece.task)
    reading = read_values(spec, values, piece.draft)
    draft_texts = labelled_texts(spec, piece.draft, visitor.language)
    changes = compare_fields(draft_texts, labelled_texts(spec, reading.content, visitor.language))
    return JSONResponse(
        {
            "kind": saved.kind,
            "version": saved.version,
            "until": saved.until,
            "theirs": saved_values(spec, saved.theirs) if saved.theirs else saved.theirs,
            "by": saved.by,
            "changes": None
            if reading.content is None
            else [
                {"label": change.label, "pieces": [[part.kind, part.text] for part in change.pieces]}
                for change in changes
                if change.changed
            ],
        },
        status_code=200 if saved.kind == "save" else 409,
    )


@router.post("/pieces/{work_id}/comments", name="comment")
def comment(request: Request, visitor: VisitorOf, work_id: WorkId, form: FormOf) -> Response:
    """Says something about an item: its annotator to the checkers, or a checker to its annotator.

    Raises:
        NotFoundError: an annotator names a work that is not theirs; whether it exists is not theirs to know.
    """
    queue = queue_of(request)
    piece = open_piece(queue, work_id)
    if visitor.role not in CHECKERS and piece.person != visitor.name:
        raise NotFoundError(f"No work {work_id} in the queue")
    add_comment(queue, work_id, visitor.name, field_of(form, "text"))
    checking = field_of(form, "from") == "check" and visitor.role in CHECKERS
    return RedirectResponse(f"/{'checks' if checking else 'pieces'}/{work_id}?done=commented#said", status_code=303)


@router.post("/pieces/{work_id}/release", name="give_back")
def give_back(request: Request, visitor: VisitorOf, work_id: WorkId) -> Response:
    """Gives an item back to the queue."""
    release(queue_of(request), work_id, visitor.name)
    return RedirectResponse("/queue?done=released", status_code=303)


@router.get("/pages/{document_id}/{number}.png", name="page_image")
def page_image(
    request: Request, document_id: Annotated[str, Path(max_length=80)], number: Annotated[int, Path(ge=1, le=99_999)]
) -> Response:
    """The picture of a book's page."""
    file = find_image(request.app.state.pages, document_id, number)
    if file is None:
        raise NotFoundError(f"No picture of page {number}")
    return FileResponse(file, media_type="image/png", headers={"Cache-Control": "private, max-age=3600"})
