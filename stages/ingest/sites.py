"""A crawled site's pages as documents: the adapter that fits, continuations joined, kind and category by section."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from stages.ingest.adapters.base import Adapter, Article, Page, PageMisfitError
from stages.ingest.board_table import exchange_document, strip_answer
from stages.ingest.crawl.crawler import Crawl
from stages.ingest.outcome import Harvest, Place, new_document
from taxpraben.records.document import Document, DocumentKind, DocumentPart

_ASKED = re.compile(r"^\s*(?:问|提问|问题|留言|留言内容|咨询内容|网友[^：:]{0,8}|留言人[^：:]{0,8})\s*[:：]\s*")
_ANSWER = re.compile(r"^\s*(?:答|答复|回复|答复内容|解答)\s*[:：]")


def read_site(
    source: str, crawled: Crawl, adapters: Sequence[Adapter], kinds: Mapping[str, str], retry: str = ""
) -> Harvest:
    """The documents of a crawl, in the order of their paths.

    Args:
        source: the source's name.
        crawled: what was fetched.
        adapters: asked in order; the first that knows an article's layout reads it.
        kinds: kind by section, the path's folder (``Risk: risk``); ``*`` for the others; a section mapped to ``skip``
            is left out and counted.
        retry: what helps against a page that was not had.
    """
    harvest = Harvest()
    if crawled.closed:
        place = Place(source, "sites", "robots.txt")
        harvest.set_aside(place, "site", crawled.closed, "wait until the site answers")
        return harvest
    for trouble in crawled.troubles:
        place = Place(source, "sites", trouble.path)
        linked = f"; linked from {trouble.linked_from}" if trouble.linked_from else ""
        harvest.set_aside(place, "page", f"the page {trouble.cause}{linked}" if trouble.path else trouble.cause, retry)
    names = _section_names(crawled, adapters)
    pieces = {
        path: found for path in sorted(crawled.pages) if (found := _read(source, crawled, path, adapters, harvest))
    }
    for path, (adapter, article) in pieces.items():
        first = adapter.continuation(path)
        if first is not None and first[0] in pieces:
            continue  # a later page: taken in with its first
        place = Place(source, "sites", path)
        if first is not None:
            harvest.set_aside(place, "page", f"the article's first page {first[0]} was not had", retry)
            continue
        section = _folder(path)
        kind = kinds.get(section, kinds.get("*", ""))
        if kind == "skip" or not kind:
            harvest.notes["articles of sections left out"] += 1
            continue
        article, flags = _whole(place, path, adapter, article, pieces, harvest)
        document = _document(place, kind, article, names.get(section, section), flags, harvest)  # type: ignore[arg-type]
        if document is not None:
            harvest.documents.append(document)
    harvest.notes["pages fetched"] += len(crawled.pages)
    for name, count in sorted(crawled.counts.items()):
        harvest.notes[f"crawl: {name}"] += count
    return harvest


def _read(
    source: str, crawled: Crawl, path: str, adapters: Sequence[Adapter], harvest: Harvest
) -> tuple[Adapter, Article] | None:
    page = crawled.pages[path]
    for adapter in adapters:
        if not adapter.is_article(page):
            continue
        try:
            return adapter, adapter.article(page)
        except PageMisfitError as error:
            _misfit(source, path, adapter, str(error), harvest)
            return None
    if any(adapter.section_of(page) for adapter in adapters):
        harvest.notes["list pages"] += 1
    elif owner := next((adapter for adapter in adapters if adapter.must_be_article(page)), None):
        cause = "an article's address, but no body that the adapter knows"
        if _needs_browser(page):
            cause = "the page is empty without a browser (its text is made by scripts)"
        _misfit(source, path, owner, cause, harvest)
    else:
        harvest.notes["pages without an article"] += 1
    return None


def _misfit(source: str, path: str, adapter: Adapter, cause: str, harvest: Harvest) -> None:
    harvest.set_aside(
        Place(source, "sites", path), "page", f"adapter {adapter.name}: {cause}",
        f"compare the page with stages/ingest/adapters/{adapter.name}.py",
    )  # fmt: skip


def _needs_browser(page: Page) -> bool:
    body = page.soup.body
    return body is not None and len(body.get_text(strip=True)) < 40 and body.find("script") is not None


def _section_names(crawled: Crawl, adapters: Sequence[Adapter]) -> dict[str, str]:
    """Section names by folder, as the site's list pages state them."""
    names: dict[str, str] = {}
    for path, page in crawled.pages.items():
        for adapter in adapters:
            if not adapter.is_article(page) and (name := adapter.section_of(page)):
                names.setdefault(_folder(path), name)
                break
    return names


def _folder(path: str) -> str:
    steps = path.split("?")[0].split("/")
    return steps[-2] if len(steps) > 1 else ""


def _whole(
    place: Place,
    path: str,
    adapter: Adapter,
    article: Article,
    pieces: Mapping[str, tuple[Adapter, Article]],
    harvest: Harvest,
) -> tuple[Article, list[str]]:
    """The article with the bodies of its later pages, in their order; flagged where one is missing."""
    later = sorted(
        (found[1], other) for other in pieces if (found := adapter.continuation(other)) is not None and found[0] == path
    )
    lines = list(article.lines)
    for _, other in later:
        lines += pieces[other][1].lines
    from stages.ingest.crawl.urls import site_path

    linked = {site_path(url) for url in article.continued}
    expected = {target for target in linked if (found := adapter.continuation(target)) and found[0] == path}
    missing = sorted(expected - {other for _, other in later})
    if missing:
        harvest.set_aside(place, "page", f"later pages of the article were not had: {', '.join(missing)}")
    return Article(article.title, lines, article.summary, article.published, article.publisher, article.author), [
        "incomplete"
    ] if missing else []


def _document(
    place: Place, kind: DocumentKind, article: Article, category: str, flags: list[str], harvest: Harvest
) -> Document | None:
    more = {"category": category, "publisher": article.publisher, "published": article.published}
    if kind == "board":
        pair = exchange(article.lines)
        if pair is None:
            harvest.set_aside(
                place, "page", "no question and answer found on a message board page",
                "check that an answer opens with 答：", "\n".join(article.lines),
            )  # fmt: skip
            return None
        return exchange_document(place, article.title, *pair, **more)
    text = "\n".join(article.lines)
    part = DocumentPart(kind="body", label="正文", text=text)
    return new_document(place, kind, article.title, text, [part], summary=article.summary, flags=flags, **more)


def exchange(lines: Sequence[str]) -> tuple[str, str] | None:
    """Question and answer of a board page: what stands before and after the line that opens with 答：."""
    at = next((number for number, line in enumerate(lines) if _ANSWER.match(line)), None)
    if not at:
        return None
    question = _ASKED.sub("", "\n".join(lines[:at])).strip()
    answer = strip_answer("\n".join(lines[at:]))
    return (question, answer) if question and answer else None
