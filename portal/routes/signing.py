"""Signing in and out, invitations, and the choice of language and look."""

from __future__ import annotations

import hmac
import secrets
from threading import BoundedSemaphore
from typing import Annotated

from fastapi import APIRouter, Cookie, Path, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from portal.contexts import InvitationPage, SignInPage
from portal.guard import (
    COOKIE,
    HINTS_COOKIE,
    LANGUAGE_COOKIE,
    THEME_COOKIE,
    THEMES,
    FormOf,
    Visitor,
    VisitorOf,
    field_of,
    queue_of,
    wants_json,
)
from portal.oidc import Provider
from portal.render import render
from taxpraben.queue.accounts import accept_invitation as take_up
from taxpraben.queue.accounts import find_invitation
from taxpraben.queue.attempts import blocked, note_attempt
from taxpraben.queue.people import (
    SESSION_MINUTES,
    SHORTEST_PASSWORD,
    Session,
    close_session,
    find_session,
    open_session,
    verify,
)
from taxpraben.queue.states import NotFoundError, QueueError

router = APIRouter()

FORM_COOKIE = "taxpraben_form"
"""Proves that a form came from here, before there is a session."""

HASHING = BoundedSemaphore(4)
"""Each password check takes 64 MiB and a core for a while, by design; so only few at once."""

Secret = Annotated[str, Path(max_length=100)]


def local_path(onward: str) -> str:
    """A path on this site; anything else becomes the queue."""
    plain = onward.startswith("/") and not onward.startswith("//") and "\\" not in onward and onward.isprintable()
    return onward if plain else "/queue"


def elsewhere(request: Request) -> str:
    """The name of the OpenID Connect provider; empty where none is set up."""
    provider: Provider | None = request.app.state.provider
    return provider.title if provider is not None else ""


@router.get("/", name="home")
def home(visitor: VisitorOf) -> Response:
    """Where one begins: the own queue, or the sign-in."""
    return RedirectResponse("/queue" if visitor.member else "/sign-in", status_code=303)


@router.get("/sign-in", name="sign_in")
def sign_in(request: Request, visitor: VisitorOf, onward: str = "/queue", out: bool = False) -> Response:
    """The sign-in form; for a script that signs somebody in again in place, what it needs to know."""
    if wants_json(request):
        return _tell(request, visitor)
    if visitor.member is not None:
        return RedirectResponse(local_path(onward), status_code=303)
    message = visitor.say("signed_out") if out else ""
    return _form(request, local_path(onward), message=message)


def _tell(request: Request, visitor: Visitor) -> Response:
    if visitor.member is not None:
        return JSONResponse({"kind": "signed_in", "name": visitor.name, "csrf": visitor.csrf})
    token = secrets.token_urlsafe(16)
    response = JSONResponse({"kind": "form", "token": token})
    set_cookie(request, response, FORM_COOKIE, token, 3600)
    return response


def _form(
    request: Request, onward: str, message: str = "", name: str = "", problem: str = "", status: int = 200
) -> Response:
    token = secrets.token_urlsafe(16)
    page = SignInPage(
        onward=onward, token=token, message=message, name=name, problem=problem, elsewhere=elsewhere(request)
    )
    response: Response = render(request, page, status)
    if wants_json(request):
        response = JSONResponse({"kind": "form", "token": token, "message": problem}, status_code=status)
    set_cookie(request, response, FORM_COOKIE, token, 3600)
    return response


def _came_from_here(form: FormOf, cookie: str) -> bool:
    given = field_of(form, "token")
    return bool(cookie) and hmac.compare_digest(cookie.encode(errors="replace"), given.encode(errors="replace"))


@router.post("/sign-in", name="sign_in_post")
def sign_in_post(
    request: Request, visitor: VisitorOf, form: FormOf, taxpraben_form: Annotated[str, Cookie()] = ""
) -> Response:
    """Checks name and password."""
    queue = queue_of(request)
    name, onward = field_of(form, "name").strip(), local_path(field_of(form, "onward"))
    address = request.client.host if request.client else ""

    def again(key: str, status: int, **values: object) -> Response:
        return _form(request, onward, name=name, problem=visitor.say(key, **values), status=status)

    if not _came_from_here(form, taxpraben_form):
        return again("error_csrf", 403)
    with HASHING:
        # Asked when it is this one's turn, so that many at once get no more guesses than one after another.
        wait = blocked(queue, name, address)
        if wait:
            return again("too_many_attempts", 429, minutes=max(1, round(wait)))
        member = verify(queue, name, field_of(form, "password"))
        if member is None:
            note_attempt(queue, name, address, succeeded=False)
            return again("wrong_sign_in", 401)
    note_attempt(queue, name, address, succeeded=True)
    return welcome(request, member.name, onward)


def welcome(request: Request, name: str, onward: str) -> Response:
    """Open somebody's session and lead them on; an older session of the browser ends."""
    queue = queue_of(request)
    before = request.cookies.get(COOKIE, "")
    if before:
        close_session(queue, before)
    secret = open_session(queue, name)
    response: Response = RedirectResponse(onward, status_code=303)
    if wants_json(request):
        session: Session | None = find_session(queue, secret)
        csrf = session.csrf if session is not None else ""
        response = JSONResponse({"kind": "signed_in", "name": name, "csrf": csrf})
    set_cookie(request, response, COOKIE, secret, SESSION_MINUTES * 60)
    response.delete_cookie(FORM_COOKIE)
    return response


@router.post("/sign-out", name="sign_out")
def sign_out(request: Request) -> Response:
    """Ends the session."""
    close_session(queue_of(request), request.cookies.get(COOKIE, ""))
    response = RedirectResponse("/sign-in?out=1", status_code=303)
    response.delete_cookie(COOKIE)
    return response


@router.get("/invitations/{secret}", name="invitation")
def invitation(request: Request, secret: Secret) -> Response:
    """An invitation: the invited person sets a password of their own, or takes an account elsewhere."""
    return _invitation(request, secret)


def _invitation(request: Request, secret: str, problem: str = "", status: int = 200) -> Response:
    token = secrets.token_urlsafe(16)
    found = find_invitation(queue_of(request), secret)
    page = InvitationPage(
        invitation=found,
        secret=secret,
        token=token,
        shortest=SHORTEST_PASSWORD,
        problem=problem,
        elsewhere=elsewhere(request),
    )
    response = render(request, page, status if found is not None else 404)
    set_cookie(request, response, FORM_COOKIE, token, 3600)
    return response


@router.post("/invitations/{secret}", name="accept_invitation")
def accept_invitation(
    request: Request, visitor: VisitorOf, form: FormOf, secret: Secret, taxpraben_form: Annotated[str, Cookie()] = ""
) -> Response:
    """Takes an invitation up and signs the person in."""
    if not _came_from_here(form, taxpraben_form):
        return _invitation(request, secret, visitor.say("error_csrf"), 403)
    password = field_of(form, "password")
    if password != field_of(form, "again"):
        return _invitation(request, secret, visitor.say("passwords_differ"), 422)
    if len(password) < SHORTEST_PASSWORD:
        return _invitation(request, secret, visitor.say("password_short", shortest=SHORTEST_PASSWORD), 422)
    try:
        with HASHING:
            member = take_up(queue_of(request), secret, password)
    except NotFoundError:
        return _invitation(request, secret, status=404)
    except QueueError as error:
        return _invitation(request, secret, str(error), 422)
    return welcome(request, member.name, "/queue?done=welcome")


@router.get("/choose/{what}/{value}", name="choose")
def choose(request: Request, what: str, value: str, onward: str = "/queue") -> Response:
    """Remembers the language, the theme, or whether keys are shown, and goes back to where one was."""
    known = {
        "language": (LANGUAGE_COOKIE, ("zh", "en")),
        "theme": (THEME_COOKIE, THEMES),
        "hints": (HINTS_COOKIE, ("on", "off")),
    }
    response = RedirectResponse(local_path(onward), status_code=303)
    if what in known and value in known[what][1]:
        set_cookie(request, response, known[what][0], value, 365 * 24 * 3600)
    return response


def set_cookie(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    """A cookie that scripts cannot read and other sites' forms do not send."""
    response.set_cookie(
        name, value, max_age=seconds, httponly=True, samesite="lax", secure=request.app.state.secure_cookies
    )
