"""Posts of an opinion monitor, from its interface or an export file: title, text, when, where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stages.ingest.dates import iso_date
from stages.ingest.markup import lines_of, parse_html
from stages.ingest.outcome import Harvest, Place, new_document
from stages.ingest.tables import TableError, read_rows
from taxpraben.records.document import DocumentPart
from taxpraben.text.normalise import tidy

TEXT = ("content", "text", "body", "full_text", "正文", "内容", "全文")
TITLE = ("title", "headline", "标题", "主题")
_DATE = (
    "published", "publish_time", "publishtime", "pubtime", "pub_time", "date", "time", "发布时间", "发布日期", "时间",
)  # fmt: skip
_WHERE = ("source", "site", "platform", "media", "source_name", "来源", "平台", "媒体", "站点")
_MARK = ("id", "doc_id", "docid", "post_id", "uuid", "sn", "编号", "序号")
_FILLER = {"", "暂无", "无", "null", "none", "[图片]", "[视频]", "该内容已被删除", "原文已删除"}


def post_lines(text: str) -> list[str]:
    """The post's paragraphs; markup of an interface's answer is taken off. Empty where there is only filler."""
    lines = lines_of(body) if "<" in text and (body := parse_html(text).body) else tidy(text).split("\n")
    lines = [line.strip() for line in lines if line.strip()]
    return [] if "".join(lines).lower() in _FILLER else lines


def fields_of(cells: Mapping[str, Any]) -> dict[str, str]:
    """``title``, ``text``, ``published``, ``publisher`` and ``mark`` of a record, whatever its export calls them."""
    known = {str(key).strip().lower(): value for key, value in cells.items()}

    def first(names: tuple[str, ...]) -> str:
        return next((str(known[name]).strip() for name in names if known.get(name) not in (None, "", [], {})), "")

    return {
        "title": first(TITLE), "text": first(TEXT), "published": iso_date(first(_DATE)), "publisher": first(_WHERE),
        "mark": first(_MARK),
    }  # fmt: skip


def read_opinion_export(place: Place, data: bytes, suffix: str, publisher: str = "") -> Harvest:
    """One document of kind ``opinion`` a row of an export file (csv, tsv, jsonl, json); who wrote it is not kept.

    Raises:
        TableError: no column holds the text.
    """
    harvest = Harvest()
    rows = read_rows(data, suffix, place, harvest)
    columns = set().union(*(cells for _, cells in rows)) if rows else set()
    if not columns & set(TEXT):
        raise TableError(f"no column for the text ({', '.join(TEXT)}) among {', '.join(sorted(columns)) or 'none'}")
    for line, cells in rows:
        found = fields_of(cells)
        lines = post_lines(found["text"])
        if not lines:
            harvest.set_aside(place, f"line {line}", "the post has no text", "leave out the row", found["title"])
            continue
        text = "\n".join(lines)
        harvest.documents.append(
            new_document(
                place.inside(found["mark"] or str(line)),
                "opinion",
                found["title"] or lines[0][:30],
                text,
                [DocumentPart(kind="body", label="正文", text=text)],
                publisher=found["publisher"] or publisher,
                published=found["published"],
            )
        )
    return harvest
