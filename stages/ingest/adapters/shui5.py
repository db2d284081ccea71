"""Tax House (shui5.cn) and magazines in its layout: lists, pager, summary, body over several pages."""

from __future__ import annotations

import re

from stages.ingest.adapters.base import Adapter, AdapterError, Article, Page, heading_of_title
from stages.ingest.dates import iso_date
from stages.ingest.markup import lines_of, text_of

_LIST = re.compile(r"(?:^|/)article/[^/]+/(?:\d+(?:_\d+)?\.html)?$")
_LATER = re.compile(r"^(.*)\$(\d+)(\.html?)$")
# The site's folders and their names: TaxTopic's labels where no list page was had.
_SECTIONS = {
    "CaiShangZiXun": "财商资讯", "CaiShuiBiaoDan": "财税表单", "DiFangFaGui": "地方法规", "FaGuiJieDu": "法规解读",
    "NaShuiTiaoZheng": "纳税调整", "NaShuiPingGu": "纳税评估", "ShuiShouYouHui": "税收优惠",
    "ShuiShouChouHua": "税收筹划", "ShuiWuWenDa": "税务问答", "ZhongYangFaGui": "中央法规",
}  # fmt: skip


class Shui5(Adapter):
    """Lists ``/article/<section>/<id>_<n>.html``, articles ``/article/<section>/<name>.html``."""

    name = "shui5"
    extracts = "title, source, date, the site's own summary (.articleDes), body (.arcContent) over all its pages"

    def follows(self, path: str) -> bool:
        """Articles and their lists, and the front page."""
        return path.startswith("article/") or path in ("", "index.html")

    def is_article(self, page: Page) -> bool:
        """Pages with a body."""
        return page.soup.select_one(".arcContent") is not None

    def must_be_article(self, page: Page) -> bool:
        """Addresses below a section that are no list, unless the page has rows of a list or another layout's body."""
        return page.path.startswith("article/") and not _LIST.search(page.path) and not self._rows(page)

    def article(self, page: Page) -> Article:
        """Title from ``h1`` or ``.articleTitle``; 来源 and 时间 from ``.articleResource``."""
        soup = page.soup
        title = text_of(soup.select_one(".arcBox h1, h1, .articleTitle"))
        if not title:
            raise AdapterError(self.name, page.path, "a title (h1, .articleTitle)")
        body = soup.select_one(".arcContent")
        lines = lines_of(body) if body is not None else []
        if not lines:
            raise AdapterError(self.name, page.path, "text in .arcContent")
        resource = text_of(soup.select_one(".articleResource"))
        return Article(
            title=title,
            lines=lines,
            summary=text_of(soup.select_one(".articleDes")),
            published=iso_date(resource.partition("时间")[2] or resource),
            publisher=_named(resource, "来源"),
            author=_named(resource, "作者"),
            continued=[url for url, _ in page.links(".pagelist a[href]")],
        )

    def section_of(self, page: Page) -> str:
        """The title of a page with rows of a list."""
        if not self._rows(page) and not _LIST.search(page.path):
            return ""
        return heading_of_title(page.soup.title.get_text()) if page.soup.title else ""

    def section_name(self, section: str) -> str:
        """The names of the site's ten topics."""
        return _SECTIONS.get(section, "")

    def continuation(self, path: str) -> tuple[str, int] | None:
        """``name$2.html`` continues ``name.html``."""
        match = _LATER.match(path)
        return (match.group(1) + match.group(3), int(match.group(2))) if match else None

    @staticmethod
    def _rows(page: Page) -> bool:
        return page.soup.select_one(".xwt2, .arcList li") is not None


def _named(text: str, name: str) -> str:
    match = re.search(rf"{name}\s*[:：]\s*(.*?)\s*(?=(?:来源|作者|时间|人气|责任编辑)\s*[:：]|$)", text)
    return match.group(1) if match else ""


ADAPTER = Shui5()
