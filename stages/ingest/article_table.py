"""Articles kept as a table: title and text a row, from a crawl made elsewhere; bulletins are taken apart by case."""

from __future__ import annotations

from stages.ingest.bulletins import cases
from stages.ingest.dates import iso_date
from stages.ingest.outcome import Harvest, Place, new_document
from stages.ingest.tables import TableError, read_rows
from taxpraben.records.document import DocumentKind, DocumentPart
from taxpraben.text.normalise import tidy

_TITLE = ("title", "标题", "主题")
_TEXT = ("content_text", "content", "text", "body", "正文", "内容")
_DATE = ("publish_date", "published", "pubdate", "date", "push_time", "发布日期", "日期", "时间")
_PUBLISHER = ("source", "publisher", "来源", "发布单位")
_CATEGORY = ("category", "column", "栏目", "类别")
_SUMMARY = ("summary", "abstract", "摘要")
_MARK = ("article_id", "id", "编号")


def read_article_table(place: Place, data: bytes, suffix: str, kind: DocumentKind, publisher: str = "") -> Harvest:
    """A document a row; of a bulletin (kind ``inspect``) a document for each case.

    Raises:
        TableError: no column for the title or the text.
    """
    harvest = Harvest()
    rows = read_rows(data, suffix, place, harvest)
    columns = set().union(*(cells for _, cells in rows)) if rows else set()
    if not columns & set(_TITLE) or not columns & set(_TEXT):
        raise TableError(
            f"no columns for title ({', '.join(_TITLE)}) and text ({', '.join(_TEXT)}) "
            f"among {', '.join(sorted(columns)) or 'no columns'}"
        )
    for line, cells in rows:

        def first(names: tuple[str, ...], cells: dict[str, str] = cells) -> str:
            return next((cells[name] for name in names if cells.get(name)), "")

        text = tidy(first(_TEXT))
        title = tidy(first(_TITLE)).replace("\n", " ")
        if not text or not title:
            missing = "text" if title else "title"
            harvest.set_aside(place, f"line {line}", f"the row has no {missing}", "leave out the row or add it", title)
            continue
        spot = place.inside(first(_MARK) or str(line))
        about = {
            "publisher": first(_PUBLISHER) or publisher, "published": iso_date(first(_DATE)),
            "category": first(_CATEGORY),
        }  # fmt: skip
        found = cases(text.split("\n")) if kind == "inspect" else []
        if found:
            harvest.notes["bulletins of several cases"] += 1
            for case in found:
                body = "\n".join(case.lines)
                part = DocumentPart(kind="body", label="正文", text=body)
                origin = Place(spot.source, spot.pipeline, f"{spot.origin}.{case.number}")
                harvest.documents.append(new_document(origin, kind, case.title, body, [part], **about))
            continue
        part = DocumentPart(kind="body", label="正文", text=text)
        harvest.documents.append(new_document(spot, kind, title, text, [part], summary=first(_SUMMARY), **about))
    return harvest
