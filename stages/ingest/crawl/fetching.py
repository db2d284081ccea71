"""Fetching pages one at a time: delay, retries, redirects, and the cache from which a killed crawl goes on."""

from __future__ import annotations

import hashlib
import json
import time
import uuid
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from stages.ingest.crawl.urls import canonical, same_site, site_path

_TRIES = 3
_REDIRECTS = 5


@dataclass(frozen=True)
class Fetched:
    """An answer. ``status`` 0 means that none came; ``error`` says why the page cannot be used, or is empty."""

    url: str
    status: int
    data: bytes
    charset: str = ""
    error: str = ""


class PageCache:
    """Pages on disk by address relative to the site, so that the port of a local site does not matter.

    An unfinished crawl's pages are used as they are; a new crawl asks again, with the validators that it has.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.folder.mkdir(parents=True, exist_ok=True)
        self._state = folder / "crawl.json"
        state = json.loads(self._state.read_text(encoding="utf-8")) if self._state.exists() else {}
        self.resumed = bool(state) and not state.get("finished", False)
        self.crawl = str(state["crawl"]) if self.resumed else uuid.uuid4().hex
        self._write_state(finished=False)

    def finish(self) -> None:
        """Mark the crawl as whole: the next one asks for every page again."""
        self._write_state(finished=True)

    def _write_state(self, finished: bool) -> None:
        partial = self._state.with_suffix(".partial")
        partial.write_text(json.dumps({"crawl": self.crawl, "finished": finished}), encoding="utf-8")
        partial.replace(self._state)

    def _file(self, url: str) -> Path:
        return self.folder / f"{hashlib.sha256(site_path(url).encode()).hexdigest()[:32]}.page"

    def get(self, url: str) -> tuple[dict[str, Any], bytes] | None:
        """The head and body kept for an address, or None; a torn file counts as none."""
        file = self._file(url)
        if not file.exists():
            return None
        head, _, body = file.read_bytes().partition(b"\n")
        try:
            fields: dict[str, Any] = json.loads(head)
        except json.JSONDecodeError:
            return None
        return (fields, body) if fields.get("bytes") == len(body) else None

    def put(self, url: str, head: dict[str, Any], body: bytes) -> None:
        """Keep a page; it appears whole or not at all."""
        fields = {**head, "path": site_path(url), "crawl": self.crawl, "bytes": len(body)}
        file = self._file(url)
        partial = file.with_suffix(".partial")
        partial.write_bytes(json.dumps(fields, ensure_ascii=False).encode() + b"\n" + body)
        partial.replace(file)


class Fetcher:
    """Fetches pages of one site, one after the other.

    Attributes:
        delay: seconds between two requests.
        counts: ``asked`` (requests sent), ``cached`` (taken from the unfinished crawl), ``unchanged`` (304).
    """

    def __init__(
        self, client: httpx.Client, cache: PageCache, root: str, delay: float, max_bytes: int, revalidate: bool
    ) -> None:
        self.client = client
        self.cache = cache
        self.root = root
        self.delay = delay
        self.max_bytes = max_bytes
        self.revalidate = revalidate
        self.counts: Counter[str] = Counter()
        self._last = 0.0

    def fetch(self, url: str) -> Fetched:
        """The page at a canonical address of the site; never raises for what a site may do."""
        kept = self.cache.get(url)
        if kept is not None and kept[0].get("crawl") == self.cache.crawl:
            self.counts["cached"] += 1
            return Fetched(url, 200, kept[1], str(kept[0].get("charset", "")))
        headers = {}
        if kept is not None and self.revalidate:
            if kept[0].get("etag"):
                headers["If-None-Match"] = str(kept[0]["etag"])
            if kept[0].get("modified"):
                headers["If-Modified-Since"] = str(kept[0]["modified"])
        target = url
        for _ in range(_REDIRECTS + 1):
            answer = self._ask(target, headers)
            if isinstance(answer, str):
                return Fetched(url, 0, b"", error=answer)
            if answer.status_code == 304 and kept is not None:
                self.counts["unchanged"] += 1
                self.cache.put(url, kept[0], kept[1])
                return Fetched(url, 200, kept[1], str(kept[0].get("charset", "")))
            if answer.is_redirect:
                target = canonical(answer.headers.get("location", ""), target)
                if not target or not same_site(target, self.root):
                    return Fetched(
                        url, answer.status_code, b"", error=f"redirects off the site to {target or 'nowhere'}"
                    )
                continue
            return self._judge(url, answer)
        return Fetched(url, 0, b"", error=f"more than {_REDIRECTS} redirects")

    def store(self, page: Fetched, headers: dict[str, str]) -> None:
        """Keep a page that was found good (a firewall's page never is)."""
        self.cache.put(page.url, {"charset": page.charset, **headers}, page.data)

    def _judge(self, url: str, answer: httpx.Response) -> Fetched:
        if answer.status_code != 200:
            return Fetched(url, answer.status_code, b"", error=f"answered {answer.status_code}")
        kind = answer.headers.get("content-type", "text/html").split(";")[0].strip().lower()
        if kind not in ("text/html", "application/xhtml+xml", "text/plain", "application/octet-stream", ""):
            return Fetched(url, 200, b"", error=f"is {kind}, not a page")
        if len(answer.content) > self.max_bytes:
            return Fetched(url, 200, b"", error=f"holds {len(answer.content)} bytes, above the cap of {self.max_bytes}")
        page = Fetched(url, 200, answer.content, answer.charset_encoding or "")
        if not is_firewall(page.data):
            head = {"etag": answer.headers.get("etag", ""), "modified": answer.headers.get("last-modified", "")}
            self.store(page, head)
        return page

    def _ask(self, url: str, headers: dict[str, str]) -> httpx.Response | str:
        """The response, or why none came; 5xx, 429 and lost connections are tried again."""
        cause = ""
        for attempt in range(_TRIES):
            wait = self._last + max(self.delay, 0.0 if attempt == 0 else min(2.0**attempt * max(self.delay, 0.1), 30.0))
            time.sleep(max(0.0, wait - time.monotonic()))
            self.counts["asked"] += 1
            self._last = time.monotonic()
            try:
                answer = self.client.get(url, headers=headers)
            except httpx.HTTPError as error:
                cause = f"gave no answer ({type(error).__name__})"
                continue
            if answer.status_code < 500 and answer.status_code != 429:
                return answer
            cause = f"answered {answer.status_code}"
        return f"{cause} in {_TRIES} tries"


def is_firewall(data: bytes) -> bool:
    """Whether the bytes are a firewall's script page (``arg1`` and ``renderData``) and no text of the site."""
    return b"arg1" in data and b"renderData" in data
