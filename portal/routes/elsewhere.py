"""Signing in with an account elsewhere, and linking one."""

from __future__ import annotations

import hmac
import json
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from portal.contexts import ErrorPage
from portal.guard import Visitor, VisitorOf, queue_of
from portal.oidc import Account, Provider, ProviderError, email_subject
from portal.render import render
from portal.routes.signing import local_path, set_cookie, welcome
from taxpraben.queue.accounts import accept_invitation_by_identity, find_identity, link_identity
from taxpraben.queue.people import Member
from taxpraben.queue.states import NotFoundError, QueueError

router = APIRouter()

ROUND_TRIP = "taxpraben_oidc"
"""Cookie: what was started in this browser. It is the browser's own secret, so it need not be signed."""

BACK = "/oidc/back"


def _provider(request: Request) -> Provider:
    provider: Provider | None = request.app.state.provider
    if provider is None:
        raise NotFoundError("No OpenID Connect provider is set up")
    return provider


def _redirect_uri(request: Request) -> str:
    public: str = request.app.state.public_address
    return (public or str(request.base_url)).rstrip("/") + BACK


@router.get("/oidc/start", name="oidc_start")
def oidc_start(request: Request, visitor: VisitorOf, onward: str = "/queue", invitation: str = "") -> Response:
    """Sends the browser to the provider, to sign in or to take an invitation up."""
    return _start(request, visitor, {"onward": local_path(onward), "invitation": invitation[:100]})


@router.post("/oidc/link", name="oidc_link")
def oidc_link(request: Request, visitor: VisitorOf) -> Response:
    """Sends the browser to the provider, to link an account there with the one here."""
    return _start(request, visitor, {"link": visitor.name})


def _start(request: Request, visitor: Visitor, more: dict[str, str]) -> Response:
    try:
        started = _provider(request).start(_redirect_uri(request))
    except ProviderError:
        return _failed(request, visitor, "oidc_unreachable", 502)
    kept = {"state": started.state, "nonce": started.nonce, "verifier": started.verifier, **more}
    response = RedirectResponse(started.address, status_code=303)
    set_cookie(request, response, ROUND_TRIP, json.dumps(kept).encode().hex(), 600)
    return response


@router.get(BACK, name="oidc_back")
def oidc_back(request: Request, visitor: VisitorOf, code: str = "", state: str = "") -> Response:
    """Takes the browser back from the provider."""
    provider = _provider(request)
    kept = _kept(request.cookies.get(ROUND_TRIP, ""))
    if not code or not hmac.compare_digest(str(kept.get("state", "")).encode(), state.encode(errors="replace")):
        return _failed(request, visitor, "oidc_refused", 403)
    try:
        account = provider.finish(_redirect_uri(request), code, str(kept["nonce"]), str(kept["verifier"]))
    except ProviderError:
        return _failed(request, visitor, "oidc_refused", 403)
    try:
        response = _let_in(request, visitor, account, kept)
    except QueueError as error:
        response = render(request, ErrorPage(status=403, cause=str(error)), 403)
    response.delete_cookie(ROUND_TRIP)
    return response


def _let_in(request: Request, visitor: Visitor, account: Account, kept: dict[str, Any]) -> Response:
    queue = queue_of(request)
    if kept.get("link"):
        if kept["link"] != visitor.name:
            return _failed(request, visitor, "oidc_refused", 403)
        link_identity(queue, account.issuer, account.subject, visitor.name, account.email, visitor.name)
        return RedirectResponse("/settings?done=linked", status_code=303)
    if kept.get("invitation"):
        member: Member | None = accept_invitation_by_identity(
            queue, str(kept["invitation"]), account.issuer, account.subject, account.email
        )
    else:
        member = find_identity(queue, account.issuer, account.subject) or _known_by_email(request, account)
    if member is None:
        return _failed(request, visitor, "oidc_unknown", 403)
    return welcome(request, member.name, local_path(str(kept.get("onward", ""))))


def _known_by_email(request: Request, account: Account) -> Member | None:
    """Whom an admin linked to the verified address; from now on the provider's subject stands for them."""
    if not account.email:
        return None
    queue = queue_of(request)
    member = find_identity(queue, account.issuer, email_subject(account.email))
    if member is not None:
        link_identity(queue, account.issuer, account.subject, member.name, account.email, member.name)
    return member


def _kept(cookie: str) -> dict[str, Any]:
    try:
        kept = json.loads(bytes.fromhex(cookie))
    except ValueError:
        return {}
    return kept if isinstance(kept, dict) and {"state", "nonce", "verifier"} <= set(kept) else {}


def _failed(request: Request, visitor: Visitor, key: str, status: int) -> Response:
    return render(request, ErrorPage(status=status, cause=visitor.say(key)), status)
