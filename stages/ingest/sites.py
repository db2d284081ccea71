"""A crawled site's pages as documents: the adapter that fits, continuations joined, kind and category by section."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from stages.ingest.adapters.base import Adapter, AdapterError, Article, Page
from stages.ingest.board_table import exchange_document
from stages.ingest.bulletins import cases
from stages.ingest.crawl.crawler import Crawl
from stages.ingest.crawl.urls import Link
from stages.ingest.exchanges import exchange
from stages.ingest.official import read_official
from stages.ingest.outcome import Harvest, Place, new_document, settle
from stages.ingest.paper import Paper
from stages.ingest.parsers import masked_verdict
from stages.ingest.statutes import has_articles, read_statute
from taxpraben.records.document import Document, DocumentKind, DocumentPart

# What helps against a page that was not had, by a word of its cause; the first that fits.
_REMEDIES = (
    ("firewall", "wait, ask less often (ingest.crawl.delay_seconds), or save the page by hand into a folder source"),
    ("refusals in a row", "wait until the site answers again"),
    ("answered 401", "set the token that the adapter names (taxpraben sources adapters)"),
    ("answered 403", "ask the site's operator, or save the page by hand into a folder source"),
    ("answered 404", "nothing, unless the page comes back"),
    ("answered 410", "nothing: the page is gone"),
    ("off the site", "add the host to the source's hosts in params.yaml, if it belongs to the site"),
    ("redirects", "nothing, unless the site is mended"),
    ("of one family", "raise ingest.crawl.max_queries in params.yaml, if these are pages and no calendar"),
    ("cap of", "raise the cap under ingest.crawl in params.yaml"),
    ("not a page", "fetch the file by hand and read it as an official document or a book"),
    ("robots.txt", "wait until the site answers for robots.txt"),
)
_TRY_AGAIN = "wait until the site answers"
_FEW = 5


@dataclass(frozen=True)
class _Found:
    adapter: Adapter
    articles: list[Article]


class SiteReader:
    """Reads a site's pages as the crawl brings them; keeps what was extracted, not the pages.

    Args:
        source: the source's name.
        root: the site's address, to which origins are relative.
        adapters: asked in order; the first that knows an article's layout reads it.
        kinds: kind by section (``Risk: risk``); ``*`` for the others; a section mapped to ``skip`` is left out and
            counted. A layout that decides the kind itself (a message board's) counts where the section is not named.
    """

    def __init__(self, source: str, root: str, adapters: Sequence[Adapter], kinds: Mapping[str, str]) -> None:
        self.source = source
        self.root = root
        self.adapters = adapters
        self.kinds = kinds
        self._found: dict[str, _Found] = {}
        self._misfits: dict[str, tuple[str, str, str]] = {}
        self._names: dict[str, str] = {}
        self._notes: Counter[str] = Counter()

    def take(self, page: Page) -> None:
        """Extract what the page holds; a page that fits no more is set aside by name, and the crawl goes on."""
        try:
            self._take(page)
        except AdapterError as error:
            self._misfits[page.path] = (error.adapter, f"the page lacks {error.missing}", error.remedy)
        except Exception as error:  # one strange page never stops the run; what it broke is said
            cause = f"the adapter failed on this page ({type(error).__name__}: {error})"
            names = ", ".join(adapter.name for adapter in self.adapters)
            self._misfits[page.path] = (names, cause, "report the page with this message")

    def _take(self, page: Page) -> None:
        fits = next((adapter for adapter in self.adapters if adapter.is_article(page)), None)
        if fits is not None:
            self._found[page.path] = _Found(fits, fits.articles(page))
            return
        sections = [(adapter, name) for adapter in self.adapters if (name := adapter.section_of(page))]
        if sections:
            adapter, name = sections[0]
            self._names.setdefault(adapter.section(page.path), name)
            self._notes["list pages"] += 1
        elif owner := next((adapter for adapter in self.adapters if adapter.must_be_article(page)), None):
            if _needs_browser(page):
                cause, remedy = "the page is empty without a browser (its text is made by scripts)", (
                    "open it in a browser and save it into a folder source"
                )  # fmt: skip
                self._misfits[page.path] = (owner.name, cause, remedy)
                return
            raise AdapterError(owner.name, page.path, "a body that the adapter knows")
        else:
            self._notes["pages without an article"] += 1

    def harvest(self, crawled: Crawl) -> Harvest:
        """The documents of the pages taken, in the order of their paths, and all that was not had."""
        harvest = Harvest()
        if crawled.closed:
            place = Place(self.source, "sites", "robots.txt")
            harvest.set_aside(place, "site", crawled.closed, "wait until the site answers for robots.txt")
            return harvest
        for trouble in crawled.troubles:
            place = Place(self.source, "sites", trouble.path)
            linked = f"; linked from {trouble.linked_from}" if trouble.linked_from else ""
            remedy = next((text for word, text in _REMEDIES if word in trouble.cause), _TRY_AGAIN)
            cause = f"the page {trouble.cause}{linked}" if linked else trouble.cause
            harvest.set_aside(place, "page" if linked else "site", cause, remedy)
        for path, (adapter_name, cause, remedy) in sorted(self._misfits.items()):
            place = Place(self.source, "sites", path)
            harvest.set_aside(place, "page", f"adapter {adapter_name}: {cause}", remedy)
        self._say_where_a_site_has_changed(harvest)
        for path in sorted(self._found):
            self._document_of(path, harvest)
        harvest.notes.update(self._notes)
        harvest.notes["pages fetched"] += len(crawled.paths)
        harvest.notes["pages that do not fit their adapter"] += len(self._misfits)
        for name, count in sorted(crawled.counts.items()):
            harvest.notes[f"crawl: {name}"] += count
        return harvest

    def _say_where_a_site_has_changed(self, harvest: Harvest) -> None:
        """Where most article pages do not fit their adapter, that is one fault of the site's, said once."""
        bad = Counter(adapter for adapter, _, _ in self._misfits.values())
        good = Counter(found.adapter.name for found in self._found.values())
        for name, count in sorted(bad.items()):
            if count >= _FEW and count > good[name]:
                cause = f"adapter {name}: fits {good[name]} of {good[name] + count} article pages; the site has changed"
                harvest.set_aside(Place(self.source, "sites", ""), "site", cause, "mend the adapter")

    def _document_of(self, path: str, harvest: Harvest) -> None:
        found = self._found[path]
        place = Place(self.source, "sites", path)
        first = found.adapter.continuation(path)
        if first is not None:
            if first[0] not in self._found:  # else a later page: taken in with its first
                harvest.set_aside(
                    place, "page", f"the article's first page {first[0]} was not had", "see what became of that page"
                )
            return
        section = found.adapter.section(path)
        for article in found.articles:
            named = self.kinds.get(section) or (article.kind or self.kinds.get("*", ""))
            if named == "skip" or not named:
                harvest.notes["articles of sections left out"] += 1
                continue
            name = article.category or self._names.get(section) or found.adapter.section_name(section) or section
            spot = place.inside(article.mark) if article.mark else place
            whole = self._whole(spot, path, found.adapter, article, harvest)
            harvest.add(_documents(spot, cast(DocumentKind, named), replace(whole, category=name)))

    def _whole(self, place: Place, path: str, adapter: Adapter, article: Article, harvest: Harvest) -> Article:
        """The article with the bodies of its later pages, in their order; flagged where one is missing."""
        if not article.continued:
            return article
        later = sorted(
            (part[1], other)
            for other in self._found
            if (part := adapter.continuation(other)) is not None and part[0] == path
        )
        lines = [line for _, other in later for line in self._found[other].articles[0].lines]
        linked = {Link(url).origin(self.root) for url in article.continued}
        expected = {target for target in linked if (part := adapter.continuation(target)) and part[0] == path}
        missing = sorted(expected - {other for _, other in later})
        if missing:
            harvest.set_aside(place, "page", f"later pages of the article were not had: {', '.join(missing)}")
        flags = (*article.flags, "incomplete") if missing else article.flags
        return replace(article, lines=[*article.lines, *lines], flags=flags)


def _needs_browser(page: Page) -> bool:
    body = page.soup.body
    return body is not None and len(body.get_text(strip=True)) < 40 and body.find("script") is not None


def _documents(place: Place, kind: DocumentKind, article: Article) -> Harvest:
    """What an article gives: one document; of a bulletin, one for each case."""
    harvest = Harvest()
    if article.record:
        harvest = masked_verdict(place, article.record)
        harvest.documents = [settle(document, category=article.category) for document in harvest.documents]
        return harvest
    about: dict[str, Any] = {
        "category": article.category, "publisher": article.publisher, "published": article.published,
    }  # fmt: skip
    if kind == "board":
        pair = (article.question, article.answer) if article.question and article.answer else exchange(article.lines)
        if pair is None:
            harvest.set_aside(
                place, "page", "no question and answer found on a message board page",
                "check that an answer opens with 答：", "\n".join(article.lines),
            )  # fmt: skip
            return harvest
        harvest.documents.append(exchange_document(place, article.title, *pair, **about))
        return harvest
    if not article.lines:
        harvest.set_aside(place, "page", "the article has no text", "look at the page", article.title)
        return harvest
    about |= {"number": article.number, "effective": article.effective, "repealed": article.repealed}
    about["flags"] = list(article.flags)
    if kind in ("official", "statute"):
        return _ruled(place, article, about)
    if kind == "inspect" and (found := cases(article.lines)):
        for case in found:
            text = "\n".join(case.lines)
            harvest.documents.append(_body(place.inside(str(case.number)), kind, case.title, text, about))
        harvest.notes["bulletins of several cases"] += 1
        return harvest
    about["summary"] = article.summary
    harvest.documents.append(_body(place, kind, article.title, "\n".join(article.lines), about))
    return harvest


def _body(place: Place, kind: DocumentKind, title: str, text: str, about: Mapping[str, Any]) -> Document:
    return new_document(place, kind, title, text, [DocumentPart(kind="body", label="正文", text=text)], **about)


def _ruled(place: Place, article: Article, about: dict[str, Any]) -> Harvest:
    """A rule or notice with its structure: articles of a statute, else titled sections."""
    paper = Paper(
        article.title, article.lines, {name: str(value) for name, value in about.items() if isinstance(value, str)}
    )
    harvest = read_statute(place, paper) if has_articles(paper) else read_official(place, paper)
    harvest.documents = [
        settle(document, category=article.category, flags=[*document.flags, *article.flags])
        for document in harvest.documents
    ]
    return harvest
