"""Starts the portal on this machine."""

from __future__ import annotations

import ipaddress
import sys
from pathlib import Path

from portal.app import create_app
from taxpraben.queue.people import people
from taxpraben.workspace import open_workspace


def serve(workspace_root: Path, host: str = "127.0.0.1", port: int = 8350, secure_cookies: bool = False) -> None:
    """Serve the portal of a workspace until it is stopped.

    Args:
        workspace_root: the folder with params.yaml.
        host: address to listen on; other machines reach it only on an address of the network, behind a TLS proxy.
        port: port to listen on.
        secure_cookies: browsers send the session over HTTPS only; for a portal behind a TLS proxy.

    Raises:
        WorkspaceError: the folder holds no workspace.
        StoreError: the queue cannot be opened.
    """
    import uvicorn

    workspace = open_workspace(workspace_root)
    app = create_app(workspace.queue_url, workspace_root, secure_cookies)
    if not people(app.state.queue):
        print(
            "Nobody can sign in yet. Add the first person in another terminal:\n"
            "  taxpraben review person NAME --role admin",
            file=sys.stderr,
        )
    if not _is_loopback(host):
        advice = "" if secure_cookies else " and start this with --secure-cookies"
        print(f"Listening on {host} without TLS: put a proxy with TLS before it{advice}.", file=sys.stderr)
    print(f"Portal of profile {workspace.profile!r}: http://{host}:{port}/ (Ctrl-C stops it)", file=sys.stderr)
    uvicorn.run(app, host=host, port=port, log_level="warning", server_header=False)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
