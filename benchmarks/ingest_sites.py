"""Crawl speed and memory: the sites of tests/ingest/loopback_site.py on loopback, without delay.

Run from the repository: python -m benchmarks.ingest_sites [--pages 2000]. The sites are served by a process of their
own, so that the figures are the crawler's. The claim that is checked: every document of the sites is there, and a
second run over the kept pages gives the same documents.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.ingest.loopback_site import TOKEN, make_hosts, serve

CRAWL = {"delay_seconds": 0, "timeout_seconds": 2, "max_queries": 20, "max_bytes": 500_000}


def measure(folder: Path) -> None:
    """In a process of its own: crawl all sources of ``params.json``, print the figures as JSON."""
    from stages.ingest.params import IngestParams
    from stages.ingest.stage import collect

    params = IngestParams.model_validate(json.loads((folder / "params.json").read_text(encoding="utf-8")))
    began, worked = time.perf_counter(), time.process_time()
    harvest = collect(params, folder, folder / "cache")
    titles = sorted((document.source, document.origin, document.title) for document in harvest.documents)
    figures = {
        "wall": time.perf_counter() - began,
        "cpu": time.process_time() - worked,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "pages": harvest.notes["pages fetched"],
        "asked": harvest.notes["crawl: asked"],
        "titles": titles,
    }
    print(json.dumps(figures))


def _serve(pages: int, pipe: Connection) -> None:
    hosts = [host for host in make_hosts(seed=7, pages=pages) if host.name != "closed"]
    for host in hosts:  # faults that wait are left out: they measure the timeout
        for target in ("/slow.html", "/broken.html", "/busy.html"):
            host.pages.pop(target, None)
        host.pages.pop("/robots.txt", None)  # the house's Crawl-delay
    with serve(hosts) as loopback:
        expected = sorted((host.name, origin, title) for host in hosts for origin, title in host.expected.items())
        pipe.send({"sources": loopback.sources(), "expected": expected})
        pipe.recv()


def _run(folder: Path) -> dict[str, Any]:
    environment = {**os.environ, "TAXPRABEN_OPINION_TOKEN": TOKEN, "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "benchmarks.ingest_sites", "--measure", str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def main() -> None:
    """Print a Markdown table, and whether the claim holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=2000)
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure)
        return
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.Process(target=_serve, args=(options.pages, theirs), daemon=True)
    server.start()
    sites = ours.recv()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        params = {"sources": sites["sources"], "crawl": CRAWL}
        (folder / "params.json").write_text(json.dumps(params), encoding="utf-8")
        first, again = _run(folder), _run(folder)
    ours.send("done")
    server.join(timeout=10)
    print("| run | pages | requests | wall | CPU | pages a second | peak memory |\n|---|---:|---:|---:|---:|---:|---:|")
    for label, row in (("first, all fetched", first), ("again, from the kept pages", again)):
        print(
            f"| {label} | {row['pages']:,} | {row['asked']:,} | {row['wall']:.1f} s | {row['cpu']:.1f} s "
            f"| {row['pages'] / row['wall']:.0f} | {row['peak']:.0f} MiB |"
        )
    complete = [list(row) for row in sites["expected"]] == first["titles"]
    same = first["titles"] == again["titles"] and again["asked"] == 0
    print(
        f"\nEvery document of the sites, by title: {complete}. The second run asked for nothing, same result: {same}."
    )
    if not (complete and same):
        sys.exit(1)


if __name__ == "__main__":
    main()
