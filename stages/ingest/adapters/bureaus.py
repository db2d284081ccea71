"""Provincial and city tax bureaus by a table of selectors (bureaus.tsv): one variant a bureau, ``bureaus:gansu``.

Columns of the table: ``title`` and ``body`` are selectors of an article's title and body, ``rows`` of the links of a
list (``json``: the list is an interface's answer; ``re:``: a pattern over the page's text). ``paging`` says how a list
goes on: ``dataproxy`` (dataproxy.jsp asked by POST for records from … to …), ``numbered`` (index.html, index_1.html …),
``query:NAME`` (a page number in the query), ``links`` (the page links its next one). Layouts differ more by the
system that a bureau uses than by bureau; what no longer fits is mended in the bureau's row.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from stages.ingest.adapters.base import Adapter, AdapterError, Article, Page, heading_of_title
from stages.ingest.crawl.urls import Link, canonical
from stages.ingest.dates import iso_date
from stages.ingest.markup import lines_of, meta, parse_html, text_of

TABLE = Path(__file__).with_suffix(".tsv")
_BODIES = "#zoom, #zoomcon, .TRS_Editor, .info-cont"  # asked where the bureau's own is not there
_RECORD = re.compile(r"<record>\s*<!\[CDATA\[(.*?)\]\]>\s*</record>", re.DOTALL)
_SETTING = re.compile(r"""(\w+)\s*:\s*(?:'([^']*)'|"([^"]*)"|([\w./-]+))""")
_ARTICLE = re.compile(r"/art/\d{4}/|/t\d{8}_\d+|/content_\d+|/c\d+/content|/\d{4}-\d\d/\d\d/")
_JPAGE = re.compile(r"(?:^|/)art/\d{4}/\d{1,2}/\d{1,2}/art_(\d+)_\d+\.html?$")
_NUMBERED = re.compile(r"^(.*?)(?:_(\d+))?(\.s?html?)$")
_ADDRESS_KEYS = ("url", "link", "href", "docpuburl", "docurl", "linkurl", "pageurl", "curl")
_CHUNK = 3  # pages of a dataproxy list that are asked for at once, as the sites' own script does


@dataclass(frozen=True)
class Bureau:
    """A row of the table."""

    name: str
    publisher: str
    title: str
    body: str
    rows: str
    paging: str


@cache
def bureaus() -> Mapping[str, Bureau]:
    """The table, by name."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {row["name"]: Bureau(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}


class Bureaus(Adapter):
    """The table's adapter; without a variant it says only which there are."""

    extracts = "title, date, source, the bureau's column as category, body; lists paged by POST, number or query"
    accepts = ("text/xml", "application/xml", "application/json", "text/javascript", "application/javascript")

    def __init__(self, bureau: Bureau | None = None) -> None:
        self.bureau = bureau or next(iter(bureaus().values()))
        self.name = f"bureaus:{bureau.name}" if bureau else "bureaus"

    def variants(self) -> Mapping[str, str]:
        """The bureaus of the table; none of a bureau."""
        if ":" in self.name:
            return {}
        return {name: f"{row.publisher}: {row.body}; {row.paging}" for name, row in bureaus().items()}

    def variant(self, name: str) -> Adapter:
        """The adapter of one bureau."""
        return Bureaus(bureaus()[name])

    def follows(self, path: str) -> bool:
        """Only what the rows of a list name, and further lists that the front page names."""
        lists = r"(?:^|/)col/col\d+/index\.html?$|(?:^|/)common_list(?:_\d+)?\.s?html?$"
        return bool(re.search(lists, path)) and self.bureau.paging in ("dataproxy", "numbered")

    def requests(self, page: Page) -> list[Link]:
        """Rows of a list, and how the list goes on."""
        if self._body(page):
            return []
        rows = [Link(url) for url in self._rows(page)]
        return rows + self._further(page, bool(rows))

    def is_article(self, page: Page) -> bool:
        """Pages with a body that holds text."""
        return page.record is None and bool(self._body(page))

    def must_be_article(self, page: Page) -> bool:
        """Addresses of the systems' articles: ``/art/2026/1/5/art_1_2.html``, ``/t20260105_12.html``."""
        return bool(_ARTICLE.search("/" + page.path)) and not self._rows(page)

    def article(self, page: Page) -> Article:
        """Title from the meta elements or the table's selector, the date that stands first on the page."""
        soup = page.soup
        lines = self._body(page)
        if not lines:
            raise AdapterError(
                self.name, page.path, f"text in {self.bureau.body}",
                f"correct the row {self.bureau.name} of stages/ingest/adapters/bureaus.tsv",
            )  # fmt: skip
        title = meta(soup, "ArticleTitle")
        if not title and self.bureau.title != "title":
            title = text_of(soup.select_one(self.bureau.title))
        if not title and soup.title:
            title = heading_of_title(soup.title.get_text())
        if not title:
            raise AdapterError(
                self.name, page.path, f"a title (meta ArticleTitle, {self.bureau.title})",
                f"correct the row {self.bureau.name} of stages/ingest/adapters/bureaus.tsv",
            )  # fmt: skip
        described = meta(soup, "Description")
        own = len(described) >= 20 and not "".join(lines).startswith(described.rstrip(".…")[:20]) and described != title
        return Article(
            title=title,
            lines=lines,
            summary=described if own else "",
            published=iso_date(meta(soup, "PubDate")) or iso_date(text_of(soup.body)),
            publisher=meta(soup, "ContentSource") or self.bureau.publisher,
            category=meta(soup, "ColumnName"),
        )

    def section_of(self, page: Page) -> str:
        """The title of a list."""
        if page.record is not None or "dataproxy.jsp" in page.path:
            return "list"
        if self._body(page) or not (self._rows(page) or self._further(page, has_rows=False)):
            return ""
        return heading_of_title(page.soup.title.get_text()) if page.soup.title else "list"

    def section(self, path: str) -> str:
        """``col123`` of ``art_123_456.html``; the folder before the month of ``zxwj/202601/t20260105_12.html``."""
        if match := _JPAGE.search(path):
            return f"col{match.group(1)}"
        steps = path.split("?")[0].split("/")[:-1]
        while steps and re.fullmatch(r"\d{4,8}|\d{4}-\d\d|\d\d", steps[-1]):
            steps.pop()
        return steps[-1] if steps else ""

    def _body(self, page: Page) -> list[str]:
        if page.record is not None or "dataproxy.jsp" in page.path:
            return []
        for selector in (self.bureau.body, _BODIES):
            for body in page.soup.select(selector):
                if lines := lines_of(body):
                    return lines
        return []

    def _rows(self, page: Page) -> list[str]:
        """The addresses that the rows of a list name, in order, each once."""
        if page.record is not None or self.bureau.rows == "json":
            found = list(_addresses(page.record if page.record is not None else _padded(page)))
        elif records := _RECORD.findall(page.html):
            found = [str(a["href"]) for a in parse_html("".join(records)).select("a[href]")]
        elif self.bureau.rows.startswith("re:"):
            found = re.findall(self.bureau.rows[3:], page.html)
        elif self.bureau.paging == "dataproxy":
            return []  # all of the list is asked of dataproxy.jsp
        else:
            found = [str(a["href"]) for a in page.soup.select(self.bureau.rows)]
        return list(dict.fromkeys(url for link in found if (url := canonical(link, page.base))))

    def _further(self, page: Page, has_rows: bool) -> list[Link]:
        paging, _, name = self.bureau.paging.partition(":")
        if paging == "dataproxy" and "dataproxy.jsp" not in page.path:
            return _dataproxy(page)
        if paging == "numbered" and has_rows:
            return _numbered(page)
        if paging == "query" and has_rows:
            parts = urlsplit(page.url)
            query = dict(parse_qsl(parts.query))
            number = query.get(name, "1")
            query[name] = str(int(number) + 1) if number.isdigit() else "2"
            address = urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(query), ""))
            return [Link(canonical(address, page.url), listing=True)]
        return []


def _dataproxy(page: Page) -> list[Link]:
    """What the list's script asks for: POST, records from … to …, with the column's fields as the form."""
    settings = re.search(r"proxyUrl\s*:\s*['\"]([^'\"]+)['\"]", page.html)
    total = re.search(r"totalRecord\s*:\s*(\d+)", page.html)
    size = re.search(r"perPage\s*:\s*(\d+)", page.html)
    fields = re.search(r"ajaxParam\s*:\s*\{([^}]*)\}", page.html)
    if not (settings and total and fields):
        return []
    each = int(size.group(1)) if size and int(size.group(1)) else 15
    form = tuple((match[0], match[1] or match[2] or match[3]) for match in _SETTING.findall(fields.group(1)))
    out = []
    for start in range(1, int(total.group(1)) + 1, each * _CHUNK):
        end = min(start + each * _CHUNK - 1, int(total.group(1)))
        address = f"{settings.group(1)}?startrecord={start}&endrecord={end}&perpage={each}"
        out.append(Link(canonical(address, page.url), form=form, listing=True))
    return out


def _numbered(page: Page) -> list[Link]:
    """The next of index.html, index_1.html …: as many as the page's script says, else until one is not there."""
    parts = urlsplit(page.url)
    path = parts.path + "index.html" if parts.path.endswith("/") else parts.path
    match = _NUMBERED.match(path)
    if match is None:
        return []
    now = int(match.group(2) or 0)
    stated = re.search(r"createPageHTML\(\s*(\d+)\s*,", page.html)
    if stated and now + 1 >= int(stated.group(1)):
        return []
    address = urlunsplit((parts.scheme, parts.netloc, f"{match.group(1)}_{now + 1}{match.group(3)}", "", ""))
    return [Link(canonical(address, page.url), listing=True)]


def _padded(page: Page) -> Any:
    """The JSON inside ``callback(…)``, or None."""
    inner = re.search(r"\(\s*([\[{].*[\]}])\s*\)\s*;?\s*$", page.html, re.DOTALL)
    return Page(page.url, page.path, inner.group(1)).record if inner else None


def _addresses(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if isinstance(inner, str) and str(key).lower() in _ADDRESS_KEYS:
                yield inner
            else:
                yield from _addresses(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _addresses(inner)


ADAPTER = Bureaus()
