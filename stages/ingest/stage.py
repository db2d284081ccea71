"""Sources to documents: every file and site read, then duplicates dropped and personal data masked."""

from __future__ import annotations

import time
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path

from stages.ingest.adapters import find_adapter
from stages.ingest.crawl.crawler import Manners, crawl
from stages.ingest.crawl.local_site import serve_folder
from stages.ingest.crawl.pace import Pace
from stages.ingest.crawl.page_cache import finish_crawl
from stages.ingest.masking import take_out
from stages.ingest.near_duplicates import drop_duplicates, drop_repeated_questions
from stages.ingest.ocr import Reader
from stages.ingest.outcome import Harvest, Place
from stages.ingest.params import CrawlParams, IngestParams, SourceParams
from stages.ingest.parsers import SITE, Desk, find_parser
from stages.ingest.personal_data import find_personal_data
from stages.ingest.sites import SiteReader
from taxpraben.records.base import revise
from taxpraben.records.document import Quarantined

Say = Callable[[str], None]


def ingest(params: IngestParams, root: Path, cache: Path, say: Say = lambda _: None) -> Harvest:
    """All sources' documents, cleaned, and all that was set aside: ``collect``, then ``clean``."""
    return clean(collect(params, root, cache, say), params.near_duplicate, say)


def collect(params: IngestParams, root: Path, cache: Path, say: Say = lambda _: None) -> Harvest:
    """All sources' documents as they were read, and all that could not be.

    Args:
        params: which sources, and how.
        root: the sources folder (or one file of it).
        cache: folder kept between runs: OCR by page image, pages of crawls.
        say: told one line at a time.

    Raises:
        UnknownParserError, UnknownAdapterError: params.yaml names one that does not exist; nothing was read.
    """
    for source in params.sources:
        if source.parser == SITE:
            for name in source.adapters:
                find_adapter(name)
        else:
            find_parser(source.parser)
    ocr = params.ocr
    reader = Reader(cache / "ocr", ocr.dpi, ocr.least_score, ocr.engine, ocr.processes)
    harvest = Harvest()
    pace = Pace()
    for source in params.sources:
        if source.parser == SITE:
            part = _site(source, params.crawl, root, crawl_cache(cache, source.name), pace, say)
        else:
            part = _files(source, root, reader, say)
        say(f"{source.name}: {len(part.documents)} documents, {len(part.quarantined)} set aside")
        harvest.add(part)
    reader.close()
    harvest.notes["OCR pages taken from the cache"] += reader.counts["cached"]
    return harvest


def crawl_cache(cache: Path, source: str) -> Path:
    """Where the pages of a site's crawl are kept."""
    return cache / "crawl" / source


def finish_crawls(params: IngestParams, cache: Path) -> None:
    """Call when the documents are written: crawls that came to their end are over, the next asks what has changed.

    Until then a run that is killed goes on from the pages that it has.
    """
    for source in params.sources:
        if source.parser == SITE:
            finish_crawl(crawl_cache(cache, source.name))


def clean(harvest: Harvest, near_duplicate: float, say: Say = lambda _: None) -> Harvest:
    """The harvest without duplicates, and with personal data masked in documents and in quarantined excerpts."""
    out = Harvest(quarantined=harvest.quarantined, notes=harvest.notes, taken=harvest.taken, pages=harvest.pages)
    kept, duplicates = drop_duplicates(harvest.documents, near_duplicate, _paced("duplicates", say))
    for duplicate in duplicates:
        row = duplicate.dropped
        place = Place(row.source, row.pipeline, row.origin)
        out.set_aside(place, "document", duplicate.cause, "keep one of the two in the sources", row.text)
    kept, questions = drop_repeated_questions(kept)
    for document, label, cause in questions:
        out.set_aside(
            Place(document.source, document.pipeline, document.origin), label, cause, "leave out one of the two"
        )
    tell = _paced("personal data", say)
    for number, document in enumerate(kept, start=1):
        if document.kind != "verdict":  # masked by its parser, which knows the parties
            document, out.taken[document.document_id] = take_out(document)
        out.documents.append(document)
        tell(number, len(kept))
    out.quarantined = [_masked(row) for row in out.quarantined]
    return out


def _masked(row: Quarantined) -> Quarantined:
    excerpt = row.excerpt
    for _, surface, token in find_personal_data(excerpt):
        excerpt = excerpt.replace(surface, token)
    return revise(row, excerpt=excerpt) if excerpt != row.excerpt else row


def _files(source: SourceParams, root: Path, reader: Reader, say: Say) -> Harvest:
    harvest = Harvest()
    parse = find_parser(source.parser)
    files = _matching(root, source.path)
    if not files:
        place = Place(source.name, source.pipeline, source.path)
        harvest.set_aside(
            place, "source", f"no file matches {source.path} under the sources folder",
            "put the files there or correct ingest.sources in params.yaml",
        )  # fmt: skip
    tell = _paced(source.name, say)
    for number, path in enumerate(files, start=1):
        origin = path.relative_to(root).as_posix() if path != root else path.name
        place = Place(source.name, source.pipeline, origin)
        try:
            harvest.add(parse(Desk(place, path, source, reader, _paced(f"{source.name}: {path.name}: pages", say))))
        except ValueError as error:  # our named errors: the file is not what it should be
            harvest.set_aside(place, "file", str(error), "mend or remove the file")
        except Exception as error:  # one bad file never stops the run; what it broke is said
            cause = f"the parser {source.parser} failed on this file ({type(error).__name__}: {error})"
            harvest.set_aside(place, "file", cause, "report the file with this message")
        tell(number, len(files))
    return harvest


def _matching(root: Path, pattern: str) -> list[Path]:
    if root.is_file():
        return [root] if fnmatch(root.name, Path(pattern).name) else []
    return sorted(path for path in root.glob(pattern) if path.is_file() and not path.name.startswith("."))


def _site(source: SourceParams, params: CrawlParams, root: Path, cache: Path, pace: Pace, say: Say) -> Harvest:
    if source.url:
        return _crawled(source, params, source.url, cache, pace, say)
    folder = root / source.path
    if not folder.is_dir():
        harvest = Harvest()
        place = Place(source.name, source.pipeline, source.path)
        harvest.set_aside(place, "source", f"no folder {source.path} under the sources folder", "put the site there")
        return harvest
    with serve_folder(folder) as address:
        return _crawled(source, params, address, cache, pace, say)


def _crawled(source: SourceParams, params: CrawlParams, address: str, cache: Path, pace: Pace, say: Say) -> Harvest:
    adapters = [find_adapter(name) for name in source.adapters]
    reader = SiteReader(source.name, address, adapters, source.sections)
    manners = Manners(
        agent=params.agent,
        delay=params.delay_seconds,
        cap_delay=not source.url,
        max_pages=params.max_pages,
        max_depth=params.max_depth,
        max_bytes=params.max_bytes,
        max_queries=params.max_queries,
        timeout=params.timeout_seconds,
        max_host_pages=params.max_host_pages,
        max_total_bytes=params.max_total_bytes,
        patience=params.patience,
    )
    tell = _paced(f"{source.name}: pages fetched, links waiting", say)
    return reader.harvest(
        crawl(address, source.starts, adapters, manners, cache, reader.take, tell, source.hosts, pace)
    )


def _paced(label: str, say: Say, every: float = 2.0) -> Callable[[int, int], None]:
    """A listener that says ``label: done of all`` at most every ``every`` seconds."""
    last = time.monotonic()

    def tell(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= every:
            last = time.monotonic()
            say(f"{label}: {done} of {total}")

    return tell
