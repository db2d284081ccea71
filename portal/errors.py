"""What goes wrong, as a page for people and as JSON for programs."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from portal.contexts import EndedPage, ErrorPage
from portal.forms import collect
from portal.guard import (
    NeedsSignInError,
    NotAllowedError,
    StaleFormError,
    form_of,
    texts_of,
    visitor_without_session,
    wants_json,
)
from portal.limits import protect
from portal.render import render
from portal.words import say
from taxpraben.queue.states import FrozenError, NotFoundError, NotYoursError, QueueError, UnkeptTextError


def handle_errors(app: FastAPI) -> None:
    """Give every known error its answer."""
    app.add_exception_handler(NeedsSignInError, _needs_sign_in)
    app.add_exception_handler(NotAllowedError, _not_allowed)
    app.add_exception_handler(StaleFormError, _stale_form)
    app.add_exception_handler(QueueError, _queue_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _not_valid)
    app.add_exception_handler(Exception, _failure)


def _is_api(request: Request) -> bool:
    return request.url.path.startswith("/api/")


def _error(request: Request, status: int, cause: str, headers: dict[str, str] | None = None) -> Response:
    if _is_api(request) or wants_json(request):
        kind = "signed_out" if status == 401 else "error"
        return JSONResponse({"kind": kind, "message": cause}, status_code=status, headers=headers)
    if not hasattr(request.state, "visitor"):
        request.state.visitor = visitor_without_session(request)
    return render(request, ErrorPage(status=status, cause=cause), status)


def _said(request: Request, key: str) -> str:
    if _is_api(request):
        return say("en", key)
    visitor = getattr(request.state, "visitor", None) or visitor_without_session(request)
    return str(visitor.say(key))


async def _needs_sign_in(request: Request, _error_given: Exception) -> Response:
    if _is_api(request):
        return _error(request, 401, "A valid bearer token is needed", {"WWW-Authenticate": "Bearer"})
    if wants_json(request):
        return JSONResponse({"kind": "signed_out"}, status_code=401)
    if request.method != "POST":
        return RedirectResponse(f"/sign-in?onward={quote(request.url.path)}", status_code=303)
    typed = collect(texts_of(await form_of(request)))
    texts = [(name, value if isinstance(value, str) else ", ".join(value)) for name, value in typed.items() if value]
    onward = "/".join(request.url.path.split("/")[:3]) if request.url.path.startswith("/pieces/") else "/queue"
    return render(request, EndedPage(onward=onward, texts=texts), 401)


async def _not_allowed(request: Request, _error_given: Exception) -> Response:
    return _error(request, 403, _said(request, "error_403"))


async def _stale_form(request: Request, _error_given: Exception) -> Response:
    return _error(request, 403, _said(request, "error_csrf"))


async def _not_valid(request: Request, error: Exception) -> Response:
    if not _is_api(request):
        return _error(request, 404, _said(request, "error_404"))
    found = error.errors() if isinstance(error, RequestValidationError) else []
    # What was sent is not said back: it may be large, and need not be text.
    problems = [_printable(f"{'.'.join(map(str, each['loc']))}: {each['msg']}") for each in found[:20]]
    reply = {"kind": "error", "message": "The request does not have the asked form", "problems": problems}
    return JSONResponse(reply, status_code=422)


def _printable(text: str) -> str:
    return text.encode("utf-8", errors="replace").decode()[:300]


async def _queue_error(request: Request, error: Exception) -> Response:
    if isinstance(error, NotFoundError):
        return _error(request, 404, _said(request, "error_404"))
    if isinstance(error, FrozenError):
        return _error(request, 409, _said(request, "frozen"))
    if isinstance(error, NotYoursError):
        return _error(request, 409, _said(request, "not_held"))
    return _error(request, 422 if isinstance(error, UnkeptTextError) else 400, str(error))


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = dict(error.headers) if isinstance(error, HTTPException) and error.headers else None
    if status == 404:
        return _error(request, 404, _said(request, "error_404"))
    response = _error(request, status, str(getattr(error, "detail", "")), headers)
    for name, value in (headers or {}).items():
        response.headers[name] = value
    return response


async def _failure(request: Request, _error_given: Exception) -> Response:
    # This handler stands outside of the middleware that sets the headers.
    return protect(request.url.path, _error(request, 500, _said(request, "error_500")))
