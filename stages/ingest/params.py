"""Parameters of ingest: which sources there are, how they are read, how a crawl behaves."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from taxpraben.records.document import DocumentKind, Pipeline
from taxpraben.workspace import Params


class SourceParams(Params):
    """One source.

    Attributes:
        name: the source's name in documents and quarantine; unique.
        pipeline: books (A), official (B) or sites (C).
        parser: who reads its files (``stages.ingest.parsers``), or ``site`` for a crawl.
        path: a glob under the sources folder; for a site, its folder (served on loopback and crawled).
        url: a site's address on the web, instead of ``path``.
        hosts: for a site on the web, further hosts that belong to it (fgk.chinatax.gov.cn beside www.chinatax.gov.cn).
        adapters: for a site, its adapters, asked in order (modules of ``stages/ingest/adapters``; ``bureaus:gansu``
            names a row of the adapter's table).
        starts: for a site, its start pages, relative to its root.
        sections: for a site, the kind of document by section (the folder in the address); ``*`` for the others,
            ``skip`` for what is not wanted. For an article table, ``*`` is the kind of all its rows.
        questions: for exam tables without a type column, what their questions are; guessed from the answers if unset.
        publisher: for boards and documents that do not name their publisher.
    """

    name: str = Field(pattern=r"^[a-z0-9_]+$")
    pipeline: Pipeline
    parser: str
    path: str = ""
    url: str = ""
    hosts: list[str] = []
    adapters: list[str] = []
    starts: list[str] = ["index.html"]
    sections: dict[str, DocumentKind | Literal["skip"]] = {"*": "news"}
    questions: Literal["single", "multiple", "calculation"] | None = None
    publisher: str = ""

    @model_validator(mode="after")
    def _one_place(self) -> SourceParams:
        if bool(self.path) == bool(self.url):
            raise ValueError(f"source {self.name}: give either path or url")
        if self.url and self.parser != "site":
            raise ValueError(f"source {self.name}: url is for parser site")
        if self.parser == "site" and not self.adapters:
            raise ValueError(f"source {self.name}: a site needs adapters")
        return self


class OcrParams(Params):
    """How scanned pages are read.

    Attributes:
        engine: ``rapidocr``, or ``tesseract`` where that program is installed (quicker, more errors).
        dpi: resolution of the page images.
        processes: pages read side by side; 0 for as many as there are cores.
        least_score: lines of a lower confidence (0 to 1) are left out.
    """

    engine: Literal["rapidocr", "tesseract"] = "rapidocr"
    dpi: int = Field(default=150, ge=72, le=600)
    processes: int = Field(default=0, ge=0)
    least_score: float = Field(default=0.5, ge=0, le=1)


class CrawlParams(Params):
    """How a crawl behaves.

    Attributes:
        delay_seconds: from the end of a request to the start of the next one to the host, whichever source asks; on
            the web the Crawl-delay of robots.txt holds where it is longer, for a folder's site this caps it.
        timeout_seconds: until the site goes on; a page may take three times as long in all.
        max_pages, max_host_pages, max_depth: of a crawl, of one host of it, steps from a start page.
        max_bytes, max_total_bytes: of a page, of all pages of a crawl.
        max_queries: addresses fetched of one endless family (the query strings of a path, the days of a calendar).
        patience: refusals in a row (firewall, no answer) after which a host is left for a later run.
    """

    agent: str = "taxpraben"
    delay_seconds: float = Field(default=2.0, ge=0)
    timeout_seconds: float = Field(default=20.0, gt=0)
    max_pages: int = Field(default=20_000, ge=1)
    max_depth: int = Field(default=200, ge=1)
    max_bytes: int = Field(default=5_000_000, ge=1000)
    max_queries: int = Field(default=200, ge=1)
    max_host_pages: int = Field(default=20_000, ge=1)
    max_total_bytes: int = Field(default=5_000_000_000, ge=1000)
    patience: int = Field(default=10, ge=1)


class IngestParams(Params):
    """Section ``ingest`` of params.yaml.

    Attributes:
        near_duplicate: Jaccard similarity of character shingles from which on two texts are one.
    """

    sources: list[SourceParams] = []
    ocr: OcrParams = OcrParams()
    crawl: CrawlParams = CrawlParams()
    near_duplicate: float = Field(default=0.85, gt=0.3, le=1)

    @model_validator(mode="after")
    def _unique_names(self) -> IngestParams:
        names = [source.name for source in self.sources]
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise ValueError(f"two sources are named {', '.join(repeated)}; names must be unique")
        return self
