"""China Judgments Online (wenshu.court.gov.cn) and copies of it: a judgment's record, whichever form the page gives it.

The page's record goes to the parser of verdicts as it is (``stages.ingest.verdicts``): facts, articles, charge.
"""

from __future__ import annotations

import json
import re

from stages.ingest.adapters.base import Adapter, AdapterError, Article, Page, heading_of_title
from stages.ingest.markup import lines_of, text_of
from stages.ingest.verdicts import VerdictError, parse_verdict

_CONTENT = re.compile(
    r"content/content|CreateContentJS|docid=|181107ANFZ0BXSK4|(?:^|/)judg\w*/.*\.(?:html?|json)", re.IGNORECASE
)
_LISTS = re.compile(r"(?:^|/)(?:list|List|index|website/wenshu)[^?]*(?:\?.*)?$")
_SCRIPT = re.compile(r"jsonHtmlData\s*=")
_ANCHOR = re.compile(r"<a\s+type=['\"]dir['\"]\s+name=", re.IGNORECASE)
_KEYS = ("Html", "s25", "qwContent", "source")


class Wenshu(Adapter):
    """Judgments as a JavaScript string (``jsonHtmlData``), as ``{Title, PubDate, Html}``, as ``s1`` to ``s54``."""

    name = "wenshu"
    extracts = "the judgment's record (jsonHtmlData; {Title, PubDate, Html}; s1 to s54): title, facts, articles, charge"
    accepts = ("application/json", "application/javascript", "text/javascript")

    def follows(self, path: str) -> bool:
        """Judgments and lists of them."""
        return bool(_CONTENT.search(path) or _LISTS.search(path))

    def names_article(self, path: str) -> bool:
        """A judgment's number stands in the query."""
        return bool(_CONTENT.search(path))

    def is_article(self, page: Page) -> bool:
        """Pages that hold a record."""
        if isinstance(page.record, dict):
            return any(key in page.record for key in _KEYS)
        return bool(_SCRIPT.search(page.html) or _ANCHOR.search(page.html))

    def must_be_article(self, page: Page) -> bool:
        """A judgment's address."""
        return bool(_CONTENT.search(page.path))

    def article(self, page: Page) -> Article:
        """The record, with the title that it states."""
        record = page.html
        if page.record is None and not _SCRIPT.search(record):
            # The page shows what the record's field Html holds.
            stated = heading_of_title(page.soup.title.get_text()) if page.soup.title else ""
            stated = stated or text_of(page.soup.find("h1"))
            if not stated and page.soup.body:  # the court and the kind of judgment stand first
                stated = "".join(lines_of(page.soup.body)[:2]).replace(" ", "")
            record = json.dumps({"Title": stated, "Html": record}, ensure_ascii=False)
        try:
            title = parse_verdict(record).title
        except VerdictError as error:
            raise AdapterError(self.name, page.path, f"a judgment's record ({error})") from error
        return Article(title, [], kind="verdict", record=record)

    def section_of(self, page: Page) -> str:
        """The title of a page that links judgments."""
        if page.record is not None or not any(_CONTENT.search(url) for url, _ in page.links()):
            return ""
        return heading_of_title(page.soup.title.get_text()) if page.soup.title else "list"


ADAPTER = Wenshu()
