"""The crawl of one site: from its start pages outwards, each page once, within robots.txt and the caps."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from stages.ingest.adapters.base import Adapter, Page
from stages.ingest.crawl.fetching import Fetched, Fetcher
from stages.ingest.crawl.pace import Pace
from stages.ingest.crawl.page_cache import PageCache
from stages.ingest.crawl.robots import Robots, ask_robots
from stages.ingest.crawl.urls import Link, canonical, family, trap
from stages.ingest.decoding import UndecodableError, decode

_REDIRECTS = 5


@dataclass(frozen=True)
class Manners:
    """How a crawl behaves.

    Attributes:
        delay: seconds between the end of a request and the start of the next to the same host.
        cap_delay: whether ``delay`` also caps the Crawl-delay of robots.txt (a site of ours on loopback); elsewhere
            the larger of the two holds.
        max_pages, max_depth, max_bytes: caps on pages fetched, steps from a start page, bytes a page.
        max_queries: addresses taken of one endless family (query strings of a path, days of a calendar).
        max_host_pages, max_total_bytes: caps on the pages of one host, on the bytes of the whole crawl; 0 is none.
        patience: refusals in a row (firewall, no answer) after which a host is left alone.
    """

    agent: str
    delay: float
    cap_delay: bool
    max_pages: int
    max_depth: int
    max_bytes: int
    max_queries: int
    timeout: float
    max_host_pages: int = 0
    max_total_bytes: int = 0
    patience: int = 10


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
        paths: of the pages had, in the order fetched.
        linked_from: path of the page on which a path was first found.
        counts: ``asked``, ``cached``, ``unchanged``, ``closed`` (links that robots.txt disallows), ``unfollowed``
            and more.
        closed: why nothing of the site may be fetched for now, or empty.
    """

    paths: list[str] = field(default_factory=list)
    troubles: list[Trouble] = field(default_factory=list)
    linked_from: dict[str, str] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    closed: str = ""


@dataclass
class _Host:
    robots: Robots
    delay: float
    pages: int = 0
    refusals: list[str] = field(default_factory=list)
    left: int = 0
    given_up: bool = False


def crawl(
    root: str,
    starts: Sequence[str],
    adapters: Sequence[Adapter],
    manners: Manners,
    cache_folder: Path,
    visit: Callable[[Page], object],
    said: Callable[[int, int], object] | None = None,
    hosts: Sequence[str] = (),
    pace: Pace | None = None,
) -> Crawl:
    """Crawl a site.

    Args:
        root: the site's root address; pages of hosts other than its own and ``hosts`` are never fetched.
        starts: start pages, relative to the root.
        adapters: those that say which links are worth fetching (a link is followed if any says so).
        manners: delay and caps.
        cache_folder: where answers are kept; a killed crawl goes on from there.
        visit: gets each page once, in the order of the crawl (also those that an earlier run fetched); the crawl keeps
            none of them.
        said: told (pages had, pages waiting) after each page, where given.
        hosts: further hosts that belong to the site.
        pace: the delays kept so far, where other crawls of this run may have asked the same hosts.
    """
    run = _Run(root, adapters, manners, visit, said, {urlsplit(root).netloc, *(host.lower() for host in hosts)})
    cache = PageCache(cache_folder)
    pace = pace or Pace()
    if cache.resumed:
        pace.mark(urlsplit(root).netloc)  # the run that was killed may have asked a moment ago
    accepted = {media for adapter in adapters for media in adapter.accepts}
    headers = {"User-Agent": manners.agent, "Accept": ",".join(["text/html,application/xhtml+xml", *sorted(accepted)])}
    limits = httpx.Limits(max_connections=1)
    with httpx.Client(headers=headers, timeout=manners.timeout, limits=limits, follow_redirects=False) as client:
        revalidate = not manners.cap_delay
        run.fetcher = Fetcher(
            client, cache, root, pace, manners.timeout, manners.max_bytes, revalidate, sorted(accepted)
        )
        main = run.host(root)
        run.result.closed = main.robots.closed
        if main.robots.closed:
            return run.result
        run.follow([Link(canonical(start, root)) for start in starts])
    run.result.counts.update({name: count for name, count in run.fetcher.counts.items() if name != "bytes"})
    run.result.counts["resumed"] += int(cache.resumed)
    if not any(host.given_up for host in run.hosts.values()):
        cache.close()
    return run.result


class _Run:
    """One crawl under way."""

    fetcher: Fetcher

    def __init__(
        self,
        root: str,
        adapters: Sequence[Adapter],
        manners: Manners,
        visit: Callable[[Page], object],
        said: Callable[[int, int], object] | None,
        allowed: set[str],
    ) -> None:
        self.root = root
        self.adapters = adapters
        self.manners = manners
        self.visit = visit
        self.said = said
        self.allowed = allowed
        self.result = Crawl()
        self.hosts: dict[str, _Host] = {}
        self.waiting: deque[tuple[Link, int]] = deque()
        self.known: set[str] = set()
        self.families: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.moved: dict[str, str] = {}

    def host(self, url: str) -> _Host:
        """The host of an address; its robots.txt is asked for once."""
        name = urlsplit(url).netloc
        if name not in self.hosts:
            robots = ask_robots(self.fetcher, url, self.manners.agent, self.manners.delay)
            stated = robots.delay or 0.0
            delay = self.manners.delay
            delay = min(delay, stated) if self.manners.cap_delay and stated else max(delay, stated)
            self.hosts[name] = _Host(robots, delay)
            if robots.closed and name != urlsplit(self.root).netloc:
                self.result.troubles.append(Trouble(f"//{name}/robots.txt", robots.closed, ""))
        return self.hosts[name]

    def follow(self, starts: Sequence[Link]) -> None:
        """From the start pages outwards, breadth first."""
        for link in starts:
            self._queue(link, 0, "")
        while self.waiting:
            link, depth = self.waiting.popleft()
            if cap := self._cap():
                left = len(self.waiting) + 1
                self.result.troubles.append(Trouble("", f"{cap} was reached; {left} links were left", ""))
                break
            self._take(link, depth)
        for name, count in sorted(self.left_out.items()):
            most = self.manners.max_queries
            beyond = f"{count} and all behind them left out"
            cause = f"addresses of one family (a calendar, a search): {most} fetched, {beyond}"
            self.result.troubles.append(Trouble(name, cause, ""))
        for name, host in sorted(self.hosts.items()):
            if host.given_up:
                cause = f"{self.manners.patience} refusals in a row: {host.left} pages were left for a later run"
                self.result.troubles.append(Trouble(f"//{name}/", cause, ""))

    def _cap(self) -> str:
        if len(self.result.paths) >= self.manners.max_pages:
            return f"the cap of {self.manners.max_pages} pages"
        most = self.manners.max_total_bytes
        return f"the cap of {most} bytes" if most and self.fetcher.counts["bytes"] >= most else ""

    def _take(self, link: Link, depth: int) -> None:
        origin = link.origin(self.root)
        host = self.host(link.url)
        if not host.robots.allows(link.url):
            self.result.counts["closed"] += 1
            return
        if host.given_up:
            host.left += 1
            return
        if self.manners.max_host_pages and host.pages >= self.manners.max_host_pages:
            self.left_out[f"//{urlsplit(link.url).netloc}/ (cap of {self.manners.max_host_pages} pages a host)"] += 1
            return
        fetched = self.fetcher.fetch(link, host.delay, self._headers(link.url))
        self._count_refusals(host, fetched)
        if fetched.redirect:
            self._redirected(link, origin, fetched.redirect, depth)
            return
        cause = fetched.error
        if link.listing and fetched.status == 404:
            self.result.counts["lists that ended with 404"] += 1
            return
        if not cause:
            try:
                page = Page(link.url, origin, decode(fetched.data, fetched.charset))
            except UndecodableError as error:
                cause = str(error)
        if cause:
            self._trouble(origin, cause)
            return
        host.pages += 1
        self._had(page, depth)

    def _headers(self, url: str) -> dict[str, str]:
        """What the adapters send along (a token), to the site's own hosts only."""
        if urlsplit(url).netloc not in self.allowed:
            return {}
        return {name: value for adapter in self.adapters for name, value in adapter.headers().items()}

    def _count_refusals(self, host: _Host, fetched: Fetched) -> None:
        """Give a host up that refuses again and again; what it refused is asked again by the next run."""
        if not fetched.refused:
            host.refusals = []
            return
        host.refusals.append(fetched.origin)
        if len(host.refusals) >= self.manners.patience:
            host.given_up = True
            for origin in host.refusals:
                self.fetcher.cache.drop(origin)

    def _redirected(self, link: Link, origin: str, target: str, depth: int) -> None:
        """Put the target in the queue like any link, so that it is fetched once however many pages lead to it."""
        if target == "nowhere" or urlsplit(target).netloc not in self.allowed:
            self._trouble(origin, f"redirects off the site to {target}")
            return
        to = Link(target, link.text, listing=link.listing)
        self.moved[origin] = goal = to.origin(self.root)
        seen = [origin]
        while goal in self.moved and goal not in seen and len(seen) <= _REDIRECTS:
            seen.append(goal)
            goal = self.moved[goal]
        behind = sum(1 for _ in self._trail(origin))
        if goal in seen:
            self._trouble(origin, f"redirects in a circle: {' -> '.join([*seen, goal])}")
        elif behind >= _REDIRECTS:
            self._trouble(origin, f"more than {_REDIRECTS} redirects")
        else:
            self.result.counts["redirects"] += 1
            self._queue(to, depth, origin)

    def _trail(self, origin: str) -> list[str]:
        """The redirects that led to this one."""
        trail = []
        while (before := self.result.linked_from.get(origin, "")) in self.moved and before not in trail:
            trail.append(before)
            origin = before
        return trail

    def _had(self, page: Page, depth: int) -> None:
        result = self.result
        stated = page.stated_address
        if stated and (other := Link(stated).origin(self.root)) != page.path:
            # Only the query tells them apart: the page says itself which of its addresses counts.
            result.counts["copies by rel=canonical"] += 1
            if other not in self.known:
                self._queue(Link(stated), depth, page.path)
            return
        result.paths.append(page.path)
        self.visit(page)
        if self.said is not None:
            self.said(len(result.paths), len(self.waiting))
        if depth >= self.manners.max_depth:
            result.counts["too deep"] += 1
            return
        for adapter in self.adapters:
            for link in adapter.requests(page):
                self._queue(link, depth + (not link.listing), page.path, vouched=True)
        for url, text in page.links():
            link = Link(url, text)
            origin = link.origin(self.root)
            if origin in self.known or urlsplit(url).netloc not in self.allowed:
                continue
            if any(adapter.follows(origin) for adapter in self.adapters):
                self._queue(link, depth + 1, page.path)
            else:
                self.known.add(origin)
                allowed = self.host(url).robots.allows(url)
                result.counts["unfollowed" if allowed else "closed"] += 1

    def _queue(self, link: Link, depth: int, found_on: str, vouched: bool = False) -> None:
        """Put a link in the queue, once; ``vouched``: an adapter asks for it, so it is of no endless family."""
        origin = link.origin(self.root)
        if origin in self.known or urlsplit(link.url).netloc not in self.allowed:
            return
        self.known.add(origin)
        named = vouched or link.listing or any(adapter.names_article(origin) for adapter in self.adapters)
        kin = "" if named else family(link.url)
        if not self.host(link.url).robots.allows(link.url):
            self.result.counts["closed"] += 1
        elif reason := trap(link.url):
            self.result.counts[f"links left out: the address {reason}"] += 1
        elif kin and self.families[kin] >= self.manners.max_queries:
            self.result.counts["query variants left out"] += 1
            self.left_out[kin.lstrip("/")] += 1
        else:
            self.families[kin] += bool(kin)
            if found_on:
                self.result.linked_from.setdefault(origin, found_on)
            self.waiting.append((link, depth))

    def _trouble(self, origin: str, cause: str) -> None:
        linked_from = self.result.linked_from.get(origin, "the list of start pages")
        self.result.troubles.append(Trouble(origin, cause, linked_from))
