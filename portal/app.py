"""The portal as a web application: routes, errors as pages, headers."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, RedirectResponse, Response

from portal.access import ACCESS, Attempts, NeedsSignInError, NotAllowedError, StaleFormError, Visitor, guard
from portal.contexts import EndedPage, ErrorPage
from portal.forms import collect
from portal.render import HERE, render
from portal.routes import checking, overview, people, review, signing
from portal.words import say
from taxpraben.queue.states import FrozenError, NotFoundError, NotYoursError, QueueError
from taxpraben.queue.store import open_queue
from taxpraben.tasks.catalog import load_catalog

ROUTERS = (signing.router, review.router, checking.router, overview.router, people.router)

LARGEST_BODY = 1_000_000
"""Most bytes of a request."""

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


def create_app(queue_url: str, workspace_root: Path, secure_cookies: bool = False) -> FastAPI:
    """The application over one queue and one workspace.

    Args:
        queue_url: SQLAlchemy URL of the queue.
        workspace_root: the folder with params.yaml, whose standings and checks are shown.
        secure_cookies: send cookies over HTTPS only; set it behind a TLS proxy.

    Raises:
        StoreError: the queue cannot be opened.
    """
    queue = open_queue(queue_url)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        queue.close()

    app = FastAPI(
        title="TaxPraBen portal",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=lifespan,
        dependencies=[Depends(guard)],
    )
    app.state.queue = queue
    app.state.root = workspace_root
    app.state.catalog = load_catalog()
    app.state.attempts = Attempts(clock=time.monotonic)
    app.state.secure_cookies = secure_cookies
    for router in ROUTERS:
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    _must_be_in_the_table()
    _handle_errors(app)
    app.middleware("http")(_limit_and_headers)
    return app


def _must_be_in_the_table() -> None:
    names = {route.name for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)}
    if names != set(ACCESS):
        raise RuntimeError(f"portal/access.py: routes and table differ in {sorted(names ^ set(ACCESS))}")


async def _limit_and_headers(request: Request, call: Callable[[Request], Awaitable[Response]]) -> Response:
    length = request.headers.get("content-length", "")
    if request.method == "POST" and not (length.isascii() and length.isdigit()):
        response: Response = Response("length required", status_code=411)
    elif length and int(length) > LARGEST_BODY:
        response = Response("too large", status_code=413)
    else:
        response = await call(request)
    return _protected(request, response)


def _protected(request: Request, response: Response) -> Response:
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["X-Content-Type-Options"] = "nosniff"
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["X-Frame-Options"] = "DENY"
    if not request.url.path.startswith("/static/"):
        response.headers["Cache-Control"] = "no-store"
    return response


def _handle_errors(app: FastAPI) -> None:
    app.add_exception_handler(NeedsSignInError, _needs_sign_in)
    app.add_exception_handler(NotAllowedError, _not_allowed)
    app.add_exception_handler(StaleFormError, _stale_form)
    app.add_exception_handler(QueueError, _queue_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _not_found)
    app.add_exception_handler(Exception, _failure)


def _wants_json(request: Request) -> bool:
    return "application/json" in request.headers.get("accept", "")


def _error(request: Request, status: int, cause: str) -> Response:
    if _wants_json(request):
        return JSONResponse({"kind": "error", "message": cause}, status_code=status)
    if not hasattr(request.state, "visitor"):
        request.state.visitor = Visitor(None, "", "zh")
    return render(request, ErrorPage(status=status, cause=cause), status)


def _said(request: Request, key: str) -> str:
    visitor = getattr(request.state, "visitor", None)
    return say(visitor.language if visitor is not None else "zh", key)


async def _needs_sign_in(request: Request, _error: Exception) -> Response:
    if _wants_json(request):
        return JSONResponse({"kind": "signed_out"}, status_code=401)
    if request.method != "POST":
        return RedirectResponse(f"/sign-in?onward={quote(request.url.path)}", status_code=303)
    form = await request.form()
    typed = collect([(name, value) for name, value in form.multi_items() if isinstance(value, str)])
    texts = [(name, value if isinstance(value, str) else ", ".join(value)) for name, value in typed.items() if value]
    onward = "/".join(request.url.path.split("/")[:3]) if request.url.path.startswith("/pieces/") else "/queue"
    return render(request, EndedPage(onward=onward, texts=texts), 401)


async def _not_allowed(request: Request, _error_given: Exception) -> Response:
    return _error(request, 403, _said(request, "error_403"))


async def _stale_form(request: Request, _error_given: Exception) -> Response:
    return _error(request, 403, _said(request, "error_csrf"))


async def _not_found(request: Request, _error_given: Exception) -> Response:
    return _error(request, 404, _said(request, "error_404"))


async def _queue_error(request: Request, error: Exception) -> Response:
    if isinstance(error, NotFoundError):
        return _error(request, 404, _said(request, "error_404"))
    if isinstance(error, FrozenError):
        return _error(request, 409, _said(request, "frozen"))
    if isinstance(error, NotYoursError):
        return _error(request, 409, _said(request, "not_held"))
    return _error(request, 400, str(error))


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    if status == 404:
        return _error(request, 404, _said(request, "error_404"))
    return _error(request, status, str(getattr(error, "detail", "")))


async def _failure(request: Request, _error_given: Exception) -> Response:
    # This handler stands outside of the middleware that sets the headers.
    return _protected(request, _error(request, 500, _said(request, "error_500")))
