"""The State Taxation Administration (chinatax.gov.cn) and authorities in its layout: meta elements, ``#zoomcon``."""

from __future__ import annotations

import re

from stages.ingest.adapters.base import Adapter, Article, Page, PageMisfitError, heading_of_title
from stages.ingest.dates import iso_date
from stages.ingest.markup import lines_of, meta, text_of

_BODIES = ("#zoomcon", "#fontzoom", "#zoom", "div.zscont", "div.arc_cont", "#tax_content", ".cmain")
_LISTS = "ul.list > li, li.sv_texth1"


class Chinatax(Adapter):
    """Articles with meta ``ArticleTitle``, ``PubDate``, ``ContentSource`` and a body of ``#zoomcon`` or its kin."""

    name = "chinatax"
    extracts = "title, date, source (meta elements), body (#zoomcon, #fontzoom, div.zscont, #tax_content, .cmain)"

    def follows(self, path: str) -> bool:
        """Columns (``/nNNN/``, ``/manuscriptList/``), contents, and the front page."""
        return bool(re.search(r"(?:^|/)(?:n\d+/|c\d+/|manuscriptList/|content\.html|article/)", path)) or path in (
            "",
            "index.html",
        )

    def is_article(self, page: Page) -> bool:
        """Pages with a title in their meta elements, or one of the bodies."""
        return bool(meta(page.soup, "ArticleTitle")) or any(page.soup.select_one(body) is not None for body in _BODIES)

    def must_be_article(self, page: Page) -> bool:
        """``…/cNNN/content.html``."""
        return page.path.endswith("/content.html")

    def article(self, page: Page) -> Article:
        """The first body that holds text; the editor's line below it is no part of it."""
        soup = page.soup
        for selector in _BODIES:
            body = soup.select_one(selector)
            if body is not None and (lines := lines_of(body)):
                break
        else:
            raise PageMisfitError(f"no text in any of {', '.join(_BODIES)}")
        title = meta(soup, "ArticleTitle") or text_of(soup.select_one("h1, .title, .sv_texth1"))
        if not title:
            raise PageMisfitError("no title (meta ArticleTitle, h1, .title)")
        return Article(
            title=title, lines=lines, published=iso_date(meta(soup, "PubDate")), publisher=meta(soup, "ContentSource")
        )

    def section_of(self, page: Page) -> str:
        """The last step of the bread crumbs, else the title, of a page with rows of a list."""
        if page.soup.select_one(_LISTS) is None:
            return ""
        return heading_of_title(page.soup.title.get_text()) if page.soup.title else ""


ADAPTER = Chinatax()
