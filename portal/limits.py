"""What every request is held to and every answer carries, whatever its route."""

from __future__ import annotations

import json

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 1_000_000
"""Most bytes of a request."""

LARGEST_FILE = 20_000_000
"""Most bytes of an uploaded file."""

UPLOADS = ("/queue/share", "/api/share")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


class Limits:
    """Refuses bodies that are too large or unmeasured and addresses with NUL; sets the security headers."""

    def __init__(self, app: ASGIApp, forms_go_to: str = "") -> None:
        self.app = app
        self.policy = POLICY.replace("form-action 'self'", f"form-action 'self' {forms_go_to}".strip())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path: str = scope["path"]

        async def protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                _set(path, MutableHeaders(scope=message), scope["query_string"], self.policy)
            await send(message)

        refused = _refusal(scope)
        if refused is not None:
            status, words = refused
            body = json.dumps({"kind": "error", "message": words})
            await Response(body, status, media_type="application/json")(scope, receive, protected)
            return
        await self.app(scope, receive, protected)


def _refusal(scope: Scope) -> tuple[int, str] | None:
    headers = Headers(scope=scope)
    length = headers.get("content-length", "")
    most = LARGEST_FILE if scope["path"] in UPLOADS else LARGEST_BODY
    if "\0" in scope["path"] or b"%00" in scope["query_string"]:
        return 400, "the address holds NUL"
    if length and not (length.isascii() and length.isdigit()):
        return 400, "the length is no number"
    if not length and ("transfer-encoding" in headers or scope["method"] == "POST"):
        return 411, "length required"
    if length and (len(length) > 12 or int(length) > most):
        return 413, "too large"
    return None


def _set(path: str, headers: MutableHeaders, query: bytes, policy: str) -> None:
    headers["Content-Security-Policy"] = policy
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Referrer-Policy"] = "same-origin"
    headers["X-Frame-Options"] = "DENY"
    headers["Cross-Origin-Opener-Policy"] = "same-origin"
    if path.startswith("/static/"):
        headers["Cache-Control"] = "public, max-age=31536000, immutable" if query.startswith(b"v=") else "no-cache"
    elif "Cache-Control" not in headers:
        headers["Cache-Control"] = "no-store"


def protect(path: str, response: Response) -> Response:
    """The security headers on an answer that goes past the middleware."""
    _set(path, response.headers, b"", POLICY)
    return response
