"""Settings: how the pages look, the own password and tokens, and for admins the rules of the review."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from portal.access import ADMINS
from portal.contexts import SettingsPage
from portal.contexts.people import RuleRow
from portal.guard import THEMES, FormOf, Visitor, VisitorOf, field_of, number_of, queue_of
from portal.render import done_message, render
from portal.routes.signing import HASHING, elsewhere, welcome
from taxpraben.queue import accounts
from taxpraben.queue.attempts import blocked, note_attempt
from taxpraben.queue.people import set_password, verify
from taxpraben.queue.policy import LEAST, MOST, change_policy, current_policy, held_keys, release_held
from taxpraben.queue.states import QueueError

router = APIRouter()

FRACTIONS = ("claim_minutes", "pass_mark")
"""Rules that need not be whole numbers."""


@router.get("/settings", name="settings")
def settings(request: Request, visitor: VisitorOf, done: str = "") -> Response:
    """Everything that may be set by the visitor."""
    return _page(request, visitor, message=done_message(visitor, done))


def _page(
    request: Request, visitor: Visitor, message: str = "", problem: str = "", secret: str = "", status: int = 200
) -> Response:
    queue = queue_of(request)
    admin = visitor.role in ADMINS
    page = SettingsPage(
        here="settings",
        message=message,
        problem=problem,
        themes=THEMES,
        tokens=accounts.api_tokens(queue, None if admin else visitor.name),
        secret=secret,
        identities=accounts.identities(queue, visitor.name),
        elsewhere=elsewhere(request),
        rules=_rules(request) if admin else [],
    )
    return render(request, page, status)


def _rules(request: Request) -> list[RuleRow]:
    queue = queue_of(request)
    policy, held = current_policy(queue), held_keys(queue)
    return [
        RuleRow(
            key=key,
            value=f"{getattr(policy, key):g}",
            least=f"{LEAST[key]:g}",
            most=f"{MOST[key]:g}",
            whole=key not in FRACTIONS,
            held=key in held,
        )
        for key in LEAST
    ]


@router.post("/settings/password", name="change_password")
def change_password(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Gives the visitor a new password; all their sessions end but this one, which begins anew."""
    queue = queue_of(request)
    address = request.client.host if request.client else ""
    new = field_of(form, "password")
    if new != field_of(form, "again"):
        return _page(request, visitor, problem=visitor.say("passwords_differ"), status=422)
    with HASHING:
        if blocked(queue, visitor.name, address):
            return _page(request, visitor, problem=visitor.say("too_many_attempts", minutes=10), status=429)
        if verify(queue, visitor.name, field_of(form, "old")) is None:
            note_attempt(queue, visitor.name, address, succeeded=False)
            return _page(request, visitor, problem=visitor.say("wrong_password"), status=403)
        try:
            set_password(queue, visitor.name, new, visitor.name)
        except QueueError as error:
            return _page(request, visitor, problem=str(error), status=422)
    return welcome(request, visitor.name, "/settings?done=password")


@router.post("/settings/tokens", name="make_token")
def make_token(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Makes a token for the API; it is shown once, and only its hash is kept."""
    try:
        secret = accounts.make_api_token(
            queue_of(request),
            visitor.name,
            field_of(form, "label"),
            field_of(form, "scope"),
            visitor.name,
            number_of(form, "days", 90),
        )
    except QueueError as error:
        return _page(request, visitor, problem=str(error), status=422)
    return _page(request, visitor, message=visitor.say("done_token"), secret=secret)


@router.post("/settings/tokens/revoke", name="revoke_token")
def revoke_token(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Ends a token: an own one, or for an admin anybody's."""
    owner = None if visitor.role in ADMINS else visitor.name
    accounts.revoke_api_token(queue_of(request), field_of(form, "token_id"), visitor.name, owner)
    return RedirectResponse("/settings?done=revoked", status_code=303)


@router.post("/settings/rules", name="change_rules")
def change_rules(request: Request, visitor: VisitorOf, form: FormOf) -> Response:
    """Changes the rules of the review, or gives the pipeline's parameters their force back."""
    queue = queue_of(request)
    if field_of(form, "act") == "release":
        release_held(queue, visitor.name)
        return RedirectResponse("/settings?done=released_rules", status_code=303)
    changes: dict[str, float] = {}
    policy = current_policy(queue)
    for key in LEAST:
        if field_of(form, key):
            try:
                value = float(field_of(form, key))
            except ValueError:
                problem = visitor.say("not_a_number", name=visitor.say(f"rule_{key}"))
                return _page(request, visitor, problem=problem, status=422)
            if value != getattr(policy, key):
                changes[key] = value
    try:
        if changes:
            change_policy(queue, visitor.name, **changes)
    except QueueError as error:
        return _page(request, visitor, problem=str(error), status=422)
    return RedirectResponse("/settings?done=rules", status_code=303)
