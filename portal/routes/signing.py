"""Signing in and out, and the choice of language."""

from __future__ import annotations

import hmac
import secrets
from typing import Annotated

from fastapi import APIRouter, Cookie, Request
from starlette.responses import RedirectResponse, Response

from portal.access import COOKIE, LANGUAGE_COOKIE, FormOf, VisitorOf, field_of
from portal.contexts import SignInPage
from portal.render import render
from portal.words import say
from taxpraben.queue.people import SESSION_MINUTES, close_session, open_session, verify

router = APIRouter()

FORM_COOKIE = "taxpraben_form"
"""Proves that a sign-in form came from here, before there is a session."""


def local_path(onward: str) -> str:
    """A path on this site; anything else becomes the queue."""
    plain = onward.startswith("/") and not onward.startswith("//") and "\\" not in onward and onward.isprintable()
    return onward if plain else "/queue"


@router.get("/", name="home")
def home(visitor: VisitorOf) -> Response:
    """Where one begins: the own queue, or the sign-in."""
    return RedirectResponse("/queue" if visitor.member else "/sign-in", status_code=303)


@router.get("/sign-in", name="sign_in")
def sign_in(request: Request, visitor: VisitorOf, onward: str = "/queue", out: bool = False) -> Response:
    """The sign-in form."""
    if visitor.member is not None:
        return RedirectResponse(local_path(onward), status_code=303)
    message = say(visitor.language, "signed_out") if out else ""
    return _form(request, SignInPage(onward=local_path(onward), token=secrets.token_urlsafe(16), message=message))


def _form(request: Request, page: SignInPage, status: int = 200) -> Response:
    response = render(request, page, status)
    _set_cookie(request, response, FORM_COOKIE, page.token, 3600)
    return response


@router.post("/sign-in", name="sign_in_post")
def sign_in_post(
    request: Request, visitor: VisitorOf, form: FormOf, taxpraben_form: Annotated[str, Cookie()] = ""
) -> Response:
    """Checks name and password."""
    name, onward = field_of(form, "name").strip(), local_path(field_of(form, "onward"))
    attempts = request.app.state.attempts
    address = request.client.host if request.client else ""
    token = secrets.token_urlsafe(16)

    def again(key: str, status: int, **values: object) -> Response:
        problem = say(visitor.language, key, **values)
        return _form(request, SignInPage(onward=onward, token=token, name=name, problem=problem), status)

    if not taxpraben_form or not hmac.compare_digest(taxpraben_form.encode(), field_of(form, "token").encode()):
        return again("error_csrf", 403)
    if attempts.blocked(name, address):
        return again("too_many_attempts", 429, minutes=round(attempts.seconds / 60))
    queue = request.app.state.queue
    member = verify(queue, name, field_of(form, "password"))
    if member is None:
        attempts.failed(name, address)
        return again("wrong_sign_in", 401)
    attempts.succeeded(name)
    response = RedirectResponse(onward, status_code=303)
    _set_cookie(request, response, COOKIE, open_session(queue, member.name), SESSION_MINUTES * 60)
    response.delete_cookie(FORM_COOKIE)
    return response


@router.post("/sign-out", name="sign_out")
def sign_out(request: Request) -> Response:
    """Ends the session."""
    close_session(request.app.state.queue, request.cookies.get(COOKIE, ""))
    response = RedirectResponse("/sign-in?out=1", status_code=303)
    response.delete_cookie(COOKIE)
    return response


@router.get("/language/{language}", name="choose_language")
def choose_language(request: Request, language: str, onward: str = "/queue") -> Response:
    """Remembers the language and goes back to where one was."""
    response = RedirectResponse(local_path(onward), status_code=303)
    _set_cookie(request, response, LANGUAGE_COOKIE, "en" if language == "en" else "zh", 365 * 24 * 3600)
    return response


def _set_cookie(request: Request, response: Response, name: str, value: str, seconds: int) -> None:
    response.set_cookie(
        name, value, max_age=seconds, httponly=True, samesite="lax", secure=request.app.state.secure_cookies
    )
