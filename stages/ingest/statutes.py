"""Statutes: 编 章 节 条 款 项, 之一 articles, annexes apart from the last article, dates from the head."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from stages.ingest.dates import amended_date, document_number, effective_date, iso_date, published_date, repealed_date
from stages.ingest.outcome import Harvest, Place, new_document
from stages.ingest.paper import Paper
from taxpraben.records.document import DocumentPart
from taxpraben.text.numerals import NUMERAL, parse_chinese_number

_N = f"[{NUMERAL}\\d]"
_ARTICLE = re.compile(rf"第({_N}+)条(?:\s*之({_N}+))?(?=[\s\u3000]|$)[\s\u3000]*(.*)", re.DOTALL)
# Texts from PDFs lose the blank after the head: then only the very next number opens an article.
_GLUED = re.compile(rf"第({_N}+)条(?:之({_N}+))?(?![的之所和与至、，]|第|规定|款|项)(.+)", re.DOTALL)
_TAIL = re.compile(rf"之({_N}+)(?=[\s\u3000]|$)[\s\u3000]*(.*)", re.DOTALL)
_STRUCTURE = re.compile(rf"[#*\s]*第{_N}+(?:分编|编|章|节)(?:[\s\u3000].*|$)")
_ANNEX = re.compile(rf"#*\s*(?:附件|附表|附录|附则表|附)\s*{_N}*\s*(?:[:：\s\u3000].*)?$|#*\s*附[件表录]\S{{0,30}}$")
# Tables and footnotes that follow the closing article (本法自…起施行) without a heading 附.
_AFTER_END = re.compile(r"#*\s*[^。；]{0,40}(?:税率表|税额表|税目表|当量值表|标准表|明细表)[^。；]{0,20}$|[①-⑳]|\|")
_CLOSING = re.compile(r"本.{1,6}自.{2,20}起?(?:施行|执行|实施)|本.{1,6}(?:施行|实施)之日")
_RULES = re.compile(r"#*\s*附\s*则$")


@dataclass
class _Unit:
    label: str
    kind: Literal["article", "section"]
    lines: list[str] = field(default_factory=list)


def has_articles(paper: Paper) -> bool:
    """Whether the text is built of articles (two or more article heads)."""
    return sum(1 for line in paper.lines if _ARTICLE.match(line)) >= 2


def read_statute(place: Place, paper: Paper) -> Harvest:
    """A statute as one document of kind ``statute``, a part of kind ``article`` for each article.

    An article's text has its paragraphs (款) and items (项) on lines of their own; annexes are parts of kind
    ``section``; headings of 编, 章, 节 stay in the document's text and belong to no article. A jump or a step back in
    the article numbers is quarantined, the articles are kept.
    """
    harvest = Harvest()
    lines = _join_split_heads(paper.lines)
    units: list[_Unit] = []
    head: list[str] = []
    text: list[str] = []
    last = (0, 0)
    annex = False
    contents_over = not _has_contents(lines)
    current: _Unit | None = None
    for line in lines:
        opened = _article(line, last, strict=annex)
        if opened is not None:
            number, label, rest = opened
            contents_over = True
            if not _follows(last, number):
                harvest.set_aside(
                    place, label, f"article numbers jump: {label} follows {_named(last)}",
                    "check that the text is whole (a missing page, an article head that the parser does not know)",
                )  # fmt: skip
            last, annex = number, False
            current = _Unit(label, "article", [rest] if rest else [])
            units.append(current)
            text.append(f"{label}\u3000{rest}".rstrip("\u3000"))
            continue
        plain = line.lstrip("# ").strip()
        if not contents_over:
            head.append(plain)  # the table of contents repeats every heading
        elif units and _opens_annex(line, current):
            titled = _ANNEX.match(line) or not re.match(r"[①-⑳|]", line)
            current, annex = _Unit(plain[:40] if titled else "附注", "section", [] if titled else [plain]), True
            units.append(current)
        elif _STRUCTURE.match(line) and not annex:
            current = None
        elif current is not None:
            current.lines.append(plain)
        else:
            head.append(plain)
        text.append(plain)
    parts = [DocumentPart(kind=unit.kind, label=unit.label, text="\n".join(unit.lines)) for unit in units if unit.lines]
    for unit in units:
        if not unit.lines:
            harvest.set_aside(place, unit.label, "the heading has no text under it", "check the source at this heading")
    if not any(part.kind == "article" for part in parts):
        harvest.set_aside(place, "document", "no article found", "use parser: official for texts without articles")
        return harvest
    published = iso_date(paper.about.get("published", "")) or published_date(head) or published_date(["".join(head)])
    stated = [part.text for part in parts if part.kind == "article"]
    effective = effective_date([*head, *(line for line in stated if "本" in line or "施行" in line)], published)
    harvest.documents.append(
        new_document(
            place,
            "statute",
            paper.title,
            "\n".join(text),
            parts,
            publisher=paper.about.get("publisher", ""),
            number=paper.about.get("number", "") or document_number(head[:12]),
            published=published,
            amended=amended_date(head) or amended_date(["".join(head)]),
            effective=iso_date(paper.about.get("effective", "")) or effective,
            repealed=iso_date(paper.about.get("repealed", "")) or repealed_date(head),
        )
    )
    return harvest


def _join_split_heads(lines: list[str]) -> list[str]:
    """Heads broken over two lines made whole: ``第一百二十条`` and ``之一　资助…`` on the next line."""
    out: list[str] = []
    for line in lines:
        if out and re.fullmatch(rf"第{_N}+条", out[-1]) and (match := _TAIL.match(line)):
            out[-1] = f"{out[-1]}之{match.group(1)}\u3000{match.group(2)}".rstrip("\u3000")
        elif out and re.fullmatch(rf"第{_N}+", out[-1]) and line.startswith("条"):
            out[-1] += line
        else:
            out.append(line)
    return out


def _article(line: str, last: tuple[int, int], strict: bool) -> tuple[tuple[int, int], str, str] | None:
    """Number, label and the rest of the line where the line opens an article."""
    match = _ARTICLE.match(line)
    glued = None if match else _GLUED.match(line)
    found = match or glued
    if found is None:
        return None
    number = parse_chinese_number(found.group(1))
    sub = parse_chinese_number(found.group(2)) if found.group(2) else 0
    if number is None or sub is None:
        return None
    # Inside an annex, or without a blank after the head, only the expected number counts.
    if (strict or glued) and not _follows(last, (number, sub)):
        return None
    label = f"第{found.group(1)}条" + (f"之{found.group(2)}" if found.group(2) else "")
    return (number, sub), label, found.group(3).strip()


def _opens_annex(line: str, current: _Unit | None) -> bool:
    if _ANNEX.match(line):
        return not _RULES.match(line)
    closed = current is not None and current.kind == "article" and any(_CLOSING.search(text) for text in current.lines)
    return closed and bool(_AFTER_END.match(line))


def _follows(last: tuple[int, int], number: tuple[int, int]) -> bool:
    return number in ((last[0] + 1, 0), (last[0], last[1] + 1))


def _named(number: tuple[int, int]) -> str:
    return f"第{number[0]}条" + (f"之{number[1]}" if number[1] else "") if number[0] else "the head"


def _has_contents(lines: list[str]) -> bool:
    """Whether the text opens with a table of contents (目录): headings of chapters before the first article."""
    for line in lines[:40]:
        if _ARTICLE.match(line):
            return False
        if re.fullmatch(r"#*\s*目\s*录", line):
            return True
    return False
