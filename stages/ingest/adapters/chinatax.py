"""The State Taxation Administration (chinatax.gov.cn, fgk.chinatax.gov.cn) and authorities in its layout.

Five kinds of page: lists (``manuscriptList``), articles, the regulation library, the message board, case bulletins.
"""

from __future__ import annotations

import re
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from stages.ingest.adapters.base import Adapter, AdapterError, Article, Page, heading_of_title
from stages.ingest.crawl.urls import Link, canonical
from stages.ingest.dates import iso_date
from stages.ingest.labelled import labelled_values
from stages.ingest.markup import lines_of, meta, text_of

_BODIES = (
    "#zoomcon", "#fontzoom", "#zoom", "div.zscont", "div.arc_cont", "#tax_content", ".cmain",
)  # fmt: skip
_LIBRARY = "div.zscont, div.arc_cont"
_LISTS = "ul.list > li, li.sv_texth1"
_TITLES = "h1, .title, .sv_texth1, .arc_tit"
_COLUMN = re.compile(r"(?:^|/)(c\d{4,})(?=[/?]|$)")
_BOARD = {
    "title": ["留言标题", "咨询标题", "来信标题", "标题", "主题"],
    "question": ["留言内容", "咨询内容", "来信内容", "问题内容", "提问内容", "问题描述", "问题"],
    "answer": ["答复内容", "回复内容", "答复意见", "答复", "回复", "解答"],
    "publisher": ["答复单位", "回复单位", "答复部门", "答复机构", "回复部门"],
    "published": ["答复时间", "回复时间", "答复日期", "回复日期"],
    "asked": ["留言时间", "咨询时间", "提问时间", "来信时间", "留言人", "提问人", "咨询人"],
}
_RULE = {
    "number": ["发文字号", "文号", "文件编号"],
    "published": ["成文日期", "发文日期", "发布日期", "公布日期"],
    "publisher": ["发文单位", "发布机关", "发文机关", "制定机关"],
    "effective": ["生效日期", "施行日期", "实施日期"],
    "repealed": ["失效日期", "废止日期"],
    "validity": ["有效性", "时效性", "效力状态"],
    "title": ["标题", "名称"],
}


class Chinatax(Adapter):
    """Articles with meta ``ArticleTitle``, ``PubDate``, ``ContentSource`` and a body of ``#zoomcon`` or its kin."""

    name = "chinatax"
    extracts = (
        "articles and case bulletins: title, date, source (meta elements), body (#zoomcon, #fontzoom, #tax_content, "
        ".cmain); regulation library (div.zscont, div.arc_cont): number, dates, validity; message board: question, "
        "official answer, who answered (留言内容, 答复内容); lists paged by manuscriptList"
    )

    def follows(self, path: str) -> bool:
        """Columns (``/nNNN/``, ``/manuscriptList/``), contents, the library (``zcfgk``), and the front page."""
        known = r"(?:^|/)(?:n\d+/|c\d+(?:/|\.html)|manuscriptList/|content\.html|article/|zcfgk/)"
        return bool(re.search(known, path)) or path in ("", "index.html")

    def requests(self, page: Page) -> list[Link]:
        """The next page of a ``manuscriptList``, as long as pages are full; a column's first list."""
        parts = urlsplit(page.url)
        query = dict(parse_qsl(parts.query))
        rows = len(page.soup.select(_LISTS))
        if "/manuscriptList/" in parts.path and query.get("page", "1").isdigit():
            size = int(query["_pageSize"]) if query.get("_pageSize", "").isdigit() else 20
            if rows < size:
                return []
            query["page"] = str(int(query.get("page", "1")) + 1)
            address = urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(query), ""))
            return [Link(canonical(address, page.url), listing=True)]
        column = re.search(r"^(.*?)/n\d+/(c\d+)/(?:index|common_list\w*)\.html?$", parts.path)
        if column is None or rows or self._body(page) is not None:
            return []
        # The column's page is filled by a script; this is what the script asks for.
        address = f"{column.group(1)}/manuscriptList/{column.group(2)}?_pageSize=20&_template=index&page=1"
        return [Link(canonical(address, page.url), listing=True)]

    def is_article(self, page: Page) -> bool:
        """Pages with a title in their meta elements, one of the bodies, or question and answer of the board."""
        if meta(page.soup, "ArticleTitle") or self._body(page) is not None:
            return True
        return page.soup.select_one(_LISTS) is None and "answer" in self._board(page)

    def must_be_article(self, page: Page) -> bool:
        """``…/cNNN/content.html``."""
        return page.path.endswith("/content.html")

    def article(self, page: Page) -> Article:
        """The first body that holds text; the editor's line below it is no part of it."""
        soup = page.soup
        board = self._board(page)
        title = meta(soup, "ArticleTitle") or text_of(soup.select_one(_TITLES)) or board.get("title", "")
        published = iso_date(meta(soup, "PubDate")) or iso_date(board.get("published", ""))
        publisher = meta(soup, "ContentSource") or board.get("publisher", "")
        if board.get("question") and board.get("answer"):
            return Article(
                title or board["question"][:60], [], published=published, publisher=publisher, kind="board",
                question=board["question"], answer=board["answer"],
            )  # fmt: skip
        lines = self._body(page) or []
        if not lines:
            raise AdapterError(self.name, page.path, f"text in any of {', '.join(_BODIES)}")
        library = soup.select_one(_LIBRARY) is not None
        labelled = labelled_values(_head(page, lines), _RULE) if library else {}
        about = {name: value.partition("\n")[0] for name, value in labelled.items()}
        title = title or about.get("title", "")
        if not title and soup.title:
            title = heading_of_title(soup.title.get_text())
        if not title:
            raise AdapterError(self.name, page.path, "a title (meta ArticleTitle, h1, .title)")
        validity = about.get("validity", "")
        return Article(
            title=title,
            lines=lines,
            published=published or iso_date(about.get("published", "")) or self._old_date(page),
            publisher=publisher or about.get("publisher", ""),
            number=about.get("number", ""),
            effective=iso_date(about.get("effective", "")),
            repealed=iso_date(about.get("repealed", "")),
            kind="official" if about else None,
            flags=(f"validity:{validity}",) if validity and "全文有效" not in validity else (),
        )

    def section_of(self, page: Page) -> str:
        """The title of a page with rows of a list."""
        if page.soup.select_one(_LISTS) is None:
            return ""
        title = heading_of_title(page.soup.title.get_text()) if page.soup.title else ""
        return title or self.section(page.path)

    def section(self, path: str) -> str:
        """The column (``c102025``) of ``…/c102025/c5249875/content.html``; else the folder."""
        columns: list[str] = _COLUMN.findall(path)
        if columns and (path.endswith("/content.html") or "manuscriptList/" in path):
            return columns[0]
        return columns[-1] if columns and path.endswith("/index.html") else super().section(path)

    @staticmethod
    def _body(page: Page) -> list[str] | None:
        for selector in _BODIES:
            body = page.soup.select_one(selector)
            if body is not None and (lines := lines_of(body)):
                return lines
        # A body without text is one as well: the page says that it is an article.
        return [] if any(page.soup.select_one(selector) is not None for selector in _BODIES) else None

    @staticmethod
    def _board(page: Page) -> dict[str, str]:
        """Question and answer under their labels, not in running text: 答：… is left to the section's kind."""
        if "内容" not in page.html and "答复意见" not in page.html:
            return {}
        found = labelled_values(lines_of(page.soup.body) if page.soup.body else [], _BOARD)
        return found if "question" in found and "answer" in found else {}

    @staticmethod
    def _old_date(page: Page) -> str:
        """The date beside the title of pages before 2019, which have no meta elements."""
        if page.soup.select_one("#tax_content, .cmain") is None or page.soup.body is None:
            return ""
        days = (iso_date(line) for line in lines_of(page.soup.body)[:20] if len(line) < 80)
        return next((day for day in days if day), "")


def _head(page: Page, lines: list[str]) -> list[str]:
    """What stands around the body of a rule: the page's lines up to the body's third, where its labels are."""
    whole = lines_of(page.soup.body) if page.soup.body else []
    first = whole.index(lines[0]) if lines[0] in whole else 0
    return [*whole[:first], *(line for line in lines[:12] if len(line) < 120)]


ADAPTER = Chinatax()
