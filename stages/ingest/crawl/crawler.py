"""The crawl of one site: from its start pages outwards, each page once, within robots.txt and the caps."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from stages.ingest.adapters.base import Adapter, Page
from stages.ingest.crawl.fetching import Fetcher, PageCache, is_firewall
from stages.ingest.crawl.robots import Robots, robots_of
from stages.ingest.crawl.urls import canonical, same_site, site_path
from stages.ingest.decoding import UndecodableError, decode


@dataclass(frozen=True)
class Manners:
    """How a crawl behaves.

    Attributes:
        delay: seconds between requests.
        cap_delay: whether ``delay`` also caps the Crawl-delay of robots.txt (a site of ours on loopback); elsewhere
            the larger of the two holds.
        max_pages, max_depth, max_bytes: caps on pages fetched, steps from a start page, bytes a page.
        max_queries: different query strings taken of one path (calendars, searches).
    """

    agent: str
    delay: float
    cap_delay: bool
    max_pages: int
    max_depth: int
    max_bytes: int
    max_queries: int
    timeout: float


@dataclass
class Trouble:
    """A page that was not had: its path, why, and the page that linked to it."""

    path: str
    cause: str
    linked_from: str


@dataclass
class Crawl:
    """What a crawl brought.

    Attributes:
        pages: by path, in the order fetched.
        linked_from: path of the page on which a path was first found.
        counts: ``asked``, ``cached``, ``unchanged``, ``closed`` (links that robots.txt disallows), ``unfollowed``.
    """

    pages: dict[str, Page] = field(default_factory=dict)
    troubles: list[Trouble] = field(default_factory=list)
    linked_from: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    closed: str = ""


def crawl(
    root: str,
    starts: Sequence[str],
    adapters: Sequence[Adapter],
    manners: Manners,
    cache_folder: Path,
    said: Callable[[int, int], object] | None = None,
) -> Crawl:
    """Crawl a site.

    Args:
        root: the site's root address; pages of other hosts are never fetched.
        starts: start pages, relative to the root.
        adapters: those that say which links are worth fetching (a link is followed if any says so).
        manners: delay and caps.
        cache_folder: where pages are kept; a killed crawl goes on from there.
        said: told (pages had, pages waiting) after each page, where given.
    """
    result = Crawl()
    cache = PageCache(cache_folder)
    headers = {"User-Agent": manners.agent, "Accept": "text/html,application/xhtml+xml"}
    limits = httpx.Limits(max_connections=1)
    with httpx.Client(headers=headers, timeout=manners.timeout, limits=limits, follow_redirects=False) as client:
        robots = _robots(client, root, manners.agent)
        result.closed = robots.closed
        if robots.closed:
            return result
        stated = robots.delay or 0.0
        delay = min(manners.delay, stated) if manners.cap_delay and stated else max(manners.delay, stated)
        fetcher = Fetcher(client, cache, root, delay, manners.max_bytes, revalidate=not manners.cap_delay)
        _follow(fetcher, robots, root, starts, adapters, manners, result, said)
    result.counts.update(fetcher.counts)
    result.counts["resumed"] += int(cache.resumed)
    cache.finish()
    return result


def _robots(client: httpx.Client, root: str, agent: str) -> Robots:
    url = canonical("/robots.txt", root)
    try:
        answer = client.get(url, follow_redirects=True)
    except httpx.HTTPError:
        return robots_of(None, "", agent)
    return robots_of(answer.status_code, answer.text, agent)


def _follow(
    fetcher: Fetcher,
    robots: Robots,
    root: str,
    starts: Sequence[str],
    adapters: Sequence[Adapter],
    manners: Manners,
    result: Crawl,
    said: Callable[[int, int], object] | None,
) -> None:
    waiting: deque[tuple[str, int]] = deque((canonical(start, root), 0) for start in starts)
    known = {url for url, _ in waiting}
    queries: Counter[str] = Counter()
    capped = False
    while waiting:
        url, depth = waiting.popleft()
        path = site_path(url)
        if not robots.allows(url):
            result.counts["closed"] += 1
            continue
        if len(result.pages) >= manners.max_pages:
            capped = True
            break
        page = _page(fetcher, url, path, result)
        if page is None:
            continue
        result.pages[path] = page
        if said is not None:
            said(len(result.pages), len(waiting))
        if depth >= manners.max_depth:
            result.counts["too deep"] += 1
            continue
        for link, _ in page.links():
            if link in known or not same_site(link, root):
                continue
            known.add(link)
            target = site_path(link)
            if not robots.allows(link):
                result.counts["closed"] += 1
            elif not any(adapter.follows(target) for adapter in adapters):
                result.counts["unfollowed"] += 1
            elif urlsplit(link).query and queries[urlsplit(link).path] >= manners.max_queries:
                result.counts["query variants left out"] += 1
            else:
                queries[urlsplit(link).path] += bool(urlsplit(link).query)
                result.linked_from.setdefault(target, path)
                waiting.append((link, depth + 1))
    if capped:
        left = len(waiting) + 1
        result.troubles.append(
            Trouble("", f"the cap of {manners.max_pages} pages was reached; {left} links were left", "")
        )


def _page(fetcher: Fetcher, url: str, path: str, result: Crawl) -> Page | None:
    linked_from = result.linked_from.get(path, "the list of start pages")
    fetched = fetcher.fetch(url)
    cause = fetched.error
    if not cause and is_firewall(fetched.data):
        cause = "the site's firewall answered with its script page instead of the article"
    if not cause:
        try:
            return Page(url, path, decode(fetched.data, fetched.charset))
        except UndecodableError as error:
            cause = str(error)
    result.troubles.append(Trouble(path, cause, linked_from))
    return None
