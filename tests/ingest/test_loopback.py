"""Sites on loopback in the style of every adapter, with the traps of real ones: complete, once, polite, resumable."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stages.ingest.adapters import adapter_names
from stages.ingest.outcome import Harvest
from stages.ingest.params import IngestParams
from stages.ingest.stage import collect, finish_crawls
from taxpraben.records.base import read_records
from taxpraben.records.document import Document
from tests.ingest.loopback_site import TOKEN, Asked, Loopback, make_hosts, serve

ROOT = Path(__file__).parents[2]
DELAY = 0.005
CRAWL = {"delay_seconds": DELAY, "timeout_seconds": 0.4, "max_queries": 20, "max_bytes": 500_000}
# Asked for three times: no answer in time, a broken one, 503.
TRIED_AGAIN = {("plain", "/slow.html"), ("plain", "/broken.html"), ("plain", "/busy.html"), ("closed", "/robots.txt")}

# The crawling process that is killed: reads all sources, writes the documents, then closes the crawls.
WORKER = """
import json, sys
from pathlib import Path
from stages.ingest.params import IngestParams
from stages.ingest.stage import collect, finish_crawls
from taxpraben.records.base import write_records
from taxpraben.records.document import Document, Quarantined
folder = Path(sys.argv[1])
params = IngestParams.model_validate(json.loads((folder / "params.json").read_text(encoding="utf-8")))
harvest = collect(params, folder, folder / "cache")
write_records(folder / "quarantined.parquet", Quarantined, harvest.quarantined)
write_records(folder / "documents.parquet", Document, harvest.documents)
finish_crawls(params, folder / "cache")
"""


@pytest.fixture(autouse=True)
def _token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAXPRABEN_OPINION_TOKEN", TOKEN)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Loopback, Harvest, list[Asked]]]:
    """Some 120 pages, crawled once."""
    folder = tmp_path_factory.mktemp("loopback")
    with serve(make_hosts(seed=3, pages=120), slow=0.8) as loopback, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAXPRABEN_OPINION_TOKEN", TOKEN)
        harvest = collect(_params(loopback), folder, folder / "cache")
        yield loopback, harvest, list(loopback.log)


def _params(loopback: Loopback, **crawl: Any) -> IngestParams:
    return IngestParams.model_validate({"sources": loopback.sources(), "crawl": {**CRAWL, **crawl}})


def _expected(loopback: Loopback) -> dict[tuple[str, str], str]:
    return {(host.name, origin): title for host in loopback.hosts for origin, title in host.expected.items()}


def _titles(documents: list[Document]) -> dict[tuple[str, str], str]:
    return {(document.source, document.origin): document.title for document in documents}


def test_every_adapter_has_a_site_here() -> None:
    used = {name.partition(":")[0] for host in make_hosts(pages=20) for name in host.source["adapters"]}
    assert used == set(adapter_names())


def test_every_document_is_brought_and_nothing_else(small: tuple[Loopback, Harvest, list[Asked]]) -> None:
    loopback, harvest, _ = small
    assert _titles(harvest.documents) == _expected(loopback)


def test_every_trap_is_set_aside_with_its_cause(small: tuple[Loopback, Harvest, list[Asked]]) -> None:
    causes = {(row.source, row.origin): row.cause for row in small[1].quarantined}
    assert {key: cause.partition(";")[0] for key, cause in causes.items()} == {
        ("house", "article/FaGuiJieDu/wall.html"): (
            "the page is a firewall's answer (a script challenge) and no page of the site"
        ),
        ("house", "article/FaGuiJieDu/changed.html"): "adapter shui5: the page lacks a body that the adapter knows",
        ("house", "article/FaGuiJieDu/scripts.html"): (
            "adapter shui5: the page is empty without a browser (its text is made by scripts)"
        ),
        ("plain", "slow.html"): "the page gave no answer (ReadTimeout) in 3 tries",
        ("plain", "broken.html"): "the page gave no answer (RemoteProtocolError) in 3 tries",
        ("plain", "busy.html"): "the page answered 503 in 3 tries",
        ("plain", "gone.html"): "the page answered 404",
        ("plain", "away.html"): "the page redirects off the site to http://elsewhere.invalid/",
        ("plain", "round/b.html"): "the page redirects in a circle: round/b.html -> round/a.html -> round/b.html",
        ("plain", "guard.html"): (
            "the page is a firewall's answer (a page that refuses robots) and no page of the site"
        ),
        ("plain", "huge.html"): "the page holds more than the cap of 500000 bytes",
        ("plain", "paper.html"): "the page is application/pdf, not a page",
        ("plain", "calendar/(date)"): (
            "addresses of one family (a calendar, a search): 20 fetched, 1 and all behind them left out"
        ),
        ("plain", "search"): (
            "addresses of one family (a calendar, a search): 20 fetched, 1 and all behind them left out"
        ),
        ("closed", "robots.txt"): "robots.txt answered 503: treated as disallow for now",
    }


def test_no_page_is_asked_for_twice_and_none_that_robots_txt_disallows(
    small: tuple[Loopback, Harvest, list[Asked]],
) -> None:
    asked = Counter((line.host, line.target) for line in small[2])
    assert {target for target, count in asked.items() if count > 1} == TRIED_AGAIN
    assert not any(target.startswith("/private") for _, target in asked)
    assert [target for host, target in asked if host == "closed"] == ["/robots.txt"]


def test_the_delay_is_kept_between_all_requests_to_a_host(small: tuple[Loopback, Harvest, list[Asked]]) -> None:
    assert _smallest_gap(small[2]) >= DELAY


def test_topics_summaries_pairs_and_cases_come_from_the_sites(small: tuple[Loopback, Harvest, list[Asked]]) -> None:
    documents = small[1].documents
    house = [document for document in documents if document.source == "house"]
    assert len({document.category for document in house}) == 10
    assert all(document.summary and document.publisher == "虚构税讯" for document in house)
    boards = [document for document in documents if document.kind == "board"]
    assert boards
    assert all(document.parts[0].data["answer"] for document in boards)
    assert {document.kind for document in documents if document.source == "judgments"} == {"verdict"}
    assert {document.category for document in documents if document.source == "gansu"} == {"最新文件"}


def test_without_its_token_the_interface_is_set_aside_with_the_remedy(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("TAXPRABEN_OPINION_TOKEN")
    hosts = [host for host in make_hosts(pages=40) if host.name == "monitor"]
    with serve(hosts) as loopback:
        (row,) = collect(_params(loopback), tmp_path, tmp_path / "cache").quarantined
    assert "answered 401" in row.cause
    assert row.remedy.startswith("set the token")


def test_a_second_run_asks_again_and_gives_the_same_documents(tmp_path: Path) -> None:
    hosts = [host for host in make_hosts(pages=60) if host.name in ("house", "gansu")]
    with serve(hosts) as loopback:
        params = _params(loopback)
        first = collect(params, tmp_path, tmp_path / "cache")
        finish_crawls(params, tmp_path / "cache")
        asked = len(loopback.log)
        second = collect(params, tmp_path, tmp_path / "cache")
    assert second.documents == first.documents
    assert len(loopback.log) == 2 * asked


@pytest.mark.slow
def test_two_thousand_pages_are_complete_polite_and_survive_being_killed(tmp_path: Path) -> None:
    with serve(make_hosts(seed=7, pages=2000), slow=0.8) as loopback:
        sources = json.dumps({"sources": loopback.sources(), "crawl": CRAWL})
        undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
        for folder in (undisturbed, killed):
            folder.mkdir()
            (folder / "params.json").write_text(sources, encoding="utf-8")
        assert _work(undisturbed).wait(timeout=300) == 0
        whole, loopback.log[:] = list(loopback.log), []
        assert len({(line.host, line.target) for line in whole}) >= 2000
        kills = 0
        chance = random.Random(11)
        for wait in sorted(chance.uniform(1.5, 5.5) for _ in range(4)):
            process = _work(killed)
            time.sleep(wait)
            if process.poll() is None:
                os.kill(process.pid, signal.SIGKILL)
                kills += 1
            process.wait()
        assert kills >= 3
        assert not (killed / "documents.parquet").exists()
        assert _work(killed).wait(timeout=300) == 0
        log = list(loopback.log)
    documents = read_records(undisturbed / "documents.parquet", Document)
    assert _titles(documents) == _expected(loopback)
    for name in ("documents.parquet", "quarantined.parquet"):
        assert (killed / name).read_bytes() == (undisturbed / name).read_bytes()
    again = {
        target: count - 1
        for target, count in Counter((line.host, line.target) for line in log).items()
        if count > 1 and target not in TRIED_AGAIN and target[1] != "/robots.txt"
    }
    assert sum(again.values()) <= kills  # at most the one in flight at each kill
    assert _smallest_gap(whole) >= DELAY
    assert _smallest_gap(log) >= DELAY


def _work(folder: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-c", WORKER, str(folder)], env=environment)


def _smallest_gap(log: list[Asked]) -> float:
    last: dict[str, float] = {}
    gaps = []
    for line in log:
        if line.host in last:
            gaps.append(line.at - last[line.host])
        last[line.host] = line.at
    return min(gaps)
