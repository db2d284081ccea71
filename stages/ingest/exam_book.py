"""Exam books: single choice, multiple choice, calculations, over page breaks, with the key wherever it stands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from stages.ingest.exam_text import (
    ANSWER,
    EXPLANATION,
    KIND_NAMES,
    NUMBERED,
    QuestionKind,
    chapter_of,
    compact_answers,
    letters_of,
    narrow,
    number_of,
    opens_key,
    section_kind,
    split_options,
)
from stages.ingest.layout import Line, join_wrapped
from stages.ingest.outcome import Harvest, Place, new_document
from taxpraben.records.document import DocumentPart
from taxpraben.text.numerals import parse_chinese_number

# The place to answer in: OCR loses the blank in it and the width of its brackets.
_BLANK = re.compile(r"[（(]\s*[）)]")
_Where = tuple[str, QuestionKind]
_Spot = tuple[str, QuestionKind, int]


@dataclass
class Entry:
    """A question or an entry of the key, as printed.

    Attributes:
        chapter: the chapter's number as printed, or empty.
        lines: its printed lines, without the number.
    """

    chapter: str
    kind: QuestionKind
    number: int
    page: int
    lines: list[str] = field(default_factory=list)
    scanned: bool = False

    @property
    def where(self) -> str:
        """For people: 单选3 (第2章)."""
        return f"{KIND_NAMES[self.kind]}{self.number}" + (f"（第{self.chapter}章）" if self.chapter else "")


@dataclass
class Key:
    """What a key says of a question: the answer as printed and its explanation."""

    answer: str
    explanation: str = ""
    page: int = 0


def read_exam_book(place: Place, title: str, lines: Sequence[Line]) -> Harvest:
    """An exam book as one document of kind ``exam_book``, a part of kind ``question`` for each question.

    Labels are 单选1, 多选1, 计算1 (第2章单选1 where a kind stands in several chapters). Keys are matched by chapter,
    section and number. Questions without an answer, answers without a question, answers that do not fit their
    question and jumps in the numbers go to quarantine with their page.
    """
    harvest = Harvest()
    questions, keys = split_book(lines, harvest, place)
    several = {
        kind: len({entry.chapter for entry in questions if entry.kind == kind}) > 1
        for kind in ("single", "multiple", "calculation")
    }
    chapterless = _chapterless(keys)
    matched: set[_Spot] = set()
    parts: list[DocumentPart] = []
    for entry in questions:
        body, inline = _take_inline(entry)
        spot = (entry.chapter, entry.kind, entry.number)
        key = inline or keys.get(spot)
        if key is None and not several[entry.kind]:
            # A key without chapter heads, or with its own: matched by kind and number, which are unique then.
            spot = chapterless.get((entry.kind, entry.number), spot)
            key = keys.get(spot)
        if inline is None and key is not None:
            matched.add(spot)
        label = f"{KIND_NAMES[entry.kind]}{entry.number}"
        if several[entry.kind] and entry.chapter:
            label = f"第{parse_chinese_number(entry.chapter) or entry.chapter}章{label}"
        part, fault = _question(entry, label, body, key)
        if part is None:
            harvest.set_aside(place, label, fault, f"look at page {entry.page} of the book", "\n".join(entry.lines))
        else:
            parts.append(part)
    for spot, key in keys.items():
        if spot not in matched:
            chapter, kind, number = spot
            harvest.set_aside(
                place,
                f"key {Entry(chapter, kind, number, key.page).where}",
                "the key has an answer for a question that was not found",
                f"look at page {key.page} and at the question's own page",
                key.answer,
            )
    if not parts:
        harvest.set_aside(place, "document", "no question found", "check that the book is an exam book")
        return harvest
    text = "\n".join(_text_lines(lines))
    flags = ["ocr"] if any(line.scanned for line in lines) else []
    harvest.documents.append(new_document(place, "exam_book", title, text, parts, flags=flags))
    return harvest


def _text_lines(lines: Sequence[Line]) -> list[str]:
    return [line.text for line in lines]


def _chapterless(
    keys: dict[_Spot, Key],
) -> dict[tuple[QuestionKind, int], _Spot]:
    counts = Counter((kind, number) for _, kind, number in keys)
    return {(kind, number): (chapter, kind, number) for chapter, kind, number in keys if counts[(kind, number)] == 1}


def split_book(lines: Sequence[Line], harvest: Harvest, place: Place) -> tuple[list[Entry], dict[_Spot, Key]]:
    """The printed lines parted into questions and keys, in order of print."""
    questions: list[Entry] = []
    key_entries: list[Entry] = []
    chapter, kind, in_key = "", None, False
    current: Entry | None = None
    body_sections: set[_Where] = set()
    for line in lines:
        if questions and opens_key(line.text):  # before any question it is a line of the contents
            in_key, current = True, None
            continue
        new_kind = section_kind(line.text)
        new_chapter = chapter_of(line.text)
        if new_chapter and (new_kind or len(line.text) <= 40) and not NUMBERED.match(narrow(line.text)):
            chapter, current = new_chapter, None
            if in_key and new_kind is None and not _in_key_chapter(new_chapter, body_sections):
                in_key = False  # the key of one chapter ended, the next chapter's questions begin
        if new_kind:
            kind, current = new_kind, None
            if in_key and (chapter, new_kind) not in body_sections:
                in_key = False
            if not in_key:
                body_sections.add((chapter, new_kind))
            continue
        if new_chapter and current is None:
            continue
        if kind is None:
            continue
        entries = key_entries if in_key else questions
        if in_key and (rows := compact_answers(line.text)):
            entries += [Entry(chapter, kind, number, line.page, [f"【答案】{letters}"]) for number, letters in rows]
            current = None
            continue
        match = NUMBERED.match(narrow(line.text))
        if match and _opens(int(match.group(1)), chapter, kind, entries, current):
            number = int(match.group(1))
            current = Entry(chapter, kind, number, line.page, [line.text[match.end() :].strip()], line.scanned)
            entries.append(current)
        elif current is not None:
            current.lines.append(line.text)
    _report_jumps(questions, harvest, place)
    return questions, _keys(key_entries)


def _in_key_chapter(chapter: str, body_sections: set[_Where]) -> bool:
    return any(chapter == known for known, _ in body_sections)


def _opens(number: int, chapter: str, kind: QuestionKind, entries: list[Entry], current: Entry | None) -> bool:
    """Whether a numbered line opens an entry: the next number of its section, or near it once the last is complete."""
    before = next((entry for entry in reversed(entries) if (entry.chapter, entry.kind) == (chapter, kind)), None)
    if before is None:
        return number == 1 or current is None
    if number == before.number + 1:
        return True
    # A lost question: a small step forward, and only where the one before holds its options or its answer.
    whole = "\n".join(before.lines)
    complete = kind == "calculation" or len(split_options(whole)[1]) >= 2 or ANSWER.search(narrow(whole)) is not None
    return before.number + 1 < number <= before.number + 3 and complete and kind != "calculation"


def _report_jumps(questions: list[Entry], harvest: Harvest, place: Place) -> None:
    last: dict[_Where, int] = {}
    for entry in questions:
        before = last.get((entry.chapter, entry.kind), 0)
        for missing in range(before + 1, entry.number):
            lost = Entry(entry.chapter, entry.kind, missing, entry.page)
            harvest.set_aside(
                place, lost.where, "the question's number is missing in the book's text", f"look at page {entry.page}"
            )
        last[(entry.chapter, entry.kind)] = max(before, entry.number)


def _keys(entries: list[Entry]) -> dict[_Spot, Key]:
    keys: dict[_Spot, Key] = {}
    for entry in entries:
        whole = ""
        for line in entry.lines:
            whole = join_wrapped(whole, line)
        plain = narrow(whole)
        explained = EXPLANATION.search(plain)
        answered = ANSWER.search(plain)
        start = answered.end() if answered else 0
        stop = explained.start() if explained and explained.start() >= start else len(whole)
        explanation = whole[explained.end() :].strip() if explained else ""
        keys.setdefault(
            (entry.chapter, entry.kind, entry.number), Key(whole[start:stop].strip(), explanation, entry.page)
        )
    return keys


def _take_inline(entry: Entry) -> tuple[list[str], Key | None]:
    """The question's lines without an answer printed under it, and that answer."""
    for at, line in enumerate(entry.lines):
        if (match := ANSWER.match(narrow(line).strip())) and at > 0:
            rest = ["【答案】" + line.strip()[match.end() :], *entry.lines[at + 1 :]]
            inner = Entry(entry.chapter, entry.kind, entry.number, entry.page, rest)
            return entry.lines[:at], next(iter(_keys([inner]).values()))
    return entry.lines, None


def _question(entry: Entry, label: str, body: list[str], key: Key | None) -> tuple[DocumentPart | None, str]:
    """The question's part, or None and what is wrong with it."""
    stem, options = split_options("\n".join(body))
    if entry.kind == "calculation":
        stem, options = _plain(body), []
    if key is None:
        return None, "no answer was found for the question"
    if not stem:
        return None, "the question has no stem"
    stem = _BLANK.sub("（　）", stem)
    unit = ""
    if entry.kind == "calculation":
        answer, unit = number_of(key.answer)
        if not answer:
            return None, f"the answer {key.answer[:40]!r} is not one number"
    else:
        answer = letters_of(key.answer)
        if not answer:
            return None, f"the answer {key.answer[:40]!r} is no option letter"
        fault = choice_fault(entry.kind, answer, options)
        if fault:
            return None, fault
    data = {
        "kind": entry.kind,
        "stem": stem,
        "options": list(options),
        "answer": answer,
        "unit": unit,
        "explanation": key.explanation,
    }
    return DocumentPart(kind="question", label=label, text="\n".join(body), page=entry.page, data=data), ""


def _plain(lines: list[str]) -> str:
    whole = ""
    for line in lines:
        whole = join_wrapped(whole, line.strip())
    return re.sub(r"\s+", " ", whole).strip()


def choice_fault(kind: QuestionKind, answer: str, options: list[str]) -> str:
    """What is wrong with a choice question's options or answer, or empty."""
    if len(options) < 3:
        return f"{len(options)} options were found, a choice question has three or more"
    if any(not option for option in options):
        return "an option is empty"
    if len(set(options)) < len(options):
        return "two options are the same"
    if any("ABCDEFGHIJKLM".index(letter) >= len(options) for letter in answer):
        return f"the answer {answer} names an option that is not there ({len(options)} options)"
    if kind == "single" and len(answer) != 1:
        return f"a single choice with {len(answer)} letters ({answer})"
    if kind == "multiple" and len(answer) < 2:
        return f"a multiple choice with one letter ({answer})"
    return ""
