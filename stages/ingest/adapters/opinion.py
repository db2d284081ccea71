"""The opinion monitor: its export interface, JSON over HTTP, page by page, with a token from the environment.

An answer is a list of posts, or an object that holds it under data, items, records, list, rows or result, and says
how it goes on: ``next`` (an address), ``next_cursor``, or ``page`` with ``pages`` or ``total``. An export kept as a
file is read by the parser ``opinion_export``.
"""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from stages.ingest.adapters.base import Adapter, AdapterError, Article, Page
from stages.ingest.crawl.urls import Link, canonical
from stages.ingest.opinion_posts import fields_of, post_lines

TOKEN = "TAXPRABEN_OPINION_TOKEN"  # noqa: S105
"""Environment variable: sent as ``Authorization: Bearer …`` to the source's hosts only, kept nowhere."""
_LISTS = ("data", "items", "records", "list", "rows", "result", "results")


class Opinion(Adapter):
    """Posts of the interface; who wrote them is not kept."""

    name = "opinion"
    extracts = f"posts of a JSON interface: title, text, date, platform; the token comes from {TOKEN}"
    accepts = ("application/json", "text/json")

    def follows(self, path: str) -> bool:  # noqa: ARG002
        """No links: the answers say how they go on."""
        return False

    def headers(self) -> dict[str, str]:
        """The token, where the environment has one."""
        token = os.environ.get(TOKEN, "").strip()
        return {"Authorization": f"Bearer {token}"} if token else {}

    def requests(self, page: Page) -> list[Link]:
        """The next page of the answer."""
        record = page.record
        if not isinstance(record, dict) or not _posts(record):
            return []
        inner = record.get("data")
        about = {**record, **(inner if isinstance(inner, dict) else {})}
        changes: dict[str, str] = {}
        if isinstance(about.get("next"), str) and about["next"]:
            return [Link(canonical(about["next"], page.url), listing=True)]
        if about.get("next_cursor"):
            changes = {"cursor": str(about["next_cursor"])}
        elif (number := _number(about, "page")) is not None:
            size = _number(about, "size") or _number(about, "page_size") or len(_posts(record) or [])
            pages = _number(about, "pages") or -(-(_number(about, "total") or 0) // max(1, size))
            changes = {"page": str(number + 1)} if number < pages else {}
        if not changes:
            return []
        parts = urlsplit(page.url)
        query = {**dict(parse_qsl(parts.query)), **changes}
        address = urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(query), ""))
        return [Link(canonical(address, page.url), listing=True)]

    def is_article(self, page: Page) -> bool:
        """Answers that hold posts."""
        return _posts(page.record) is not None

    def must_be_article(self, page: Page) -> bool:  # noqa: ARG002
        """Every answer of the interface."""
        return True

    def article(self, page: Page) -> Article:
        """The first post."""
        posts = self.articles(page)
        if not posts:
            raise AdapterError(self.name, page.path, "posts")
        return posts[0]

    def articles(self, page: Page) -> list[Article]:
        """All posts of the answer, marked by their number."""
        posts = _posts(page.record)
        if posts is None:
            raise AdapterError(self.name, page.path, f"a list of posts ({', '.join(_LISTS)})")
        out = []
        for at, post in enumerate(posts, start=1):
            found = fields_of(post)
            lines = post_lines(found["text"])
            title = found["title"] or (lines[0][:30] if lines else "")
            mark = found["mark"] or str(at)
            where, when = found["publisher"], found["published"]
            out.append(Article(title, lines, published=when, publisher=where, kind="opinion", mark=mark))
        return out

    def section_of(self, page: Page) -> str:  # noqa: ARG002
        """There are no list pages."""
        return ""


def _posts(record: Any) -> list[dict[str, Any]] | None:
    if isinstance(record, list):
        return record if all(isinstance(post, dict) for post in record) else None
    if isinstance(record, dict):
        for key in _LISTS:
            if key in record and (found := _posts(record[key])) is not None:
                return found
    return None


def _number(about: dict[str, Any], key: str) -> int | None:
    value = about.get(key)
    return int(value) if isinstance(value, int) or (isinstance(value, str) and value.isdigit()) else None


ADAPTER = Opinion()
