"""Fetching pages one at a time: delay, retries, caps, and the cache from which a killed crawl goes on."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx

from stages.ingest.crawl.barriers import barrier
from stages.ingest.crawl.pace import Pace
from stages.ingest.crawl.page_cache import PageCache
from stages.ingest.crawl.urls import Link, canonical

_TRIES = 3
_SCHEME_CHANGES = 3
_LONGEST_WAIT = 60.0
_PAGES = ("text/html", "application/xhtml+xml", "text/plain", "application/octet-stream", "")


@dataclass(frozen=True)
class Fetched:
    """An answer.

    Attributes:
        status: of HTTP; 0 means that no answer came.
        error: why there is no page, or empty.
        redirect: where the page has gone, or empty.
        refused: whether the site turned the crawler away or was not there at all, so that asking on is no use.
    """

    origin: str
    status: int
    data: bytes = b""
    charset: str = ""
    error: str = ""
    redirect: str = ""
    refused: bool = False


@dataclass(frozen=True)
class _Answer:
    status: int
    headers: httpx.Headers
    data: bytes
    charset: str


class Fetcher:
    """Fetches pages, one after the other; never raises for what a site may do.

    Attributes:
        accepted: media types beside pages that the adapters read.
        counts: ``asked`` (requests sent), ``cached`` (taken from the unfinished crawl), ``unchanged`` (304),
            ``bytes``.
    """

    def __init__(
        self,
        client: httpx.Client,
        cache: PageCache,
        root: str,
        pace: Pace,
        timeout: float,
        max_bytes: int,
        revalidate: bool,
        accepted: Collection[str] = (),
    ) -> None:
        self.client = client
        self.cache = cache
        self.root = root
        self.pace = pace
        self.timeout = timeout
        self.max_bytes = max_bytes
        self.revalidate = revalidate
        self.accepted = {*_PAGES, *accepted}
        self.counts: Counter[str] = Counter()

    def fetch(self, link: Link, delay: float, headers: dict[str, str]) -> Fetched:
        """The page of a link, from the cache of this crawl where it has been answered already."""
        origin = link.origin(self.root)
        kept = self.cache.get(origin)
        if kept is not None and kept[0].get("crawl") == self.cache.crawl:
            self.counts["cached"] += 1
            return _from_cache(origin, *kept)
        known = kept is not None and self.revalidate and not kept[0].get("error") and not kept[0].get("redirect")
        sent = dict(headers)
        if known and kept is not None:
            if kept[0].get("etag"):
                sent["If-None-Match"] = str(kept[0]["etag"])
            if kept[0].get("modified"):
                sent["If-Modified-Since"] = str(kept[0]["modified"])
        url = link.url
        for _ in range(_SCHEME_CHANGES):
            answer = self._ask(url, link.form, sent, delay)
            if isinstance(answer, str):
                return self._failed(origin, 0, answer, refused=not answer.startswith(("holds", "answered")))
            if answer.status == 304 and known and kept is not None:
                self.counts["unchanged"] += 1
                self.cache.put(origin, kept[0], kept[1])
                return _from_cache(origin, *kept)
            if answer.status in (301, 302, 303, 307, 308):
                target = canonical(answer.headers.get("location", ""), url)
                if target and Link(target, form=link.form).origin(self.root) == origin and target != url:
                    url = target  # the same page by https
                    continue
                self._keep(origin, {"status": answer.status, "redirect": target or "nowhere"})
                return Fetched(origin, answer.status, redirect=target or "nowhere")
            return self._judge(origin, answer)
        return self._failed(origin, 0, "redirects to itself")

    def _judge(self, origin: str, answer: _Answer) -> Fetched:
        if kind := barrier(answer.data, answer.status):
            cause = f"is a firewall's answer ({kind}) and no page of the site"
            return self._failed(origin, answer.status, cause, refused=True)
        if answer.status != 200:
            return self._failed(origin, answer.status, f"answered {answer.status}")
        media = answer.headers.get("content-type", "text/html").split(";")[0].strip().lower()
        if media not in self.accepted:
            return self._failed(origin, 200, f"is {media}, not a page")
        self.counts["bytes"] += len(answer.data)
        head = {
            "status": 200,
            "charset": answer.charset,
            "etag": answer.headers.get("etag", ""),
            "modified": answer.headers.get("last-modified", ""),
        }
        self._keep(origin, head, answer.data)
        return Fetched(origin, 200, answer.data, answer.charset)

    def _failed(self, origin: str, status: int, error: str, refused: bool = False) -> Fetched:
        self._keep(origin, {"status": status, "error": error, "refused": refused})
        return Fetched(origin, status, error=error, refused=refused)

    def _keep(self, origin: str, head: dict[str, Any], body: bytes = b"") -> None:
        self.cache.put(origin, head, body)

    def _ask(self, url: str, form: tuple[tuple[str, str], ...], headers: dict[str, str], delay: float) -> _Answer | str:
        """The answer, or why none came; 5xx, 429 and lost connections are tried again."""
        host = urlsplit(url).netloc
        cause = ""
        wait = delay
        for attempt in range(_TRIES):
            self.pace.wait(host, wait)
            self.counts["asked"] += 1
            wait = max(delay, min(2.0 ** (attempt + 1) * max(delay, 0.1), _LONGEST_WAIT))
            try:
                answer = self._send(url, form, headers)
            except _TooLargeError as error:
                return str(error)
            except httpx.HTTPError as error:
                cause = f"gave no answer ({type(error).__name__})"
                continue
            finally:
                self.pace.mark(host)
            if answer.status < 500 and answer.status != 429:
                return answer
            if barrier(b"", answer.status):
                return answer
            cause = f"answered {answer.status}"
            asked = answer.headers.get("retry-after", "")
            if re.fullmatch(r"\d{1,6}", asked):
                wait = max(wait, min(float(asked), _LONGEST_WAIT))
        return f"{cause} in {_TRIES} tries"

    def _send(self, url: str, form: tuple[tuple[str, str], ...], headers: dict[str, str]) -> _Answer:
        """One request, its body read up to the cap and for three times the timeout at most."""
        deadline = time.monotonic() + 3 * self.timeout
        data = dict(form) if form else None
        with self.client.stream("POST" if form else "GET", url, headers=headers, data=data) as response:
            body = bytearray()
            for piece in response.iter_bytes():
                body += piece
                if len(body) > self.max_bytes:
                    raise _TooLargeError(f"holds more than the cap of {self.max_bytes} bytes")
                if time.monotonic() > deadline:
                    raise httpx.ReadTimeout(f"the body took more than {3 * self.timeout:g} s")
            return _Answer(response.status_code, response.headers, bytes(body), response.charset_encoding or "")


class _TooLargeError(Exception):
    """The body is larger than the cap."""


def _from_cache(origin: str, head: dict[str, Any], body: bytes) -> Fetched:
    return Fetched(
        origin, int(head.get("status", 200)), body, str(head.get("charset", "")), str(head.get("error", "")),
        str(head.get("redirect", "")), bool(head.get("refused", False)),
    )  # fmt: skip
