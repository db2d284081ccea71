"""The portal as a web application: routes, limits, what runs beside them."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Depends, FastAPI
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles

from portal.access import ACCESS
from portal.api import checking as api_checking
from portal.api import schema as api_schema
from portal.api import work as api_work
from portal.errors import handle_errors
from portal.guard import guard
from portal.limits import Limits
from portal.oidc import provider_from
from portal.render import HERE
from portal.routes import checking, elsewhere, judging, overview, people, rating, review, settings, signing
from taxpraben.queue.store import Queue, open_queue
from taxpraben.queue.webhooks import deliver_due
from taxpraben.tasks.catalog import load_catalog
from taxpraben.workspace import open_workspace

PAGES: tuple[APIRouter, ...] = (
    signing.router,
    elsewhere.router,
    review.router,
    judging.router,
    rating.router,
    checking.router,
    overview.router,
    settings.router,
    people.router,
)
API: tuple[APIRouter, ...] = (api_schema.router, api_work.router, api_checking.router)

DELIVERY_SECONDS = 5.0
"""How often events that wait for webhooks are sent."""


def routes_of(routers: tuple[APIRouter, ...] = (*PAGES, *API)) -> list[APIRoute]:
    """The routes, in order."""
    return [route for router in routers for route in router.routes if isinstance(route, APIRoute)]


def create_app(
    queue_url: str,
    workspace_root: Path,
    secure_cookies: bool = False,
    public_address: str = "",
    environment: Mapping[str, str] = os.environ,
) -> FastAPI:
    """The application over one queue and one workspace.

    Args:
        queue_url: SQLAlchemy URL of the queue.
        workspace_root: the folder with params.yaml, whose standings and checks are shown.
        secure_cookies: send cookies over HTTPS only; set it behind a TLS proxy.
        public_address: where people reach the portal, for links in invitations and for the way back from an OpenID
            Connect provider; by default the address of the request.
        environment: holds the provider's credentials.

    Raises:
        StoreError: the queue cannot be opened.
        WorkspaceError: the folder holds no workspace.
        ProviderError: the environment names half a provider.
    """
    _must_be_in_the_table()
    provider = provider_from(environment)
    queue = open_queue(queue_url)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        ended = threading.Event()
        sender = threading.Thread(target=_send_events, args=(queue, ended), daemon=True)
        sender.start()
        yield
        ended.set()
        sender.join(DELIVERY_SECONDS)
        queue.close()

    app = FastAPI(
        title="TaxPraBen portal",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        dependencies=[Depends(guard)],
    )
    state: dict[str, Any] = {
        "queue": queue,
        "root": workspace_root,
        "pages": open_workspace(workspace_root).pages,
        "catalog": load_catalog(),
        "provider": provider,
        "secure_cookies": secure_cookies,
        "public_address": public_address,
        "api_schema": api_schema.describe(routes_of(API)),
    }
    for name, value in state.items():
        setattr(app.state, name, value)
    for router in (*PAGES, *API):
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    handle_errors(app)
    app.add_middleware(Limits, forms_go_to=provider.origin if provider is not None else "")
    return app


def _must_be_in_the_table() -> None:
    names = [route.name for route in routes_of()]
    twice = {name for name in names if names.count(name) > 1}
    if set(names) != set(ACCESS) or twice:
        raise RuntimeError(f"portal/access.py: routes and table differ in {sorted(set(names) ^ set(ACCESS) | twice)}")


def _send_events(queue: Queue, ended: threading.Event) -> None:
    """Send what waits for webhooks, every few seconds, until the portal stops; several processes may do so at once."""
    while not ended.wait(DELIVERY_SECONDS):
        try:
            deliver_due(queue)
        except Exception:
            # Whatever a receiver or the database does, the next round tries again; the pages are not held up by it.
            logging.getLogger(__name__).exception("Events for webhooks were not sent; trying again")
