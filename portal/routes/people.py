"""The admin's pages: people, invitations, the log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.responses import RedirectResponse, Response

from portal.contexts import LogPage, PeoplePage
from portal.guard import FormOf, Visitor, VisitorOf, field_of, queue_of
from portal.oidc import Provider, email_subject
from portal.render import done_message, render
from portal.routes.signing import elsewhere
from taxpraben.queue import accounts
from taxpraben.queue.audit import audit_page
from taxpraben.queue.claims import hand_over as hand_over_works
from taxpraben.queue.people import come_back as let_in_again
from taxpraben.queue.people import leave as end_part
from taxpraben.queue.people import people as everybody
from taxpraben.queue.states import ROLES, NotFoundError, QueueError
from taxpraben.queue.status import people_status

router = APIRouter()

ACTS_A_PAGE = 100


@router.get("/people", name="people")
def people(request: Request, visitor: VisitorOf, done: str = "") -> Response:
    """Everybody, who is invited, and a form to invite somebody."""
    return _page(request, visitor, message=done_message(visitor, done))


def _page(
    request: Request,
    _visitor: Visitor,
    message: str = "",
    problem: str = "",
    link: str = "",
    name: str = "",
    role: str = "annotator",
    status: int = 200,
) -> Response:
    queue = queue_of(request)
    page = PeoplePage(
        here="people",
        message=message,
        people=everybody(queue),
        held={row.name: row.states["claimed"] + row.states["returned"] for row in people_status(queue)},
        invited=accounts.invitations(queue),
        roles=list(ROLES),
        link=link,
        problem=problem,
        name=name,
        role=role,
        elsewhere=elsewhere(request),
    )
    return render(request, page, status)


@router.post("/people/invite", name="invite")
def invite(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Invites somebody; the link is shown once."""
    name, role = field_of(form, "name").strip(), field_of(form, "role")
    hours = {"1": 24, "3": 72, "14": 336}.get(field_of(form, "days"), 72)
    try:
        secret = accounts.invite(queue_of(request), name, role, visitor.name, hours)
    except QueueError as error:
        return _page(request, visitor, problem=str(error), name=name, role=role, status=422)
    public: str = request.app.state.public_address
    link = f"{(public or str(request.base_url)).rstrip('/')}/invitations/{secret}"
    return _page(request, visitor, message=visitor.say("done_invited", name=name), link=link)


@router.post("/people/revoke", name="revoke_invitation")
def revoke_invitation(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Ends an invitation."""
    accounts.revoke_invitation(queue_of(request), field_of(form, "token_id"), visitor.name)
    return RedirectResponse("/people?done=revoked", status_code=303)


def _refused(request: Request, visitor: Visitor, reason: str) -> Response:
    return _page(request, visitor, problem=reason, status=422)


def _settled(request: Request, visitor: Visitor, done: str, act: Callable[[], object]) -> Response:
    """The page again: with ``done`` after the act, or with why the queue refused it; nobody by that name is a 404."""
    try:
        act()
    except NotFoundError:
        raise
    except QueueError as error:
        return _refused(request, visitor, str(error))
    return RedirectResponse(f"/people?done={done}", status_code=303)


@router.post("/people/role", name="change_role")
def change_role(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Gives somebody another role; it holds at once."""
    queue, person, role = queue_of(request), field_of(form, "person"), field_of(form, "role")
    return _settled(request, visitor, "role", lambda: accounts.set_role(queue, person, role, visitor.name))


@router.post("/people/email", name="link_email")
def link_email(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Lets who proves this e-mail address to the OpenID Connect provider sign in as somebody."""
    provider: Provider | None = request.app.state.provider
    email = field_of(form, "email").strip().lower()
    if provider is None or email.count("@") != 1:
        return _refused(request, visitor, visitor.say("no_email"))
    queue, issuer, person = queue_of(request), provider.issuer, field_of(form, "person")
    return _settled(
        request,
        visitor,
        "linked",
        lambda: accounts.link_identity(queue, issuer, email_subject(email), person, email, visitor.name),
    )


@router.post("/people/leave", name="leave")
def leave(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Ends somebody's part; what they hold goes to somebody else or back to the queue."""
    queue, person, to = queue_of(request), field_of(form, "person"), field_of(form, "to") or None
    return _settled(request, visitor, "left", lambda: end_part(queue, person, to, visitor.name))


@router.post("/people/back", name="come_back")
def come_back(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Lets somebody who left sign in again."""
    let_in_again(queue_of(request), field_of(form, "person"), visitor.name)
    return RedirectResponse("/people?done=back", status_code=303)


@router.post("/people/hand-over", name="hand_over")
def hand_over(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Gives a person's open items to somebody else, or back to the queue."""
    queue = queue_of(request)
    to = field_of(form, "to")
    known = {member.name for member in everybody(queue) if member.active}
    if to and to not in known:
        return _refused(request, visitor, visitor.say("nobody_called", name=to))
    hand_over_works(queue, field_of(form, "person"), to or None, visitor.name)
    return RedirectResponse("/people?done=handed_over", status_code=303)


@router.get("/log", name="log")
def log(
    request: Request,
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    actor: Annotated[str, Query(max_length=80)] = "",
    act: Annotated[str, Query(max_length=80)] = "",
    draft_id: Annotated[str, Query(max_length=80)] = "",
) -> Response:
    """Every act, newest first."""
    found = audit_page(queue_of(request), ACTS_A_PAGE, before, actor.strip(), act.strip(), draft_id.strip())
    return render(request, LogPage(here="log", page=found, actor=actor, act=act, draft_id=draft_id))
