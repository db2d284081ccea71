"""An annotator's pages: the own queue, an item, and what is done with it."""

from __future__ import annotations

from typing import Annotated, Any, cast

from fastapi import APIRouter, Body, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from portal.access import CHECKERS, FormOf, Visitor, VisitorOf, field_of
from portal.contexts import ConflictPage, ItemPage, QueuePage
from portal.difference import compare_fields
from portal.forms import Values, collect, labelled_texts, make_inputs, read_values, saved_values, values_of
from portal.render import render
from portal.words import WORDS, say
from taxpraben.queue.audit import SYSTEM, history
from taxpraben.queue.claims import claim, claim_work, extend, release
from taxpraben.queue.pieces import Piece, open_piece, pieces_of
from taxpraben.queue.policy import read_policy
from taxpraben.queue.rulings import Submitted, skip, submit
from taxpraben.queue.states import NotYoursError, QueueError
from taxpraben.queue.status import task_status
from taxpraben.queue.store import Queue
from taxpraben.queue.texts import Saved, latest_text, save
from taxpraben.records.base import JsonObject
from taxpraben.tasks.spec import TaskSpec

router = APIRouter()

LISTED = 100
"""Most rows of a list on the queue's page."""

REJECT_REASONS = ("reason_unfaithful", "reason_outdated", "reason_unclear", "reason_offtopic", "reason_duplicate")
SKIP_REASONS = ("reason_unsure", "reason_unreadable")


@router.get("/queue", name="my_queue")
def my_queue(request: Request, visitor: VisitorOf, done: str = "") -> Response:
    """What the visitor holds, and what could be taken."""
    queue: Queue = request.app.state.queue
    statuses = task_status(queue)
    with queue.read() as session:
        policy = read_policy(session)
    page = QueuePage(
        here="my_queue",
        message=_done(visitor, done),
        held=pieces_of(queue, visitor.name, ("returned", "claimed"), LISTED),
        handed_in=pieces_of(queue, visitor.name, ("submitted", "checked"), LISTED),
        set_aside=pieces_of(queue, visitor.name, ("skipped",), LISTED),
        tasks=[status for status in statuses if status.states["open"]],
        titles=titles(request, visitor),
        open_count=sum(status.states["open"] for status in statuses),
        hand_off=policy.hand_off,
        limit=LISTED,
    )
    return render(request, page)


def _done(visitor: Visitor, done: str) -> str:
    return say(visitor.language, f"done_{done}") if f"done_{done}" in WORDS else ""


def titles(request: Request, visitor: Visitor) -> dict[str, str]:
    """Each task's title in the visitor's language."""
    catalog: dict[str, TaskSpec] = request.app.state.catalog
    return {name: spec.title.zh if visitor.language == "zh" else spec.title.en for name, spec in catalog.items()}


@router.post("/queue/take", name="take")
def take(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Takes open works and goes to the first."""
    queue: Queue = request.app.state.queue
    with queue.read() as session:
        most = read_policy(session).hand_off
    asked = field_of(form, "count")
    count = min(int(asked), most) if asked.isascii() and asked.isdigit() and len(asked) < 5 else 1
    taken = claim(queue, visitor.name, max(count, 1), field_of(form, "task") or None)
    return RedirectResponse(f"/pieces/{taken[0]}" if taken else "/queue", status_code=303)


@router.post("/queue/next", name="next_piece")
def next_piece(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Goes to the next work in hand after the one given, or takes one."""
    after = field_of(form, "after")
    return _onward(request.app.state.queue, visitor, int(after) if after.isascii() and after.isdigit() else 0, "")


def _onward(queue: Queue, visitor: Visitor, after: int, done: str) -> Response:
    held = [piece.work_id for piece in pieces_of(queue, visitor.name, ("returned", "claimed"))]
    others = [work for work in held if work != after]
    later = held[held.index(after) + 1 :] if after in held else []
    following = (later or others or claim(queue, visitor.name) or [0])[0]
    query = f"?done={done}" if done else ""
    return RedirectResponse(f"/pieces/{following}{query}" if following else f"/queue{query}", status_code=303)


@router.get("/pieces/{work_id}", name="item")
def item(request: Request, visitor: VisitorOf, work_id: int, done: str = "") -> Response:
    """One item with its source, draft and form."""
    queue: Queue = request.app.state.queue
    piece = open_piece(queue, work_id)
    kept = latest_text(queue, work_id, visitor.name) if _is_mine(piece, visitor, queue) else None
    return _item_page(request, visitor, piece, saved_values(kept) if kept else None, message=_done(visitor, done))


def _is_mine(piece: Piece, visitor: Visitor, queue: Queue) -> bool:
    if piece.person != visitor.name:
        return False
    return piece.state == "returned" or (piece.state == "claimed" and piece.claimed_until >= queue.now())


def _item_page(
    request: Request,
    visitor: Visitor,
    piece: Piece,
    values: Values | None,
    message: str = "",
    problem: str = "",
    show_problems: bool = False,
    status: int = 200,
) -> Response:
    queue: Queue = request.app.state.queue
    spec = request.app.state.catalog[piece.task]
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
        mine=_is_mine(piece, visitor, queue),
        takeable=piece.state == "open",
        inputs=make_inputs(spec, shown, visitor.language, reading.problems if show_problems else None),
        draft_texts=draft_texts,
        changes=compare_fields(draft_texts, labelled_texts(spec, now, visitor.language)) if now else [],
        history=[act for act in history(queue, piece.draft_id) if sees_all or act.actor in (visitor.name, SYSTEM)],
        reject_reasons=[say(visitor.language, key) for key in REJECT_REASONS],
        skip_reasons=[say(visitor.language, key) for key in SKIP_REASONS],
    )
    return render(request, page, status)


@router.post("/pieces/{work_id}/take", name="take_item")
def take_item(request: Request, visitor: VisitorOf, work_id: int) -> Response:
    """Takes this one item, when it is open."""
    claim_work(request.app.state.queue, work_id, visitor.name)
    return RedirectResponse(f"/pieces/{work_id}", status_code=303)


@router.post("/pieces/{work_id}/save", name="autosave")
def autosave(
    request: Request,
    visitor: VisitorOf,
    work_id: int,
    version: Annotated[int, Body(ge=0)],
    form: Annotated[dict[str, Any], Body()],
) -> Response:
    """Keeps what is typed; answers with what became of it and what it changes in the draft."""
    queue: Queue = request.app.state.queue
    piece = open_piece(queue, work_id)
    values = saved_values(form)
    saved = save(queue, work_id, visitor.name, version, _kept(collect(_pairs(values))))
    until = piece.claimed_until
    if saved.kind == "save" and piece.state == "claimed":
        # Who types is at it: the limit is there for items that nobody works on.
        until = extend(queue, work_id, visitor.name)
    spec = request.app.state.catalog[piece.task]
    reading = read_values(spec, values, piece.draft)
    draft_texts = labelled_texts(spec, piece.draft, visitor.language)
    changes = compare_fields(draft_texts, labelled_texts(spec, reading.content, visitor.language))
    return JSONResponse(
        {
            "kind": saved.kind,
            "version": saved.version,
            "until": until,
            "theirs": saved.theirs,
            "by": saved.by,
            "changes": None
            if reading.content is None
            else [
                {"label": change.label, "pieces": [[piece.kind, piece.text] for piece in change.pieces]}
                for change in changes
                if change.changed
            ],
        },
        status_code=200 if saved.kind == "save" else 409,
    )


def _pairs(values: Values) -> list[tuple[str, str]]:
    return [(name, text) for name, value in values.items() for text in ([value] if isinstance(value, str) else value)]


@router.post("/pieces/{work_id}/judge", name="judge")
def judge(request: Request, visitor: VisitorOf, work_id: int, form: FormOf) -> Response:
    """Takes the judgement: accept, fix, reject or skip."""
    queue: Queue = request.app.state.queue
    piece = open_piece(queue, work_id)
    spec = request.app.state.catalog[piece.task]
    act = field_of(form, "act")
    values = collect([(name, value) for name, value in form.multi_items() if isinstance(value, str)])
    given = field_of(form, "version")
    version = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else piece.version
    try:
        if act == "skip":
            skip(queue, work_id, visitor.name, _reason(form, "skip"))
            return _onward(queue, visitor, work_id, "skipped")
        if act == "accept":
            outcome = submit(queue, work_id, visitor.name, "accepted", version=version, form=_kept(values))
        elif act == "reject":
            reason = _reason(form, "reject")
            outcome = submit(
                queue, work_id, visitor.name, "rejected", reason=reason, version=version, form=_kept(values)
            )
        else:
            act = "fix"
            reading = read_values(spec, values, piece.draft)
            if reading.content is None:
                save(queue, work_id, visitor.name, version, _kept(values))
                return _item_page(
                    request,
                    visitor,
                    open_piece(queue, work_id),
                    values,
                    problem=say(visitor.language, "fix_problems"),
                    show_problems=True,
                    status=422,
                )
            outcome = submit(
                queue, work_id, visitor.name, "fixed", reading.content, version=version, form=_kept(values)
            )
    except NotYoursError:
        save(queue, work_id, visitor.name, version, _kept(values))
        return RedirectResponse("/queue?done=late", status_code=303)
    except QueueError as error:
        known = {"A rejection needs a reason": "needs_reason", "Skipping needs a reason": "needs_reason"}
        problem = say(visitor.language, known[str(error)]) if str(error) in known else str(error)
        return _item_page(request, visitor, piece, values, problem=problem, status=422)
    return _after(request, visitor, piece, outcome, values, act)


def _after(request: Request, visitor: Visitor, piece: Piece, outcome: Submitted, values: Values, act: str) -> Response:
    queue: Queue = request.app.state.queue
    if outcome.kind == "submitted":
        done = {"accept": "accepted", "fix": "fixed", "reject": "rejected"}[act]
        return _onward(queue, visitor, piece.work_id, done)
    if outcome.kind == "conflict" and outcome.saved is not None:
        return _conflict_page(request, visitor, piece, outcome.saved, values)
    return RedirectResponse("/queue?done=late", status_code=303)


def _conflict_page(request: Request, visitor: Visitor, piece: Piece, saved: Saved, values: Values) -> Response:
    spec = request.app.state.catalog[piece.task]
    language = visitor.language

    def shown(of: Values) -> list[tuple[str, str]]:
        return [(each.label, _visible(of, each.name)) for each in make_inputs(spec, of, language) if not each.group]

    page = ConflictPage(
        here="my_queue",
        piece=piece,
        by=saved.by or visitor.name,
        yours=shown(values),
        theirs=shown(saved_values(saved.theirs or {})),
        mine=_pairs(values),
        version=saved.version,
    )
    return render(request, page, 409)


def _visible(values: Values, name: str) -> str:
    value = values.get(name, "")
    return value if isinstance(value, str) else ", ".join(value)


def _kept(values: Values) -> JsonObject:
    return cast(JsonObject, dict(values))  # texts and lists of texts are JSON


def _reason(form: FormOf, act: str) -> str:
    parts = [field_of(form, f"{act}_reason"), field_of(form, f"{act}_other").strip()]
    return "；".join(part for part in parts if part)


@router.post("/pieces/{work_id}/release", name="give_back")
def give_back(request: Request, visitor: VisitorOf, work_id: int) -> Response:
    """Gives an item back to the queue."""
    release(request.app.state.queue, work_id, visitor.name)
    return RedirectResponse("/queue?done=released", status_code=303)
