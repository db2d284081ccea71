"""Documents: known by source and origin, whole texts, parts where they say they are, dates that are dates."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from datetime import date

from stages.check.rules import Row, Suite, filled, present, sound, unique
from taxpraben.records.document import Document, DocumentPart
from taxpraben.tasks.spec import LETTERS

SUITE = Suite(
    name="documents",
    remedy="mend the source or its adapter in stages/ingest, then `dvc repro ingest`",
    rules=(
        present("至少有一份文档", "there is a document", remedy="see quarantined.parquet for what could not be taken"),
        unique("row", "文档编号不重复", "document ids are unique"),
        sound("id_problem", "编号由来源与出处算出", "the id is made from source and origin"),
        filled("title", "有标题", "the title is not empty"),
        filled("text", "正文不为空", "the text is not empty"),
        filled("digest", "有内容摘要值", "the digest is not empty"),
        sound("character_problem", "没有乱码与私用区字符", "no broken or private-use characters", "warning"),
        sound("date_problem", "日期真实有效，先施行后废止", "dates are real, and repealed follows effective"),
        sound("label_problem", "各部分的标签不重复", "labels of parts are unique within a document"),
        sound("offset_problem", "各部分的位置与正文一致", "each part stands in the text where it says"),
        sound("question_problem", "考题有题干、互异选项与选项内的答案",
              "questions have a stem, differing options and an answer among them", "warning",
              "such a question becomes a draft that people mend; mend the book's reading where there are many"),
        unique("text", "没有两份文档的正文相同", "no two documents have the same text", "warning"),
    ),
)  # fmt: skip

_BROKEN = re.compile("[\ufffd\ue000-\uf8ff]")


def columns(documents: Sequence[Document]) -> list[Row]:
    """One row a document, in the given order."""
    return [
        {
            "row": document.document_id,
            "title": document.title,
            "text": document.text,
            "digest": document.digest,
            "id_problem": id_problem(document),
            "character_problem": character_problem(document.title + document.text),
            "date_problem": date_problem(document.published, document.effective, document.repealed),
            "label_problem": label_problem(document.parts),
            "offset_problem": offset_problem(document),
            "question_problem": "; ".join(filter(None, map(question_problem, document.parts))),
        }
        for document in documents
    ]


def id_problem(document: Document) -> str:
    """Says which id the document should have."""
    right = "doc-" + hashlib.sha256(f"{document.source}|{document.origin}".encode()).hexdigest()[:12]
    return "" if document.document_id == right else f"should be {right}"


def character_problem(text: str) -> str:
    """Names the first broken character and its place, in code points."""
    found = _BROKEN.search(text)
    return f"U+{ord(found.group()):04X} at {found.start()}" if found else ""


def date_problem(published: str, effective: str, repealed: str) -> str:
    """Names the first date that is none, or an end before its beginning; empty texts are unknown dates."""
    for name, value in (("published", published), ("effective", effective), ("repealed", repealed)):
        if value and not _is_date(value):
            return f"{name} {value!r} is not a date (YYYY-MM-DD)"
    if effective and repealed and repealed < effective:
        return f"repealed {repealed} before effective {effective}"
    return ""


def _is_date(text: str) -> bool:
    try:
        return len(text) == len("2026-01-01") and bool(date.fromisoformat(text))
    except ValueError:
        return False


def label_problem(parts: Sequence[DocumentPart]) -> str:
    """Names the labels that stand at more than one part."""
    repeated = [label for label, count in Counter(part.label for part in parts).items() if count > 1]
    return f"repeated: {', '.join(repeated[:5])}" if repeated else ""


def offset_problem(document: Document) -> str:
    """Names the first part whose text does not stand at its offset; parts with offset -1 make no claim."""
    for part in document.parts:
        if part.start >= 0 and document.text[part.start : part.start + len(part.text)] != part.text:
            return f"{part.label} is not at {part.start}"
    return ""


def question_problem(part: DocumentPart) -> str:
    """Says what an exam question lacks; empty for other parts, and for questions set to review with their fault."""
    if part.kind != "question" or part.data.get("fault"):
        return ""
    stem, options, answer = (part.data.get(key) for key in ("stem", "options", "answer"))
    if not isinstance(stem, str) or not stem.strip():
        return f"{part.label}: no stem"
    if not isinstance(answer, str) or not answer.strip():
        return f"{part.label}: no answer"
    if part.data.get("kind") == "calculation":
        return ""
    if not isinstance(options, list) or len(options) < 2:
        return f"{part.label}: fewer than two options"
    if len({str(option).strip() for option in options}) < len(options):
        return f"{part.label}: two equal options"
    beyond = sorted(set(answer) - set(LETTERS[: len(options)]))
    return f"{part.label}: answer {answer!r} beyond its {len(options)} options" if beyond else ""
