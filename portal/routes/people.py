"""The admin's page of people."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from portal.access import FormOf, Visitor, VisitorOf, field_of
from portal.contexts import PeoplePage
from portal.render import render
from portal.words import WORDS, say
from taxpraben.queue.claims import hand_over as hand_over_works
from taxpraben.queue.people import create_person
from taxpraben.queue.people import people as everybody
from taxpraben.queue.states import ROLES, QueueError
from taxpraben.queue.status import people_status
from taxpraben.queue.store import Queue

router = APIRouter()


@router.get("/people", name="people")
def people(request: Request, visitor: VisitorOf, done: str = "") -> Response:
    """Everybody, and a form to add somebody."""
    return _page(request, visitor, message=say(visitor.language, f"done_{done}") if f"done_{done}" in WORDS else "")


def _page(
    request: Request,
    _visitor: Visitor,
    message: str = "",
    problem: str = "",
    name: str = "",
    role: str = "annotator",
    status: int = 200,
) -> Response:
    queue: Queue = request.app.state.queue
    held = {row.name: row.states["claimed"] + row.states["returned"] for row in people_status(queue)}
    page = PeoplePage(
        here="people",
        message=message,
        people=everybody(queue),
        held=held,
        roles=list(ROLES),
        problem=problem,
        name=name,
        role=role,
    )
    return render(request, page, status)


@router.post("/people", name="add_person")
def add_person(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Adds somebody."""
    name, role = field_of(form, "name").strip(), field_of(form, "role")
    try:
        create_person(request.app.state.queue, name, role, field_of(form, "password"), visitor.name)
    except QueueError as error:
        return _page(request, visitor, problem=str(error), name=name, role=role, status=422)
    return RedirectResponse("/people?done=person", status_code=303)


@router.post("/people/hand-over", name="hand_over")
def hand_over(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Gives a person's open items to somebody else, or back to the queue."""
    queue: Queue = request.app.state.queue
    to = field_of(form, "to")
    known = {member.name for member in everybody(queue) if member.active}
    hand_over_works(queue, field_of(form, "person"), to if to in known else None, visitor.name)
    return RedirectResponse("/people?done=handed_over", status_code=303)
