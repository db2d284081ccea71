"""Starts the portal on this machine."""

from __future__ import annotations

import ipaddress
import os
import sys
from pathlib import Path

from fastapi import FastAPI

from portal.app import create_app
from portal.oidc import provider_from
from taxpraben.queue.people import people
from taxpraben.queue.store import open_queue
from taxpraben.workspace import open_workspace

ROOT, SECURE, PUBLIC = "TAXPRABEN_PORTAL_ROOT", "TAXPRABEN_PORTAL_SECURE", "TAXPRABEN_PORTAL_URL"
"""Several processes are started by uvicorn, which hands them nothing but the environment."""


def serve(
    workspace_root: Path,
    host: str = "127.0.0.1",
    port: int = 8350,
    secure_cookies: bool = False,
    workers: int = 1,
) -> None:
    """Serve the portal of a workspace until it is stopped.

    Args:
        workspace_root: the folder with params.yaml.
        host: address to listen on; other machines reach it only on an address of the network, behind a TLS proxy.
        port: port to listen on.
        secure_cookies: browsers send the session over HTTPS only; for a portal behind a TLS proxy.
        workers: processes; more than one helps with PostgreSQL only.

    Raises:
        WorkspaceError: the folder holds no workspace.
        StoreError: the queue cannot be opened.
        ProviderError: the environment names half an OpenID Connect provider.
    """
    import uvicorn

    workspace = open_workspace(workspace_root)
    provider_from(os.environ)
    queue = open_queue(workspace.queue_url)
    if not people(queue):
        print(
            "Nobody can sign in yet. Add the first person in another terminal:\n"
            "  taxpraben review person NAME --role admin",
            file=sys.stderr,
        )
    queue.close()
    if not _is_loopback(host):
        advice = "" if secure_cookies else " and start this with --secure-cookies"
        print(f"Listening on {host} without TLS: put a proxy with TLS before it{advice}.", file=sys.stderr)
    print(f"Portal of profile {workspace.profile!r}: http://{host}:{port}/ (Ctrl-C stops it)", file=sys.stderr)
    os.environ |= {ROOT: str(workspace_root.resolve()), SECURE: "yes" if secure_cookies else ""}
    uvicorn.run(
        "portal.serve:app_of_environment",
        factory=True,
        host=host,
        port=port,
        workers=workers,
        log_level="warning",
        server_header=False,
    )


def app_of_environment() -> FastAPI:
    """The application that ``serve`` asked for, in a process that uvicorn started."""
    root = Path(os.environ[ROOT])
    secure = bool(os.environ.get(SECURE))
    return create_app(open_workspace(root).queue_url, root, secure, os.environ.get(PUBLIC, ""))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
