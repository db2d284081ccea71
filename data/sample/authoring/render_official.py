"""Render the made-up regulation and official documents of the sample corpus.

Reads `regulation.yaml` and `official.yaml` beside this file and writes one file a document under
`data/sample/sources/official/`: Markdown with front matter, pages with the structure of a tax authority's
site, and Word files. The same YAML gives the same bytes.

Usage: python data/sample/authoring/render_official.py
"""

from __future__ import annotations

import io
import zipfile
from datetime import datetime
from html import escape
from pathlib import Path
from typing import Any

import yaml
from docx import Document

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "sources" / "official"
NUMERALS = "零一二三四五六七八九十"
FRONT_MATTER = (
    "title",
    "doc_number",
    "issuer",
    "passed",
    "published",
    "effective",
    "amended",
    "amendment_effective",
)
PAGE = """<!DOCTYPE html>
<html lang="zh-CN">
<head>
<meta charset="utf-8"/>
<title>{title}</title>
<meta name="SiteName" content="青禾示范区税务局（虚构，仅供测试）"/>
<meta name="ArticleTitle" content="{title}"/>
<meta name="PubDate" content="{published} 09:30:00"/>
<meta name="ContentSource" content="{issuer}"/>
</head>
<body>
<div class="nav"><a href="../index.html">首页</a> &gt; <a href="index.html">通知公告</a> &gt; 正文</div>
<div class="title">{title}</div>
<div class="info">发布时间：{published}　来源：{issuer}　字体：【大 中 小】　打印本页</div>
<div id="zoomcon">
{body}
</div>
<span class="editer">责任编辑：<b>示例编辑</b></span>
<div class="footer">版权所有：青禾示范区税务局（虚构，仅供测试）　网站地图　联系我们</div>
</body>
</html>
"""


def article_label(number: int) -> str:
    """Give the head of an article, e.g. `第二十一条` for 21. Right for 1 to 99."""
    tens, ones = divmod(number, 10)
    text = ("" if tens < 2 else NUMERALS[tens]) + ("十" if tens else "") + (NUMERALS[ones] if ones else "")
    return f"第{text}条"


def front_matter(document: dict[str, Any]) -> str:
    """Give the YAML head of a Markdown file, fields in a fixed order, marked as fictitious."""
    lines = [f'{key}: "{document[key]}"' for key in FRONT_MATTER if key in document]
    return "\n".join(["---", *lines, "fictitious: true", "---", ""])


def markdown_table(columns: list[str], rows: list[list[str]]) -> str:
    """Give a Markdown table; cells are written as they stand."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def render_regulation(regulation: dict[str, Any]) -> str:
    """Give the regulation as Markdown: chapters, `第N条　text` heads, the rate table after the last article.

    A paragraph of an article (款, 项) is a Markdown paragraph of its own; only the first carries the head.
    """
    blocks = [front_matter(regulation) + f"\n# {regulation['title']}", regulation["history"]]
    for chapter in regulation["chapters"]:
        blocks.append(f"## {chapter['heading']}")
        for article in chapter["articles"]:
            head, *rest = article["text"].splitlines()
            blocks += [f"{article_label(article['number'])}　{head}", *rest]
    annex = regulation["annex"]
    blocks += [f"## {annex['heading']}", annex["unit"], markdown_table(annex["columns"], annex["rows"])]
    return "\n\n".join(blocks) + "\n"


def render_markdown(document: dict[str, Any]) -> str:
    """Give an official document as Markdown: front matter, title, number, titled sections."""
    blocks = [front_matter(document) + f"\n# {document['title']}", document["doc_number"], document["opening"]]
    for section in document["sections"]:
        blocks += [f"## {section['heading']}", *section["text"].splitlines()]
    blocks += [document["closing"]] if document["closing"] else []
    blocks += [document["issuer"], document["published"]]
    return "\n\n".join(blocks) + "\n"


def render_page(document: dict[str, Any]) -> str:
    """Give an official document as a tax authority's page: metadata in `meta`, body in `div#zoomcon`."""
    body = [f'<p style="text-align:center">{escape(document["doc_number"])}</p>']
    body.append(f"<p>{escape(document['opening'])}</p>")
    for section in document["sections"]:
        body.append(f"<p><strong>{escape(section['heading'])}</strong></p>")
        body += [f"<p>　　{escape(line)}</p>" for line in section["text"].splitlines()]
    body += [f"<p>　　{escape(document['closing'])}</p>"] if document["closing"] else []
    body += [f'<p style="text-align:right">{document[key]}</p>' for key in ("issuer", "published")]
    return PAGE.format(
        title=escape(document["title"]),
        published=document["published"],
        issuer=document["issuer"],
        body="\n".join(body),
    )


def render_docx(document: dict[str, Any]) -> bytes:
    """Give an official document as a Word file: title, heading styles, tables; dates fixed to the publication."""
    word = Document()
    published = datetime.fromisoformat(document["published"])
    properties = word.core_properties
    properties.title, properties.author, properties.comments = document["title"], document["issuer"], "虚构，仅供测试"
    properties.created = properties.modified = published
    word.add_heading(document["title"], level=0)
    word.add_paragraph(document["doc_number"])
    word.add_paragraph(document["opening"])
    for section in document["sections"]:
        word.add_heading(section["heading"], level=1)
        for line in section["text"].splitlines():
            word.add_paragraph(line)
        if "table" in section:
            lines = [section["table"]["columns"], *section["table"]["rows"]]
            table = word.add_table(rows=len(lines), cols=len(lines[0]), style="Table Grid")
            for row, line in zip(table.rows, lines, strict=True):
                for cell, text in zip(row.cells, line, strict=True):
                    cell.text = text
        for line in section.get("after", "").splitlines():
            word.add_paragraph(line)
    for line in filter(None, (document["closing"], document["issuer"], document["published"])):
        word.add_paragraph(line)
    buffer = io.BytesIO()
    word.save(buffer)
    return repack(buffer.getvalue(), published)


def repack(archive: bytes, moment: datetime) -> bytes:
    """Write a zip file anew with one fixed time on every entry, so that its bytes depend on its content only."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(buffer, "w") as target:
        for name in sorted(source.namelist(), key=lambda name: (name != "[Content_Types].xml", name)):
            entry = zipfile.ZipInfo(name, date_time=moment.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            target.writestr(entry, source.read(name))
    return buffer.getvalue()


def main() -> None:
    """Write every regulation and official document under `data/sample/sources/official/`."""
    TARGET.mkdir(parents=True, exist_ok=True)
    regulation = yaml.safe_load((HERE / "regulation.yaml").read_text(encoding="utf-8"))
    documents = yaml.safe_load((HERE / "official.yaml").read_text(encoding="utf-8"))["documents"]
    (TARGET / regulation["file"]).write_bytes(render_regulation(regulation).encode())
    for document in documents:
        path = TARGET / document["file"]
        if document["form"] == "docx":
            path.write_bytes(render_docx(document))
        else:
            render = {"html": render_page, "md": render_markdown}[document["form"]]
            path.write_bytes(render(document).encode())


if __name__ == "__main__":
    main()
