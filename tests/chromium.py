"""The browser of the tests marked ``browser``: the one that ``make browser`` finds or fetches."""

from __future__ import annotations

import shutil
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome")
"""Programs of the system, in the order in which they are tried; Playwright's own comes last."""

REMEDY = "no Chromium on this machine: run `make browser`, or install one of " + ", ".join(NAMES)

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def find_chromium(playwrights_own: str) -> str:
    """The path of the browser; empty where there is none."""
    found = next((path for path in map(shutil.which, NAMES) if path), "")
    return found or (playwrights_own if playwrights_own and Path(playwrights_own).exists() else "")
