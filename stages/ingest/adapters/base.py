"""What an adapter knows of its site: which links to follow, which pages are articles, where their parts stand."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import urljoin, urlsplit

from bs4 import BeautifulSoup, Tag

from stages.ingest.crawl.urls import Link, canonical
from stages.ingest.markup import parse_html, text_of
from taxpraben.records.document import DocumentKind

_REFRESH = re.compile(r"^\s*\d+\s*;\s*url\s*=\s*['\"]?([^'\"]+)", re.IGNORECASE)


class AdapterError(ValueError):
    """A page that should be an article of the site but lacks what the adapter looks for: the site has changed.

    Attributes:
        adapter, path: whose page, and which.
        missing: the element that is not there, as a person would look for it.
        remedy: what to do.
    """

    def __init__(self, adapter: str, path: str, missing: str, remedy: str = "") -> None:
        self.adapter = adapter
        self.path = path
        self.missing = missing
        self.remedy = remedy or f"compare the page with stages/ingest/adapters/{adapter.partition(':')[0]}.py"
        super().__init__(f"adapter {adapter}: {path} lacks {missing}; {self.remedy}")


@dataclass(frozen=True)
class Page:
    """A fetched page: its canonical address, its path relative to the site's root, its text."""

    url: str
    path: str
    html: str

    @cached_property
    def soup(self) -> BeautifulSoup:
        """The page as a tree."""
        return parse_html(self.html)

    @cached_property
    def record(self) -> Any:
        """The page as JSON, or None where it is none."""
        if not self.html.lstrip("\ufeff \r\n\t").startswith(("{", "[")):
            return None
        try:
            return json.loads(self.html.lstrip("\ufeff"), strict=False)
        except json.JSONDecodeError:
            return None

    @cached_property
    def base(self) -> str:
        """What its links are relative to: ``<base href>`` where it has one, else its own address."""
        element = self.soup.find("base", href=True)
        return urljoin(self.url, str(element["href"])) if isinstance(element, Tag) else self.url

    @property
    def stated_address(self) -> str:
        """The address that the page states as its own (``rel=canonical``), where only the query differs; or empty."""
        element = self.soup.find("link", rel="canonical", href=True) if self.record is None else None
        if not isinstance(element, Tag):
            return ""
        stated = canonical(str(element["href"]), self.url)
        ours, theirs = urlsplit(self.url), urlsplit(stated)
        return stated if (ours.netloc, ours.path) == (theirs.netloc, theirs.path) else ""

    def links(self, selector: str = "a[href], area[href]") -> list[tuple[str, str]]:
        """Canonical addresses and link texts, in page order; then frames and the page that it refreshes to."""
        if self.record is not None:
            return []
        found = [(canonical(str(a["href"]), self.base), text_of(a)) for a in self.soup.select(selector)]
        if selector.startswith("a[href],"):
            frames = self.soup.select("frame[src], iframe[src]")
            found += [(canonical(str(frame["src"]), self.base), "") for frame in frames]
            for meta in self.soup.select("meta[http-equiv]"):
                match = _REFRESH.match(str(meta.get("content", "")))
                if match and str(meta["http-equiv"]).lower() == "refresh":
                    found.append((canonical(match.group(1), self.base), ""))
        return [(url, text) for url, text in found if url]


@dataclass(frozen=True)
class Article:
    """What an adapter extracts; ``lines`` are the body's paragraphs. Empty where the page does not say.

    Attributes:
        summary: the site's own.
        category: where the article itself states it; else the name of its list counts.
        kind: where the page's layout decides it (a message board's); else the section does.
        mark: tells the articles of one page apart (a record's number); part of the document's origin.
        question, answer: of a message board.
        record: a judgment's record, for the parser of verdicts.
        continued: addresses of the article's further pages.
    """

    title: str
    lines: list[str]
    summary: str = ""
    published: str = ""
    publisher: str = ""
    author: str = ""
    number: str = ""
    effective: str = ""
    repealed: str = ""
    category: str = ""
    kind: DocumentKind | None = None
    mark: str = ""
    question: str = ""
    answer: str = ""
    record: str = ""
    flags: tuple[str, ...] = ()
    continued: list[str] = field(default_factory=list)


class Adapter(ABC):
    """Base of the adapters.

    Attributes:
        name: the module's, for a variant ``module:variant``.
        extracts: says for people what is taken.
        accepts: media types that it reads beside pages.
    """

    name = ""
    extracts = ""
    accepts: tuple[str, ...] = ()

    @abstractmethod
    def follows(self, path: str) -> bool:
        """Whether a link to this path of the site is worth fetching."""

    def names_article(self, path: str) -> bool:  # noqa: ARG002
        """Whether the query of this path names an article (``content?DocID=…``), so that it is no endless family."""
        return False

    def requests(self, page: Page) -> list[Link]:  # noqa: ARG002
        """What to ask for that is no link of the page: the next page of a list, a form."""
        return []

    def headers(self) -> dict[str, str]:
        """What is sent with every request to the site: a token from the environment."""
        return {}

    @abstractmethod
    def is_article(self, page: Page) -> bool:
        """Whether the page is an article in this site's layout."""

    def must_be_article(self, page: Page) -> bool:  # noqa: ARG002
        """Whether the address says that the page is an article, so that a misfit is a fault of page or adapter."""
        return False

    @abstractmethod
    def article(self, page: Page) -> Article:
        """The article's parts.

        Raises:
            AdapterError: the page lacks a part that articles of the site have.
        """

    def articles(self, page: Page) -> list[Article]:
        """The articles of a page that may hold many (records of an interface, a bulletin of several cases)."""
        return [self.article(page)]

    @abstractmethod
    def section_of(self, page: Page) -> str:
        """The section's name that a list page states, or empty where the page is no list."""

    def section(self, path: str) -> str:
        """The section that a path belongs to: its folder."""
        steps = path.split("?")[0].split("/")
        return steps[-2] if len(steps) > 1 else ""

    def section_name(self, section: str) -> str:  # noqa: ARG002
        """The section's name where the adapter knows it without the list page, or empty."""
        return ""

    def continuation(self, path: str) -> tuple[str, int] | None:  # noqa: ARG002
        """For a later page of an article: the path of its first page and its number from 2; else None."""
        return None

    def variants(self) -> Mapping[str, str]:
        """Names and descriptions of the adapter's variants (``bureaus:gansu``); empty where it has none."""
        return {}

    def variant(self, name: str) -> Adapter:
        """The adapter for one variant.

        Raises:
            KeyError: there is none of that name.
        """
        raise KeyError(name)


def heading_of_title(title: str) -> str:
    """The page's own name in a title that ends with the site's: ``财商资讯 - 站名``, ``… _站名``, ``…|站名``."""
    return re.split(r"\s+[-–—|_]\s+|[_|]", title.strip())[0].strip()
