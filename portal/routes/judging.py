"""The judgement of an item: accept, fix, reject or skip; and the next item at once.

A script asks for JSON and stays on the page where something is in the way; without one the same comes as a page.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from portal.contexts import ConflictPage
from portal.filled import Reading, read_values
from portal.forms import Values, collect, kept_of, make_inputs, pairs_of, saved_values
from portal.guard import FormOf, Visitor, VisitorOf, WorkId, field_of, number_of, queue_of, texts_of, wants_json
from portal.render import render, spec_of
from portal.routes.review import item_page, onward
from taxpraben.queue.pieces import Piece, open_piece
from taxpraben.queue.rulings import skip, submit
from taxpraben.queue.states import FrozenError, NotYoursError, QueueError
from taxpraben.queue.texts import Saved, save
from taxpraben.tasks.spec import LETTERS

router = APIRouter()

LATE = "/queue?done=late"
_KNOWN = {"A rejection needs a reason": "needs_reason", "Skipping needs a reason": "needs_reason"}


@router.post("/pieces/{work_id}/judge", name="judge")
def judge(request: Request, visitor: VisitorOf, work_id: WorkId, form: FormOf) -> Response:
    """Takes the judgement."""
    queue = queue_of(request)
    piece = open_piece(queue, work_id)
    act = field_of(form, "act")
    values = collect(texts_of(form))
    kept = kept_of(values)
    version = number_of(form, "version", piece.version)
    try:
        if act == "skip":
            skip(queue, work_id, visitor.name, reason_of(form, "skip"))
            return _go(request, onward(request, visitor, work_id, "skipped"))
        if act == "accept":
            outcome = submit(queue, work_id, visitor.name, "accepted", version=version, form=kept)
        elif act == "reject":
            reason = reason_of(form, "reject")
            outcome = submit(queue, work_id, visitor.name, "rejected", reason=reason, version=version, form=kept)
        else:
            reading = read_values(spec_of(request, piece.task), values, piece.draft)
            if reading.content is None:
                saved = save(queue, work_id, visitor.name, version, kept)
                if saved.kind == "conflict":
                    return _conflict(request, visitor, piece, saved, values)
                return _faulty(request, visitor, open_piece(queue, work_id), values, reading)
            outcome = submit(queue, work_id, visitor.name, "fixed", reading.content, version=version, form=kept)
    except NotYoursError:
        save(queue, work_id, visitor.name, version, kept)
        return _go(request, LATE)
    except FrozenError:
        raise
    except QueueError as error:
        problem = visitor.say(_KNOWN[str(error)]) if str(error) in _KNOWN else str(error)
        if wants_json(request):
            return JSONResponse({"kind": "problem", "message": problem}, status_code=422)
        return item_page(request, visitor, piece, values, problem=problem, status=422)
    if outcome.kind == "submitted":
        done = {"accept": "accepted", "reject": "rejected"}.get(act, "fixed")
        return _go(request, onward(request, visitor, work_id, done))
    if outcome.kind == "conflict" and outcome.saved is not None:
        return _conflict(request, visitor, piece, outcome.saved, values)
    return _go(request, LATE)


def reason_of(form: FormOf, act: str) -> str:
    """The reason of a rejection or a skip: the one chosen, and what was written beside it."""
    parts = [field_of(form, f"{act}_reason"), field_of(form, f"{act}_other").strip()]
    return "；".join(part for part in parts if part)[:1000]


def _go(request: Request, to: str) -> Response:
    if wants_json(request):
        return JSONResponse({"kind": "late" if to == LATE else "done", "to": to})
    return RedirectResponse(to, status_code=303)


def _faulty(request: Request, visitor: Visitor, piece: Piece, values: Values, reading: Reading) -> Response:
    problem = visitor.say("fix_problems")
    if wants_json(request):
        said = {name: visitor.say(key, **given) for name, (key, given) in reading.problems.items()}
        reply = {"kind": "problems", "message": problem, "problems": said, "version": piece.version}
        return JSONResponse(reply, status_code=422)
    return item_page(request, visitor, piece, values, problem=problem, show_problems=True, status=422)


def _conflict(request: Request, visitor: Visitor, piece: Piece, saved: Saved, values: Values) -> Response:
    spec = spec_of(request, piece.task)
    theirs = saved_values(spec, saved.theirs or {})
    by = saved.by or visitor.name
    if wants_json(request):
        reply = {"kind": "conflict", "version": saved.version, "theirs": theirs, "by": by}
        return JSONResponse(reply, status_code=409)

    def shown(of: Values) -> list[tuple[str, str]]:
        inputs = make_inputs(spec, of, visitor.language)
        return [(each.label, _visible(of, each.name)) for each in inputs if not each.group or of.get(each.name)]

    page = ConflictPage(
        here="my_queue",
        piece=piece,
        by=by,
        yours=shown(values),
        theirs=shown(theirs),
        mine=pairs_of(values),
        version=saved.version,
    )
    return render(request, page, 409)


def _visible(values: Values, name: str) -> str:
    value = values.get(name, "")
    if name == "gold":
        return ", ".join(LETTERS[int(mark)] for mark in value if mark.isdigit() and int(mark) < len(LETTERS))
    return value if isinstance(value, str) else ", ".join(value)
