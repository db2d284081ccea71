"""Official documents that are no statutes: announcements, notices, guides, explanations, split at 一、 二、 三、."""

from __future__ import annotations

import re

from stages.ingest.dates import document_number, effective_date, iso_date, published_date, repealed_date
from stages.ingest.outcome import Harvest, Place, new_document
from stages.ingest.paper import Paper
from taxpraben.records.document import DocumentPart
from taxpraben.text.numerals import parse_chinese_number

_HEADING = re.compile(r"#*\s*([一二三四五六七八九十]{1,3})\s*[、．.]\s*(.*)", re.DOTALL)
_ANNEX = re.compile(
    r"#*\s*(?:附件|附表|附录|附)\s*[\d一二三四五六七八九十]*\s*[:：].*|#*\s*附[件表录][\d一二三四五六七八九十]*$"
)
_SIGNED = re.compile(r"\d{4}[-年./]\s*\d{1,2}[-月./]\s*\d{1,2}\s*日?$|[（(]此件\S{2,12}[）)]$")
_RUN_IN = re.compile(r"[。；;：:！？][”’」』）)]?$")


def read_official(place: Place, paper: Paper) -> Harvest:
    """An official document as one document of kind ``official``, a part of kind ``section`` for each titled section.

    The heading is the part's label (``一、时间安排``); a paragraph that runs on after its number gives the label
    ``一``. What stands before the first heading, the signature and the annexes belong to no section. A text without
    such headings is one part ``body`` labelled 正文. Numbers out of turn (an enumeration inside a section) open none.
    """
    harvest = Harvest()
    lines = [line.lstrip("# ").strip() for line in paper.lines]
    lines = [line for line in lines if line]
    if not lines:
        harvest.set_aside(place, "document", "no text found", "check that the file holds text and not an image")
        return harvest
    end = _body_end(lines, paper.about.get("publisher", ""))
    parts: list[DocumentPart] = []
    label = ""
    inside: list[str] = []
    expected = 1

    def close() -> None:
        if label and inside:
            parts.append(DocumentPart(kind="section", label=label, text="\n".join(inside)))
        elif label:
            harvest.set_aside(place, label, "the heading has no text under it", "check the source at this heading")

    for line in lines[:end]:
        match = _HEADING.match(line)
        if match and parse_chinese_number(match.group(1)) == expected:
            close()
            expected += 1
            heading = match.group(2).strip()
            run_in = len(heading) > 40 or bool(_RUN_IN.search(heading))
            label = match.group(1) if run_in else f"{match.group(1)}、{heading}"
            inside = [heading] if run_in else []
        else:
            inside.append(line)
    close()
    if not parts:
        parts = [DocumentPart(kind="body", label="正文", text="\n".join(lines[:end]))]
    published = iso_date(paper.about.get("published", "")) or published_date(lines[:4]) or iso_date(lines[-1])
    harvest.documents.append(
        new_document(
            place,
            "official",
            paper.title or lines[0],
            "\n".join(lines),
            parts,
            publisher=paper.about.get("publisher", ""),
            number=paper.about.get("number", "") or document_number(lines[:6]),
            published=published,
            effective=iso_date(paper.about.get("effective", "")) or effective_date(lines, published),
            repealed=iso_date(paper.about.get("repealed", "")) or repealed_date(lines),
        )
    )
    return harvest


def _body_end(lines: list[str], publisher: str) -> int:
    """Where the body ends: before annexes, signature and date."""
    end = len(lines)
    for number, line in enumerate(lines):
        if number and _ANNEX.fullmatch(line):
            end = number
            break
    while end > 1 and (
        _SIGNED.fullmatch(lines[end - 1])
        or lines[end - 1] == publisher
        or (len(lines[end - 1]) <= 30 and re.search(r"(?:局|部|委员会|厅|署|院|会)$", lines[end - 1]))
    ):
        end -= 1
    return end
