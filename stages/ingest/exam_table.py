"""Exam sets as tables: columns id, question, A, B, C, D, answer; or choices as one cell."""

from __future__ import annotations

import ast
import json
import re

from stages.ingest.exam_book import choice_fault
from stages.ingest.exam_text import KIND_NAMES, LETTERS, QuestionKind, letters_of, number_of
from stages.ingest.outcome import Harvest, Place, new_document
from stages.ingest.tables import TableError, read_rows
from taxpraben.records.document import DocumentPart
from taxpraben.text.normalise import tidy

_QUESTION = ("question", "stem", "题目", "题干", "问题", "试题")
_ANSWER = ("answer", "gold", "label", "答案", "正确答案", "参考答案")
_CHOICES = ("choices", "choices_raw", "options", "选项")
_EXPLANATION = ("explanation", "analysis", "解析", "答案解析")
_TYPE = ("type", "kind", "题型", "question_type")
_UNIT = ("unit", "单位")


def read_exam_table(place: Place, data: bytes, suffix: str, title: str, kind: QuestionKind | None) -> Harvest:
    """An exam set as one document of kind ``exam_book``, a part of kind ``question`` for each good row.

    A row's kind comes from its type column, else from ``kind`` (the source's option), else from the file: a set with
    any answer of several letters is one of multiple choice. Rows that break their kind (a multiple choice with one
    letter, an answer that names no option, true-false) and rows said again go to quarantine with their line.

    Raises:
        TableError: the table has no column for the question.
    """
    harvest = Harvest()
    rows = read_rows(data, suffix, place, harvest)
    columns = set().union(*(cells for _, cells in rows)) if rows else set()
    if not any(name in columns for name in _QUESTION):
        raise TableError(
            f"no question column ({', '.join(_QUESTION)}) among {', '.join(sorted(columns)) or 'no columns'}"
        )
    if not any(name in columns for name in _ANSWER):
        harvest.set_aside(
            place, "table", f"the table has no answer column; {len(rows)} questions cannot be used",
            f"add a column named one of {', '.join(_ANSWER)}",
        )  # fmt: skip
        return harvest
    every = kind or _kind_of_file([_pick(cells, _ANSWER) for _, cells in rows])
    parts: list[DocumentPart] = []
    seen: dict[str, int] = {}
    numbers: dict[QuestionKind, int] = {"single": 0, "multiple": 0, "calculation": 0}
    for line, cells in rows:
        row_kind = _kind_of(_pick(cells, _TYPE), kind or every)
        stem = tidy(_pick(cells, _QUESTION)).replace("\n", " ")
        where = f"line {line}"
        if row_kind is None:
            harvest.set_aside(
                place, where, f"questions of type {_pick(cells, _TYPE)!r} are not used", "leave the row out", stem
            )
            continue
        printed = _pick(cells, _ANSWER)
        options = [] if row_kind == "calculation" else _options(cells)
        answer, unit, fault = _answer(row_kind, printed, options)
        if not stem:
            fault = "the question has no stem"
        same = json.dumps([stem, sorted(options)], ensure_ascii=False)
        if not fault and same in seen:
            fault = f"the same question as line {seen[same]}"
        if fault:
            harvest.set_aside(place, where, fault, "mend or leave out the row", f"{stem} {options} {printed}")
            continue
        seen[same] = line
        numbers[row_kind] += 1
        text = "\n".join([stem, *(f"{letter}.{option}" for letter, option in zip(LETTERS, options, strict=False))])
        parts.append(
            DocumentPart(
                kind="question",
                label=f"{KIND_NAMES[row_kind]}{numbers[row_kind]}",
                text=text,
                data={
                    "kind": row_kind, "stem": stem, "options": list(options), "answer": answer,
                    "unit": unit or _pick(cells, _UNIT), "explanation": tidy(_pick(cells, _EXPLANATION)), "row": line,
                },
            )
        )  # fmt: skip
    if parts:
        text = "\n\n".join(part.text for part in parts)
        harvest.documents.append(new_document(place, "exam_book", title, text, parts))
    return harvest


def _pick(cells: dict[str, str], names: tuple[str, ...]) -> str:
    return next((cells[name] for name in names if cells.get(name)), "")


def _kind_of(name: str, default: QuestionKind) -> QuestionKind | None:
    """The kind that a type cell names; None for a type that is not used (true-false, essay)."""
    if not name:
        return default
    lowered = name.lower()
    if "单" in name or "single" in lowered:
        return "single"
    if "多" in name or "不定项" in name or "multi" in lowered:
        return "multiple"
    if "计算" in name or "calc" in lowered:
        return "calculation"
    return None


def _kind_of_file(answers: list[str]) -> QuestionKind:
    letters = [letters_of(answer) for answer in answers if answer]
    if letters and sum(1 for answer in letters if answer) < 0.5 * len(letters):
        return "calculation"
    return "multiple" if any(len(answer) > 1 for answer in letters) else "single"


def _options(cells: dict[str, str]) -> list[str]:
    """Option texts in order: columns A, B, C …, or one cell with a dict or list (JSON or Python literal)."""
    listed = []
    for letter in LETTERS:
        value = cells.get(letter.lower(), "") or cells.get(f"选项{letter.lower()}", "")
        if not value:
            break
        listed.append(tidy(value).replace("\n", " "))
    if listed:
        return listed
    raw = _pick(cells, _CHOICES)
    if not raw:
        return []
    try:
        loaded = json.loads(raw)
    except json.JSONDecodeError:
        try:
            loaded = ast.literal_eval(raw)
        except (ValueError, SyntaxError, MemoryError):
            return []
    if isinstance(loaded, dict):
        loaded = [loaded[key] for key in sorted(loaded, key=str)]
    values = [tidy(str(option)).replace("\n", " ") for option in loaded] if isinstance(loaded, list) else []
    return [re.sub(r"^[A-M]\s*[.、．:：]\s*", "", value) for value in values]


def _answer(kind: QuestionKind, printed: str, options: list[str]) -> tuple[str, str, str]:
    """Answer, unit, and what is wrong (empty where nothing is)."""
    if not printed:
        return "", "", "the row has no answer"
    if kind == "calculation":
        answer, unit = number_of(printed)
        return answer, unit, "" if answer else f"the answer {printed[:40]!r} is not one number"
    answer = letters_of(printed)
    if not answer and printed in options:
        answer = LETTERS[options.index(printed)]
    if not answer:
        return "", "", f"the answer {printed[:40]!r} is no option letter"
    if len(options) == 2:
        return "", "", "a true-false question (two options)"
    return answer, "", choice_fault(kind, answer, options)
