"""Answers on disk, from which a killed crawl goes on and a finished one asks what has changed."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable
from pathlib import Path
from typing import Any


class PageCache:
    """One file an answer, by the page's origin, so that the port of a local site does not matter.

    Pages, redirects and failures are kept alike. An unfinished crawl's answers are used as they are; a new crawl asks
    again, with the validators that it has.

    Attributes:
        resumed: whether an earlier run of this crawl did not come to its end.
        crawl: identifier of the present crawl.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        state = _state(folder)
        self.resumed = bool(state) and not state.get("finished", False)
        self.crawl = str(state["crawl"]) if self.resumed else uuid.uuid4().hex
        _write_state(folder, {"crawl": self.crawl, "finished": False, "whole": False})

    def close(self) -> None:
        """The crawl came to its end; ``finish_crawl`` closes it for good once its documents are written."""
        _write_state(self.folder, {"crawl": self.crawl, "finished": False, "whole": True})

    def get(self, origin: str) -> tuple[dict[str, Any], bytes] | None:
        """The head and body kept for an origin, or None; a torn file counts as none."""
        file = _file(self.folder, origin)
        try:
            head, _, body = file.read_bytes().partition(b"\n")
            fields: dict[str, Any] = json.loads(head)
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return (fields, body) if fields.get("bytes") == len(body) else None

    def put(self, origin: str, head: dict[str, Any], body: bytes) -> None:
        """Keep an answer; it appears whole or not at all."""
        fields = {**head, "path": origin, "crawl": self.crawl, "bytes": len(body)}
        file = _file(self.folder, origin)
        partial = file.with_suffix(".partial")
        partial.write_bytes(json.dumps(fields, ensure_ascii=False).encode() + b"\n" + body)
        partial.replace(file)

    def drop(self, origin: str) -> None:
        """Forget the answer."""
        _file(self.folder, origin).unlink(missing_ok=True)


def finish_crawl(folder: Path) -> None:
    """Close a crawl that came to its end: the next one asks for every page again. Others are left to go on."""
    state = _state(folder)
    if state.get("whole"):
        _write_state(folder, {**state, "finished": True})


def forget(folder: Path, origins: Iterable[str]) -> int:
    """Forget what was answered for these origins, and open the crawl again: the next run asks for them alone.

    Returns:
        How many answers were kept.
    """
    state = _state(folder)
    if not state:
        return 0
    gone = 0
    for origin in origins:
        file = _file(folder, origin)
        gone += file.exists()
        file.unlink(missing_ok=True)
    _write_state(folder, {"crawl": state["crawl"], "finished": False, "whole": False})
    return gone


def _file(folder: Path, origin: str) -> Path:
    return folder / f"{hashlib.sha256(origin.encode()).hexdigest()[:32]}.page"


def _state(folder: Path) -> dict[str, Any]:
    file = folder / "crawl.json"
    try:
        state = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}
    return state if isinstance(state, dict) else {}


def _write_state(folder: Path, state: dict[str, Any]) -> None:
    partial = folder / "crawl.partial"
    partial.write_text(json.dumps(state), encoding="utf-8")
    partial.replace(folder / "crawl.json")
