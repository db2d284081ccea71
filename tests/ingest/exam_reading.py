"""How well a printed exam book was read: questions found, exact, in review, and the characters' error rate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from stages.ingest.outcome import Harvest
from stages.ingest.page_images import write_pages
from stages.ingest.params import IngestParams
from stages.ingest.stage import ingest
from taxpraben.records.document import DocumentPart
from taxpraben.records.page import image_of, pages_of, read_pages
from taxpraben.text.normalise import normalise
from tests.ingest.exam_press import Print, print_book
from tests.ingest.exam_questions import Kind, Question

_NAMES: dict[Kind, str] = {"single": "单选", "multiple": "多选", "calculation": "计算"}


@dataclass
class Reading:
    """What became of a book's questions.

    Attributes:
        questions: how many were printed.
        found: how many are parts that can be used (no fault).
        exact: of these, how many equal the print: kind, stem, options, answer, unit; in one width, white space aside.
        review: how many are parts with a fault.
        pictured: how many of those that are not exact can be judged beside a picture of their page.
        missing: labels that are no part at all.
        wrong: labels that are found, not exact.
        error_rate: edits of characters by characters printed (Levenshtein), over the whole book in reading order.
    """

    questions: int
    found: int = 0
    exact: int = 0
    review: int = 0
    pictured: int = 0
    missing: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    error_rate: float = 0.0
    harvest: Harvest = field(default_factory=Harvest)
    pages: int = 0


def print_and_read(
    folder: Path, questions: Sequence[Question], how: Print, processes: int = 0, engine: str = "rapidocr"
) -> Reading:
    """Print the questions under ``folder``, read them in as the ingest stage does, and compare."""
    sources = folder / "sources"
    sources.mkdir(parents=True, exist_ok=True)
    printed = print_book(sources / "book.pdf", questions, how)
    return read_and_compare(folder, questions, printed, processes, engine)


def read_and_compare(
    folder: Path, questions: Sequence[Question], printed: list[list[str]], processes: int, engine: str = "rapidocr"
) -> Reading:
    """Read ``folder/sources/book.pdf`` in, and compare with what was printed."""
    source = {"name": "book", "pipeline": "books", "parser": "exam_book", "path": "book.pdf"}
    ocr = {"processes": processes, "engine": engine}
    params = IngestParams.model_validate({"sources": [source], "ocr": ocr})
    harvest = ingest(params, folder / "sources", folder / "cache")
    write_pages(folder / "pages", harvest.pages, folder / "sources")
    reading = Reading(len(questions), harvest=harvest, pages=len(printed))
    document = harvest.documents[0]
    parts = {part.label: part for part in document.parts}
    pages = read_pages(folder / "pages")
    several = len({question.chapter for question in questions}) > 1
    for question in questions:
        label = (f"第{question.chapter}章" if several else "") + f"{_NAMES[question.kind]}{question.number}"
        part = parts.get(label)
        if part is None:
            reading.missing.append(label)
            continue
        fault = bool(part.data.get("fault"))
        exact = not fault and _same(part, question)
        reading.found += not fault
        reading.exact += exact
        reading.review += fault
        if not exact:
            reading.wrong += [] if fault else [label]
            shown = [pages[document.document_id, number] for number in pages_of(document, label)]
            reading.pictured += any(image_of(folder / "pages", page) for page in shown)
    text = "".join(line for page in printed for line in page)
    reading.error_rate = error_rate(document.text, text)
    return reading


def error_rate(read: str, printed: str) -> float:
    """Edits of characters by characters printed; both in one width and without white space."""
    from rapidfuzz.distance import Levenshtein

    reference = _plain(printed)
    return Levenshtein.distance(_plain(read), reference) / max(1, len(reference))


def _same(part: DocumentPart, question: Question) -> bool:
    options = part.data.get("options")
    read = [part.data.get("stem"), *(options if isinstance(options, list) else [])]
    wanted = [question.stem, *question.options]
    texts = [_plain(str(text)) for text in read] == [_plain(text) for text in wanted]
    rest = (question.kind, question.answer, question.unit)
    return texts and (part.data.get("kind"), part.data.get("answer"), part.data.get("unit")) == rest


def _plain(text: str) -> str:
    return re.sub(r"\s", "", normalise(text))
