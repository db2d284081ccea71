"""Any site without an adapter of its own: trafilatura finds the article's text; no category, no summary."""

from __future__ import annotations

import re
from configparser import ConfigParser
from copy import deepcopy
from functools import cache
from typing import Any

from stages.ingest.adapters.base import Adapter, AdapterError, Article, Page, heading_of_title
from stages.ingest.dates import iso_date
from stages.ingest.markup import meta, text_of
from taxpraben.text.normalise import tidy

_LEAST = 100  # characters of a text that is no caption
_OTHER = re.compile(
    r"\.(?:jpe?g|png|gif|bmp|ico|svg|css|js|xml|json|rss|pdf|docx?|xlsx?|pptx?|wps|et|zip|rar|7z|mp[34]|apk|exe)$"
    r"|(?:^|/)(?:login|register|logout|cart|feed|wp-admin|cgi-bin)\b",
    re.IGNORECASE,
)


class Generic(Adapter):
    """The last adapter of a source: asked where no other knows the page."""

    name = "generic"
    extracts = "title, date (meta elements), text as trafilatura finds it"

    def __init__(self) -> None:
        self._last: tuple[Page, Any] | None = None

    def follows(self, path: str) -> bool:
        """Everything that may be a page."""
        return not _OTHER.search(path.partition("?")[0])

    def is_article(self, page: Page) -> bool:
        """Pages with a text of some length that is not mostly links."""
        found = self._found(page)
        if page.record is not None or found is None or len(found.text or "") < _LEAST:
            return False
        linked = sum(len(text) for _, text in page.links())
        return linked < len(text_of(page.soup.body)) / 2

    def article(self, page: Page) -> Article:
        """What trafilatura finds."""
        found = self._found(page)
        text = tidy(found.text) if found is not None and found.text else ""
        if not text:
            raise AdapterError(self.name, page.path, "a text (trafilatura finds none)")
        heading = text_of(page.soup.find("h1"))
        title = meta(page.soup, "ArticleTitle") or heading or heading_of_title(found.title or "")
        if not title:
            raise AdapterError(self.name, page.path, "a title (h1, title)")
        lines = text.split("\n")
        if lines[0] == heading and len(lines) > 1:
            lines = lines[1:]
        return Article(
            title=title,
            lines=lines,
            published=iso_date(meta(page.soup, "PubDate")) or iso_date(found.date or ""),
            publisher=meta(page.soup, "ContentSource") or found.sitename or "",
        )

    def section_of(self, page: Page) -> str:
        """The title of a page that is mostly links."""
        return heading_of_title(page.soup.title.get_text()) if page.soup.title and page.links() else ""

    def _found(self, page: Page) -> Any:
        if self._last is None or self._last[0] is not page:
            import trafilatura

            found = trafilatura.bare_extraction(
                page.html, fast=True, include_comments=False, with_metadata=True, config=_settings()
            )
            self._last = (page, found)
        return self._last[1]


@cache
def _settings() -> ConfigParser:
    """Shorter texts than English ones count, and no date is guessed from the text."""
    from trafilatura.settings import DEFAULT_CONFIG

    settings: ConfigParser = deepcopy(DEFAULT_CONFIG)
    settings["DEFAULT"].update({"MIN_EXTRACTED_SIZE": str(_LEAST), "EXTENSIVE_DATE_SEARCH": "off"})
    return settings


ADAPTER = Generic()
