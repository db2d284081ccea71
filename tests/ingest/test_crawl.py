"""The crawl against a faulty site on loopback."""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from stages.ingest.adapters import UnknownAdapterError, adapter_names, find_adapter
from stages.ingest.adapters.base import Adapter, Article, Page
from stages.ingest.crawl.crawler import Crawl, Manners, crawl
from stages.ingest.crawl.page_cache import finish_crawl, forget
from stages.ingest.crawl.robots import parse_robots, robots_of
from stages.ingest.crawl.urls import canonical, family, site_path, trap


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
        self.sent: list[dict[str, str]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked[self.path] += 1
                site.sent.append(dict(self.headers))
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


class Brought(Crawl):
    """A crawl and its pages by path."""

    pages: dict[str, Page]


def _crawl(site: Site, folder: Path, stop_after: int = 0, **manners: Any) -> Brought:
    usual = {
        "agent": "taxpraben", "delay": 0.0, "cap_delay": True, "max_pages": 100, "max_depth": 50, "max_bytes": 10_000,
        "max_queries": 5, "timeout": 2.0,
    }  # fmt: skip
    hosts = manners.pop("hosts", ())
    pages: dict[str, Page] = {}

    def visit(page: Page) -> None:
        assert page.path not in pages
        pages[page.path] = page
        if len(pages) == stop_after:
            raise KeyboardInterrupt

    result = crawl(
        site.root, ["index.html"], [Everything()], Manners(**{**usual, **manners}), folder, visit, hosts=hosts
    )
    brought = Brought(**vars(result))
    brought.pages = pages
    assert result.paths == list(pages)
    return brought


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
    assert "more than the cap" in causes["big.html"]
    assert "off the site" in causes["away.html"]
    assert "application/pdf" in causes["pdf.html"]
    assert {trouble.linked_from for trouble in result.troubles} == {"index.html"}


def test_a_page_that_fails_for_a_while_is_tried_again(site: Site, tmp_path: Path) -> None:
    answers = iter([(500, {}, ""), "text"])
    site.pages["/index.html"] = lambda: next(answers)
    assert "index.html" in _crawl(site, tmp_path).pages


@pytest.mark.parametrize(
    "page",
    [
        "<script>var arg1='3F';</script><textarea id='renderData'></textarea>",
        "<script>document.cookie='__jsl_clearance=1'</script>",
        "<html><body>您的访问过于频繁，请输入验证码后继续。</body></html>",
        (412, {}, "<script>x()</script>"),
        (403, {}, "<html><body>您的请求已被拦截</body></html>"),
    ],
)
def test_a_firewall_page_is_recognised_and_never_stored(site: Site, tmp_path: Path, page: Any) -> None:
    site.pages["/index.html"] = page
    result = _crawl(site, tmp_path)
    assert "firewall" in result.troubles[0].cause
    assert result.pages == {}
    kept = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert not any(mark in kept for mark in (b"arg1", b"clearance", "验证码".encode(), b"x()", "拦截".encode()))


def test_an_article_about_captchas_is_no_firewall_page(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = "<p>" + "税务机关提醒：办理退税不需要告诉他人验证码，凡说请输入验证码的都要当心。" * 20
    assert "index.html" in _crawl(site, tmp_path).pages


def test_a_host_that_refuses_again_and_again_is_left_for_a_later_run(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = "".join(f'<a href="{n}.html">x</a>' for n in range(9))
    for n in range(9):
        site.pages[f"/{n}.html"] = (412, {}, "x")
    result = _crawl(site, tmp_path, patience=3)
    assert "3 refusals in a row: 6 pages were left" in result.troubles[-1].cause
    assert sum(site.asked[f"/{n}.html"] for n in range(9)) == 3
    for n in range(9):
        site.pages[f"/{n}.html"] = f"text {n}"
    finish_crawl(tmp_path)  # does nothing: the crawl did not come to its end
    assert len(_crawl(site, tmp_path, patience=3).pages) == 10
    assert site.asked["/index.html"] == 1


def test_a_crawl_that_was_killed_goes_on_without_asking_again(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = '<a href="1.html">1</a><a href="gone.html">x</a><a href="old.html">x</a>'
    site.pages["/old.html"] = (301, {"Location": "/1.html"}, "")
    site.pages["/1.html"] = '<a href="2.html">2</a>'
    site.pages["/2.html"] = "text"
    with pytest.raises(KeyboardInterrupt):
        _crawl(site, tmp_path, stop_after=3)
    result = _crawl(site, tmp_path)
    assert sorted(result.pages) == ["1.html", "2.html", "index.html"]
    asked = {path: count for path, count in site.asked.items() if path != "/robots.txt"}
    assert asked == dict.fromkeys(["/index.html", "/1.html", "/2.html", "/gone.html", "/old.html"], 1)
    assert (result.counts["resumed"], result.counts["cached"]) == (1, 5)


def test_a_crawl_whose_documents_were_not_written_is_gone_through_without_asking_again(
    site: Site, tmp_path: Path
) -> None:
    site.pages["/index.html"] = "old"
    _crawl(site, tmp_path)
    _crawl(site, tmp_path)
    assert site.asked["/index.html"] == 1


def test_a_finished_crawl_asks_for_every_page_anew(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = "old"
    _crawl(site, tmp_path)
    finish_crawl(tmp_path)
    site.pages["/index.html"] = "new"
    assert _crawl(site, tmp_path).pages["index.html"].html == "new"


def test_what_is_forgotten_is_asked_for_again_and_nothing_else(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = '<a href="1.html">1</a>'
    assert _crawl(site, tmp_path).troubles[0].path == "1.html"
    finish_crawl(tmp_path)
    site.pages["/1.html"] = "it is back"
    assert forget(tmp_path, ["1.html", "never.html"]) == 1
    assert _crawl(site, tmp_path).pages["1.html"].html == "it is back"
    assert (site.asked["/index.html"], site.asked["/1.html"]) == (1, 2)


def test_a_web_site_is_asked_with_its_own_validators(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = (200, {"ETag": '"1"', "Last-Modified": "Sat, 03 Jan 2026 08:00:00 GMT"}, "text")
    _crawl(site, tmp_path, cap_delay=False)
    finish_crawl(tmp_path)
    site.pages["/index.html"] = (304, {}, "")
    result = _crawl(site, tmp_path, cap_delay=False)
    assert result.pages["index.html"].html == "text"
    assert result.counts["unchanged"] == 1
    assert site.sent[-1]["If-None-Match"] == '"1"'
    assert site.sent[-1]["If-Modified-Since"] == "Sat, 03 Jan 2026 08:00:00 GMT"


def test_redirects_lead_to_a_page_once_and_circles_end(site: Site, tmp_path: Path) -> None:
    links = "".join(f'<a href="{name}">x</a>' for name in ("a.html", "b.html", "c.html", "r1.html", "c1.html"))
    site.pages["/index.html"] = links
    for name in ("a", "b"):
        site.pages[f"/{name}.html"] = (302, {"Location": "/c.html"}, "")
    site.pages["/c.html"] = "text"
    site.pages["/r1.html"] = (302, {"Location": "r2.html"}, "")
    site.pages["/r2.html"] = (302, {"Location": "r1.html"}, "")
    for number in range(1, 9):
        site.pages[f"/c{number}.html"] = (302, {"Location": f"c{number + 1}.html"}, "")
    result = _crawl(site, tmp_path)
    assert sorted(result.pages) == ["c.html", "index.html"]
    assert site.asked["/c.html"] == 1
    causes = [trouble.cause for trouble in result.troubles]
    assert "redirects in a circle: r2.html -> r1.html -> r2.html" in causes
    assert "more than 5 redirects" in causes


def test_a_page_that_states_its_address_is_had_once(site: Site, tmp_path: Path) -> None:
    stated = '<link rel="canonical" href="a.html">text'
    site.pages["/index.html"] = '<a href="a.html?print=1">1</a><a href="a.html">2</a><a href="a.html?from=x">3</a>'
    for query in ("", "?print=1", "?from=x"):
        site.pages[f"/a.html{query}"] = stated
    result = _crawl(site, tmp_path)
    assert sorted(result.pages) == ["a.html", "index.html"]
    assert result.counts["copies by rel=canonical"] == 2


def test_a_page_that_refreshes_to_another_and_a_frame_are_followed(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = '<meta http-equiv="Refresh" content="0; URL=\'home.html\'">'
    site.pages["/home.html"] = '<iframe src="inner.html"></iframe>'
    site.pages["/inner.html"] = "text"
    assert "inner.html" in _crawl(site, tmp_path).pages


def test_further_hosts_are_crawled_by_their_own_robots_txt_and_others_never(site: Site, tmp_path: Path) -> None:
    other, stranger = Site(), Site()
    host = urlsplit(other.root).netloc
    site.pages["/index.html"] = f'<a href="{other.root}x.html">x</a><a href="{other.root}no/y.html">y</a>'
    site.pages["/index.html"] += f'<a href="{stranger.root}z.html">z</a>'
    other.pages["/robots.txt"] = "User-agent: *\nDisallow: /no/\n"
    other.pages["/x.html"] = other.pages["/no/y.html"] = "text"
    result = _crawl(site, tmp_path, hosts=[host])
    assert sorted(result.pages) == [f"//{host}/x.html", "index.html"]
    assert (other.asked["/no/y.html"], sum(stranger.asked.values())) == (0, 0)
    capped = _crawl(site, tmp_path / "b", hosts=[host], max_host_pages=1, max_total_bytes=10**9)
    assert len(capped.pages) == 2
    for server in (other.server, stranger.server):
        server.shutdown()
        server.server_close()


def test_the_bytes_of_a_crawl_are_capped(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = '<a href="1.html">1</a><a href="2.html">2</a>' + "x" * 900
    site.pages["/1.html"] = site.pages["/2.html"] = "x" * 900
    result = _crawl(site, tmp_path, max_total_bytes=1500)
    assert len(result.pages) == 2
    assert "cap of 1500 bytes" in result.troubles[-1].cause


def test_a_page_says_gb2312_and_holds_what_only_gb18030_has(site: Site, tmp_path: Path) -> None:
    text = '<meta charset="gb2312"><p>镕𠮷</p>'
    site.pages["/index.html"] = (200, {"Content-Type": "text/html; charset=utf-8"}, text.encode("gb18030"))
    assert "镕𠮷" in _crawl(site, tmp_path).pages["index.html"].html


def test_a_byte_order_mark_counts_for_more_than_the_header(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = (200, {"Content-Type": "text/html; charset=gbk"}, "\ufeff<p>税</p>".encode())
    assert _crawl(site, tmp_path).pages["index.html"].html == "<p>税</p>"


def test_calendars_and_endless_pages_end_at_the_caps(site: Site, tmp_path: Path) -> None:
    site.pages["/index.html"] = "".join(f'<a href="calendar?day={day}">x</a>' for day in range(50))
    for day in range(50):
        site.pages[f"/calendar?day={day}"] = "day"
    result = _crawl(site, tmp_path, max_queries=5)
    assert len(result.pages) == 6
    assert result.counts["query variants left out"] == 45
    assert "5 fetched, 45 and all behind them left out" in result.troubles[0].cause
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
        ("b.html;jsessionid=0F?utm_source=x&page=2&spm=1", "http://example.invalid/x/b.html?page=2"),
        ("c.html\n", "http://example.invalid/x/c.html"),
        ("mailto:a@example.invalid", ""),
        ("http://[bad", ""),
    ],
)
def test_addresses_have_one_form(link: str, address: str) -> None:
    assert canonical(link, "http://example.invalid/x/index.html") == address


@pytest.mark.parametrize(
    ("path", "kin"),
    [
        ("search?q=1", "/search"),
        ("calendar/2031/05/", "/calendar/(date)"),
        ("day/2031-05-06.html", "/day/(date)"),
        ("month/203105/", "/month/(date)"),
        ("art/2026/1/5/art_1_2.html", ""),
        ("article/x/202601.html", ""),
        ("article/x/2031.html", ""),
    ],
)
def test_days_of_a_calendar_are_one_family_and_articles_are_none(path: str, kin: str) -> None:
    assert family(f"http://h/{path}") == kin


def test_addresses_that_repeat_a_folder_are_a_trap() -> None:
    assert trap("http://h/a/b/a/b/a/c.html") == "repeats a folder"
    assert trap("http://h/a/b/a/c.html") == ""
    assert trap("http://h/1/1/1/c.html") == ""


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


@pytest.mark.parametrize(("status", "allowed"), [(404, True), (403, True), (503, False), (429, False), (None, False)])
def test_failures_of_robots_txt_have_their_rules(status: int | None, allowed: bool) -> None:
    assert robots_of(status, "", "taxpraben").allows("http://h/x") is allowed


def test_an_unknown_adapter_is_suggested_its_nearest() -> None:
    assert {"chinatax", "shui5"} <= set(adapter_names())
    with pytest.raises(UnknownAdapterError, match="did you mean 'shui5'"):
        find_adapter("shiu5")
