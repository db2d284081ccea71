"""The crawl against a faulty site on loopback."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from stages.ingest.adapters import UnknownAdapterError, adapter_names, find_adapter
from stages.ingest.adapters.base import Adapter, Article, Page
from stages.ingest.crawl.crawler import Crawl, Manners, crawl
from stages.ingest.crawl.robots import parse_robots, robots_of
from stages.ingest.crawl.urls import canonical, site_path


class Everything(Adapter):
    """Follows all links."""

    name = "everything"

    def follows(self, path: str) -> bool:
        return True

    def is_article(self, page: Page) -> bool:
        return True

    def article(self, page: Page) -> Article:
        return Article("t", ["x"])

    def section_of(self, page: Page) -> str:
        return ""


class Site:
    """Pages by path; a page is text, bytes, (status, headers, text) or a function that gives one of these."""

    def __init__(self) -> None:
        self.pages: dict[str, Any] = {"/robots.txt": (404, {}, "")}
        self.asked: Counter[str] = Counter()
        self.times: list[float] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked[self.path] += 1
                site.times.append(time.monotonic())
                page = site.pages.get(self.path, (404, {}, ""))
                page = page() if callable(page) else page
                status, headers, body = page if isinstance(page, tuple) else (200, {}, page)
                data = body.encode() if isinstance(body, str) else body
                self.send_response(status)
                for name, value in {"Content-Type": "text/html", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.root = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()


@pytest.fixture
def site() -> Iterator[Site]:
    made = Site()
    yield made
    made.server.shutdown()
    made.server.server_close()


def _crawl(site: Site, folder: Path, **manners: Any) -> Crawl:
    usual = {
        "agent": "taxpraben", "delay": 0.0, "cap_delay": True, "max_pages": 100, "max_depth": 50, "max_bytes": 10_000,
        "max_queries": 5, "timeout": 2.0,
    }  # fmt: skip
    return crawl(site.root, ["index.html"], [Everything()], Manners(**{**usual, **manners}), folder)


def test_every_page_is_fetched_once_whatever_its_links_look_like(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = (
        '<a href="a.html#top">1</a><a href="./a.html?q=&q=&q=">2</a><a href="//A.html">3</a><a href="x/../a.html">4</a>'
    )
    site.pages["/a.html"] = '<a href="a.html?q=&q=&q=&q=">again</a><a href="index.html">home</a>'
    result = _crawl(site, tmp_path)
    assert sorted(result.pages) == ["a.html", "index.html"]
    assert site.asked["/a.html"] == 1


def test_base_href_is_honoured(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = '<a href="lists/1.html">list</a>'
    site.pages["/lists/1.html"] = '<base href="../"><a href="b.html">b</a>'
    site.pages["/b.html"] = "text"
    assert "b.html" in _crawl(site, tmp_path).pages


def test_robots_txt_that_fails_closes_the_site_for_now(site: Site, tmp_path: Path) -> None:
    site.pages["/robots.txt"] = (503, {}, "")
    site.pages["/index.html"] = "text"
    result = _crawl(site, tmp_path)
    assert result.pages == {}
    assert "503" in result.closed
    assert site.asked["/index.html"] == 0


def test_disallowed_pages_are_never_asked_for_and_are_counted(site: Site, tmp_path: Path) -> None:
    site.pages["/robots.txt"] = "User-agent: *\nDisallow: /private/\n"
    site.pages["/index.html"] = '<a href="private/x.html">x</a><a href="y.html">y</a>'
    site.pages["/y.html"] = "text"
    result = _crawl(site, tmp_path)
    assert site.asked["/private/x.html"] == 0
    assert result.counts["closed"] == 1


def test_crawl_delay_is_kept_and_capped_on_loopback(site: Site, tmp_path: Path) -> None:
    site.pages["/robots.txt"] = "User-agent: *\nCrawl-delay: 30\n"
    site.pages["/index.html"] = '<a href="1.html">1</a><a href="2.html">2</a>'
    site.pages["/1.html"] = site.pages["/2.html"] = "text"
    _crawl(site, tmp_path, delay=0.15)
    asked = site.times[1:]  # after robots.txt
    assert len(asked) == 3
    assert all(after - before >= 0.14 for before, after in pairwise(asked))
    assert asked[-1] - asked[0] < 10


def test_broken_slow_and_oversized_pages_are_troubles_with_their_referrer(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = "".join(
        f'<a href="{name}.html">x</a>' for name in ("gone", "slow", "big", "away", "pdf")
    )
    site.pages["/slow.html"] = lambda: time.sleep(0.6) or "late"
    site.pages["/big.html"] = "x" * 20_000
    site.pages["/away.html"] = (302, {"Location": "http://example.invalid/"}, "")
    site.pages["/pdf.html"] = (200, {"Content-Type": "application/pdf"}, "x")
    result = _crawl(site, tmp_path, timeout=0.15)
    causes = {trouble.path: trouble.cause for trouble in result.troubles}
    assert "404" in causes["gone.html"]
    assert "ReadTimeout" in causes["slow.html"]
    assert "above the cap" in causes["big.html"]
    assert "off the site" in causes["away.html"]
    assert "application/pdf" in causes["pdf.html"]
    assert {trouble.linked_from for trouble in result.troubles} == {"index.html"}


def test_a_page_that_fails_for_a_while_is_tried_again(site: Site, tmp_path: Path) -> None:
    answers = iter([(500, {}, ""), "text"])
    site.pages["/index.html"] = lambda: next(answers)
    assert "index.html" in _crawl(site, tmp_path).pages


def test_a_firewall_page_is_recognised_and_never_stored(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = "<script>var arg1='3F';</script><textarea id='renderData'></textarea>"
    result = _crawl(site, tmp_path)
    assert "firewall" in result.troubles[0].cause
    assert result.pages == {}
    assert not any(b"arg1" in file.read_bytes() for file in tmp_path.iterdir())


def test_a_crawl_that_was_killed_goes_on_without_asking_again(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = '<a href="1.html">1</a>'
    site.pages["/1.html"] = '<a href="2.html">2</a>'

    def stop(done: int, waiting: int) -> None:
        if done == 2:
            raise KeyboardInterrupt

    manners = Manners("taxpraben", 0.0, True, 100, 50, 10_000, 5, 2.0)
    site.pages["/2.html"] = "text"
    with pytest.raises(KeyboardInterrupt):
        crawl(site.root, ["index.html"], [Everything()], manners, tmp_path, stop)
    result = _crawl(site, tmp_path)
    assert sorted(result.pages) == ["1.html", "2.html", "index.html"]
    assert (site.asked["/index.html"], site.asked["/1.html"], site.asked["/2.html"]) == (1, 1, 1)
    assert (result.counts["resumed"], result.counts["cached"]) == (1, 2)


def test_a_finished_crawl_asks_for_every_page_anew(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = "old"
    _crawl(site, tmp_path)
    site.pages["/index.html"] = "new"
    assert _crawl(site, tmp_path).pages["index.html"].html == "new"


def test_a_web_site_is_asked_with_its_own_validators(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = (200, {"ETag": '"1"'}, "text")
    _crawl(site, tmp_path, cap_delay=False)
    site.pages["/index.html"] = (304, {}, "")
    result = _crawl(site, tmp_path, cap_delay=False)
    assert result.pages["index.html"].html == "text"
    assert result.counts["unchanged"] == 1


def test_calendars_and_endless_pages_end_at_the_caps(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = "".join(f'<a href="calendar?day={day}">x</a>' for day in range(50))
    for day in range(50):
        site.pages[f"/calendar?day={day}"] = "day"
    result = _crawl(site, tmp_path, max_queries=5)
    assert len(result.pages) == 6
    assert result.counts["query variants left out"] == 45
    capped = _crawl(site, tmp_path / "b", max_queries=50, max_pages=3)
    assert len(capped.pages) == 3
    assert "cap of 3 pages" in capped.troubles[0].cause


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("a.html#part", "http://example.invalid/x/a.html"),
        ("../b/./c.html", "http://example.invalid/b/c.html"),
        ("?b=2&a=1&b=2&c=", "http://example.invalid/x/index.html?a=1&b=2"),
        ("HTTP://EXAMPLE.invalid:80/%7Ea//b/", "http://example.invalid/~a/b/"),
        ("n29$2.html", "http://example.invalid/x/n29$2.html"),
        ("mailto:a@example.invalid", ""),
        ("http://[bad", ""),
    ],
)
def test_addresses_have_one_form(link: str, address: str) -> None:
    assert canonical(link, "http://example.invalid/x/index.html") == address


def test_an_origin_holds_no_host_and_no_port() -> None:
    assert site_path("http://127.0.0.1:5555/article/Risk/r1.html") == "article/Risk/r1.html"


def test_the_longest_rule_of_robots_txt_decides_and_allow_wins_a_tie() -> None:
    robots = parse_robots("User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /*.pdf$\n", "taxpraben")
    assert not robots.allows("http://h/a/c.html")
    assert robots.allows("http://h/a/b/c.html")
    assert not robots.allows("http://h/x.pdf")
    assert robots.allows("http://h/x.pdf?y=1")


def test_a_group_that_names_the_crawler_replaces_the_general_one() -> None:
    robots = parse_robots("User-agent: *\nDisallow: /\nUser-agent: taxpraben\nDisallow: /no\n", "TaxPraBen/1.0")
    assert robots.allows("http://h/yes")
    assert not robots.allows("http://h/no")


@pytest.mark.parametrize(("status", "allowed"), [(404, True), (403, True), (503, False), (None, False)])
def test_failures_of_robots_txt_have_their_rules(status: int | None, allowed: bool) -> None:
    assert robots_of(status, "", "taxpraben").allows("http://h/x") is allowed


def test_an_unknown_adapter_is_suggested_its_nearest() -> None:
    assert {"chinatax", "shui5"} <= set(adapter_names())
    with pytest.raises(UnknownAdapterError, match="did you mean 'shui5'"):
        find_adapter("shiu5")
