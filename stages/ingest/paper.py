"""An official document's file, whatever its format, as a title, lines and what it says about itself."""

from __future__ import annotations

import email
import email.policy
import io
import re
import zipfile
from dataclasses import dataclass, field
from typing import Any

from stages.ingest.decoding import decode
from stages.ingest.markup import lines_of, markdown_rows, meta, parse_html, text_of
from taxpraben.text.normalise import tidy

FORMATS = (".html", ".htm", ".mht", ".mhtml", ".docx", ".pdf", ".txt", ".md")


class UnreadableError(ValueError):
    """A file that cannot be read as what its name says; the message says why and what helps."""


@dataclass
class Paper:
    """A file read.

    Attributes:
        title: as the file gives it, or empty.
        lines: tidy, non-empty, in reading order; tables as Markdown rows.
        about: what the file states of itself: ``published``, ``effective``, ``publisher``, ``number``, ``passed``.
    """

    title: str
    lines: list[str]
    about: dict[str, str] = field(default_factory=dict)


def read_paper(data: bytes, suffix: str) -> Paper:
    """Read an html, mht, docx, txt or md file (PDF is the books' business: ``stages.ingest.pdf``).

    Raises:
        UnreadableError, UndecodableError: the bytes are not what the suffix says.
    """
    if suffix in (".html", ".htm"):
        return html_paper(decode(data))
    if suffix in (".mht", ".mhtml"):
        return html_paper(_mht_html(data))
    if suffix == ".docx":
        return _docx_paper(data)
    if suffix == ".md":
        return markdown_paper(decode(data))
    if suffix == ".txt":
        lines = tidy(decode(data)).split("\n")
        return Paper(lines[0] if lines else "", lines)
    raise UnreadableError(f"no reader for {suffix!r} files; known: {', '.join(FORMATS)}")


BODIES = (
    "#zoomcon", "#fontzoom", "#zoom", "#tax_content", "div.zscont", "div.arc_cont", ".TRS_Editor", ".arcContent",
    "#DivContent", ".info-cont", ".details_main", ".cmain", "article", "main",
)  # fmt: skip


def html_paper(text: str) -> Paper:
    """A page of an official site: its meta elements, and the first known body that holds text."""
    soup = parse_html(text)
    title = meta(soup, "ArticleTitle") or text_of(soup.find("h1")) or text_of(soup.select_one(".title"))
    title = title or (soup.title.get_text(strip=True) if soup.title else "")
    about = {
        "published": meta(soup, "PubDate")[:10],
        "publisher": meta(soup, "ContentSource"),
        "site": meta(soup, "SiteName"),
    }
    for selector in BODIES:
        body = soup.select_one(selector)
        if body is not None and (lines := lines_of(body)):
            return Paper(title, lines, about)
    return Paper(title, lines_of(soup.body) if soup.body else [], about)


def markdown_paper(text: str) -> Paper:
    """A Markdown file: YAML front matter, ``#`` title, html tables and comments; bold marks are dropped."""
    about: dict[str, str] = {}
    if match := re.match(r"\ufeff?---\n(.*?)\n---\n", text, re.DOTALL):
        about = _front_matter(match.group(1))
        text = text[match.end() :]
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"<table.*?</table>", _html_table, text, flags=re.DOTALL | re.IGNORECASE)
    lines = tidy(text.replace("**", "")).split("\n")
    title = about.pop("title", "")
    for number, line in enumerate(lines):
        if line.startswith("# ") and not re.match(r"#\s*第[零一二三四五六七八九十百]+[编章节]", line):
            title = title or line[2:].strip()
            del lines[number]
            break
    return Paper(title, lines, about)


def _front_matter(text: str) -> dict[str, str]:
    import yaml

    names = {"doc_number": "number", "issuer": "publisher"}
    try:
        loaded: Any = yaml.safe_load(text)
    except yaml.YAMLError:
        return {}
    if not isinstance(loaded, dict):
        return {}
    return {names.get(str(key), str(key)): str(value) for key, value in loaded.items() if value is not None}


def _html_table(match: re.Match[str]) -> str:
    return "\n" + "\n".join(lines_of(parse_html(match.group()))) + "\n"


def _docx_paper(data: bytes) -> Paper:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        chunks = [name for name in archive.namelist() if re.search(r"\.(mht|mhtml|html?)$", name, re.IGNORECASE)]
    except zipfile.BadZipFile as error:
        raise UnreadableError("not a docx file (no zip archive); save it again from the word processor") from error
    import docx
    from docx.opc.exceptions import PackageNotFoundError

    try:
        word = docx.Document(io.BytesIO(data))
    except (PackageNotFoundError, KeyError, ValueError) as error:
        raise UnreadableError(f"not a Word document ({error}); save it again as docx") from error
    lines: list[str] = []
    title = ""
    for block in word.iter_inner_content():
        if hasattr(block, "rows"):
            lines += markdown_rows([[tidy(cell.text).replace("\n", " ") for cell in row.cells] for row in block.rows])
            continue
        text = tidy(block.text)
        style = (block.style.name or "") if block.style is not None else ""
        if text and not title and style == "Title":
            title = text.replace("\n", "")
        elif text:
            lines += text.split("\n")
    if not lines and chunks:  # altChunk: the text is an html archive inside the docx, which python-docx does not see
        inner = archive.read(chunks[0])
        html = _mht_html(inner) if chunks[0].lower().endswith(("mht", "mhtml")) else decode(inner)
        paper = html_paper(html)
        return Paper(title or paper.title or (paper.lines[0] if paper.lines else ""), paper.lines, paper.about)
    return Paper(title or word.core_properties.title or (lines[0] if lines else ""), lines)


def _mht_html(data: bytes) -> str:
    message = email.message_from_bytes(data, policy=email.policy.default)
    for part in message.walk():
        if part.get_content_type() == "text/html":
            payload = part.get_payload(decode=True)
            return decode(payload if isinstance(payload, bytes) else b"", part.get_content_charset() or "")
    raise UnreadableError("the web archive (mht) holds no html part; save the page again as html")
