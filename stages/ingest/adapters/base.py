"""What an adapter knows of its site: which links to follow, which pages are articles, where their parts stand."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from urllib.parse import urljoin

from bs4 import BeautifulSoup, Tag

from stages.ingest.crawl.urls import canonical
from stages.ingest.markup import parse_html, text_of


class PageMisfitError(ValueError):
    """A page that should be an article of the site but lacks what the adapter looks for; the site has changed."""


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
    def base(self) -> str:
        """What its links are relative to: ``<base href>`` where it has one, else its own address."""
        element = self.soup.find("base", href=True)
        return urljoin(self.url, str(element["href"])) if isinstance(element, Tag) else self.url

    def links(self, selector: str = "a[href]") -> list[tuple[str, str]]:
        """Canonical addresses and link texts, in page order."""
        found = ((canonical(str(a["href"]), self.base), text_of(a)) for a in self.soup.select(selector))
        return [(url, text) for url, text in found if url]


@dataclass(frozen=True)
class Article:
    """What an adapter extracts; ``lines`` are the body's paragraphs. Empty where the page does not say."""

    title: str
    lines: list[str]
    summary: str = ""
    published: str = ""
    publisher: str = ""
    author: str = ""
    continued: list[str] = field(default_factory=list)


class Adapter(ABC):
    """Base of the adapters. ``name`` is the module's; ``extracts`` says for people what is taken."""

    name = ""
    extracts = ""

    @abstractmethod
    def follows(self, path: str) -> bool:
        """Whether a link to this path of the site is worth fetching."""

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
            PageMisfitError: the page lacks a part that articles of the site have.
        """

    @abstractmethod
    def section_of(self, page: Page) -> str:
        """The section's name that a list page states, or empty where the page is no list."""

    def continuation(self, path: str) -> tuple[str, int] | None:  # noqa: ARG002
        """For a later page of an article: the path of its first page and its number from 2; else None."""
        return None


def heading_of_title(title: str) -> str:
    """The page's own name in a title that ends with the site's: ``财商资讯 - 站名``, ``… _站名``, ``…|站名``."""
    return re.split(r"\s+[-–—|_]\s+|[_|]", title.strip())[0].strip()
