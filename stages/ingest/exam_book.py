"""Exam books: single choice, multiple choice, calculations, over page breaks, with the key wherever it stands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from stages.ingest.exam_text import (
    ANSWER,
    ANSWER_IN_LINE,
    BARE_NUMBER,
    EXPLANATION,
    KIND_NAMES,
    NUMBERED,
    QuestionKind,
    chapter_of,
    chosen_in,
    compact_answers,
    letters_of,
    letters_row,
    narrow,
    number_of,
    numbers_row,
    opens_key,
    runs_of_options,
    section_kind,
    split_options,
    take_answer_from_blank,
    unused_section,
)
from stages.ingest.layout import Line, join_wrapped
from stages.ingest.outcome import Harvest, Place, new_document
from taxpraben.records.document import DocumentPart
from taxpraben.text.normalise import normalise
from taxpraben.text.numerals import parse_chinese_number

# The place to answer in: OCR loses the blank in it and the width of its brackets, and reads a bracket twice.
_BLANK = re.compile(r"[（(]{1,2}\s*[）)]")
_Where = tuple[str, QuestionKind]
_Spot = tuple[str, QuestionKind, int]


@dataclass
class Entry:
    """A question or an entry of the key, as printed.

    Attributes:
        chapter: the chapter's number as printed, or empty.
        lines: its printed lines, without the number.
        lost: its number stands nowhere in the book's text.
    """

    chapter: str
    kind: QuestionKind
    number: int
    page: int
    lines: list[str] = field(default_factory=list)
    lost: bool = False


@dataclass
class Key:
    """What a key says of a question: the answer as printed and its explanation."""

    answer: str
    explanation: str = ""
    page: int = 0


def read_exam_book(place: Place, title: str, lines: Sequence[Line]) -> Harvest:
    """An exam book as one document of kind ``exam_book``, a part of kind ``question`` for each question.

    Labels are 单选1, 多选1, 计算1 (第2章单选1 where a kind stands in several chapters). Keys are matched by chapter,
    section and number. What does not pair stays a part and says why in ``data["fault"]``, so that people review it
    beside the page: questions without an answer, answers that do not fit their question or have none, and numbers
    that are missing. ``data["normalised"]`` is the part's text in one width, for search and comparison.
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
        label = _label(entry, several[entry.kind])
        parts.append(_lost(entry, label, key) if entry.lost else _question(entry, label, body, key))
    for spot, key in keys.items():
        if spot not in matched:
            entry = Entry(*spot, key.page, lost=True)
            parts.append(_lost(entry, _label(entry, several[entry.kind]), key))
    if not parts:
        harvest.set_aside(place, "document", "no question found", "check that the book is an exam book")
        return harvest
    text = "\n".join(_text_lines(lines))
    flags = ["ocr"] if any(line.scanned for line in lines) else []
    harvest.documents.append(new_document(place, "exam_book", title, text, parts, flags=flags))
    harvest.notes["questions that do not pair, for review"] += sum("fault" in part.data for part in parts)
    return harvest


def _label(entry: Entry, several: bool) -> str:
    label = f"{KIND_NAMES[entry.kind]}{entry.number}"
    if several and entry.chapter:
        return f"第{parse_chinese_number(entry.chapter) or entry.chapter}章{label}"
    return label


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
    table: list[int] = []
    unused: Counter[str] = Counter()
    for line in lines:
        if questions and opens_key(line.text):  # before any question it is a line of the contents
            in_key, current = True, None
            continue
        if name := unused_section(line.text):
            if questions and not in_key:
                unused[name] += 1
            kind, current = None, None
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
        if in_key and table and (letters := letters_row(line.text)) and len(letters) == len(table):
            pairs = zip(table, letters, strict=True)
            entries += [Entry(chapter, kind, number, line.page, [f"【答案】{letter}"]) for number, letter in pairs]
            table, current = [], None
            continue
        if in_key and (table := numbers_row(line.text)):
            continue
        if in_key and (rows := compact_answers(line.text)):
            entries += [Entry(chapter, kind, number, line.page, [f"【答案】{letters}"]) for number, letters in rows]
            current = None
            continue
        match = NUMBERED.match(narrow(line.text))
        if match is None and (bare := BARE_NUMBER.match(narrow(line.text))):
            match = bare if _follows(int(bare.group(1)), chapter, kind, entries, current) else None
        if match and _opens(int(match.group(1)), chapter, kind, entries, current):
            number = int(match.group(1))
            current = Entry(chapter, kind, number, line.page, [line.text[match.end() :].strip()])
            entries.append(current)
        elif current is not None:
            current.lines.append(line.text)
    for name, count in unused.items():
        harvest.set_aside(
            place, name, f"{count} sections of this kind: their questions have no single answer to compare",
            "nothing is to be done unless they are wanted; then type them as a table (parser exam_table)",
        )  # fmt: skip
    return _with_lost(questions), _keys(key_entries)


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


def _follows(number: int, chapter: str, kind: QuestionKind, entries: list[Entry], current: Entry | None) -> bool:
    """Whether a number without its dot (OCR loses it) opens the next entry: the right number behind a finished one."""
    if current is None or (current.chapter, current.kind) != (chapter, kind) or current is not entries[-1]:
        return current is None and number == 1
    whole = "\n".join(current.lines)
    finished = ANSWER.search(narrow(whole)) is not None or (
        re.search(r"[。.)）]$", whole) is not None if kind == "calculation" else len(split_options(whole)[1]) >= 3
    )
    return number == current.number + 1 and finished


def _with_lost(questions: Sequence[Entry]) -> list[Entry]:
    """The questions, with an entry for each number that a section jumps over, on the page of the one before it."""
    out: list[Entry] = []
    last: dict[_Where, Entry] = {}
    for entry in questions:
        before = last.get((entry.chapter, entry.kind))
        page = before.page if before else entry.page
        first = before.number + 1 if before else 1
        out += [Entry(entry.chapter, entry.kind, number, page, lost=True) for number in range(first, entry.number)]
        out.append(entry)
        if before is None or entry.number > before.number:
            last[entry.chapter, entry.kind] = entry
    return out


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
        until = answered.start() if answered and explained and answered.start() >= explained.end() else len(whole)
        explanation = whole[explained.end() : until].strip() if explained else ""
        answer = whole[start:stop].strip()
        if entry.kind != "calculation" and not letters_of(answer):
            answer = chosen_in(whole) or answer
        keys.setdefault((entry.chapter, entry.kind, entry.number), Key(answer, explanation, entry.page))
    return keys


def _take_inline(entry: Entry) -> tuple[list[str], Key | None]:
    """The question's lines without an answer printed under it, or behind its last option, and that answer."""
    for at, line in enumerate(entry.lines):
        match = ANSWER.match(narrow(line).strip())
        start, end = (0, match.end()) if match and at > 0 else (-1, -1)
        if start < 0 and (match := ANSWER_IN_LINE.search(narrow(line))):
            start, end = match.span()
        if start < 0 or match is None:
            continue
        before, behind = line.strip()[:start].rstrip(), line.strip()[end:]
        rest = ["【答案】" + behind, *entry.lines[at + 1 :]]
        inner = Entry(entry.chapter, entry.kind, entry.number, entry.page, rest)
        return [*entry.lines[:at], *([before] if before else [])], next(iter(_keys([inner]).values()))
    return entry.lines, None


def _question(entry: Entry, label: str, body: list[str], key: Key | None) -> DocumentPart:
    """The question's part; ``data["fault"]`` says what is wrong with it, where something is."""
    text = "\n".join(body)
    stem, options = split_options(text)
    if entry.kind == "calculation":
        stem, options = _plain(body), []
    elif key is None:
        stem, letters = take_answer_from_blank(stem)
        key = Key(letters, page=entry.page) if letters else None
    stem = _BLANK.sub("（　）", stem)
    printed = key.answer if key else ""
    unit = ""
    if entry.kind == "calculation":
        answer, unit = number_of(printed)
    else:
        answer = letters_of(printed)
    fault = ""
    if key is None:
        fault = "no answer was found for the question"
    elif not stem:
        fault = "the question has no stem"
    elif not answer:
        what = "one number" if entry.kind == "calculation" else "an option letter"
        fault = f"the answer {printed[:40]!r} is not {what}"
    elif entry.kind != "calculation":
        fault = choice_fault(entry.kind, answer, options)
    if entry.kind == "calculation" and stem.count("（　）") > 1:
        fault = "the question has two blanks: it asks for several numbers, or another question ran into it"
    if runs_of_options(text) > 1:
        fault = "two sets of options stand in the question: the number of the one behind it was not read"
    data: dict[str, JsonValue] = {
        "kind": entry.kind, "stem": stem, "options": list(options), "answer": answer, "unit": unit,
        "explanation": key.explanation if key else "", "normalised": normalise(text),
    }  # fmt: skip
    return _part(entry, label, text, data, fault)


def _lost(entry: Entry, label: str, key: Key | None) -> DocumentPart:
    """A part for a question whose number was not read, with what a key says of it; people type it from the page."""
    fault = "the question's number is missing in the book's text"
    if key is not None:
        fault = "the key has an answer for a question that was not found"
    said = f"答案：{key.answer}" if key else "未读出"
    data: dict[str, JsonValue] = {"kind": entry.kind, "answer": key.answer if key else ""}
    return _part(entry, label, f"（{label}，第{entry.page}页，{said}）", data, fault)


def _part(entry: Entry, label: str, text: str, data: dict[str, JsonValue], fault: str) -> DocumentPart:
    if fault:
        data = {**data, "fault": fault}
    return DocumentPart(kind="question", label=label, text=text, page=entry.page, data=data)


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
