"""Render the two made-up books of the sample corpus as PDF files.

Reads ``exam_guide.yaml`` and ``casebook.yaml`` beside this file, recalculates every figure, refuses a wrong one,
and writes ``../sources/books/*.pdf``. The same YAML gives the same bytes.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pypdfium2
import yaml
from book_pages import Book, prepare, scan

HERE = Path(__file__).parent
BOOKS = HERE.parent / "sources" / "books"
OPERATORS: dict[type[ast.AST], Callable[..., Decimal]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}


def evaluate(expression: str) -> Decimal:
    """Return the value of an arithmetic expression; numbers, ``+ - * /``, brackets, ``min`` and ``max`` are allowed."""

    def value(node: ast.AST) -> Decimal:
        match node:
            case ast.Constant(value=int() | float() as number):
                return Decimal(str(number))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](value(left), value(right))
            case ast.UnaryOp(op=ast.USub() as op, operand=operand):
                return OPERATORS[type(op)](value(operand))
            case ast.Call(func=ast.Name(id="min" | "max" as name), args=args, keywords=[]):
                return {"min": min, "max": max}[name](value(each) for each in args)
        raise ValueError(f"Not plain arithmetic: {expression!r}")

    return value(ast.parse(expression, mode="eval").body)


def verify(where: str, printed: str, check: str) -> None:
    """Raise ``ValueError`` unless ``check`` gives ``printed``, rounded half up to the digits that ``printed`` shows."""
    found = evaluate(check).quantize(Decimal(printed), ROUND_HALF_UP)
    if str(found) != printed:
        raise ValueError(f"{where}: the key says {printed}, the arithmetic gives {found}")


def verify_question(chapter: str, number: int, question: dict[str, Any]) -> None:
    """Raise ``ValueError`` unless the question is complete, in order, and its key fits its kind."""
    where, answer, options = f"{chapter} {question['number']}", question["answer"], question["options"]
    if question["number"] != number:
        raise ValueError(f"{where}: expected number {number}")
    if question["kind"] == "calculation":
        verify(where, answer["value"], question["check"])
        if not question["stem"].endswith(f"（　）{answer['unit']}。") or not 120 <= len(question["stem"]) <= 320:
            raise ValueError(f"{where}: the stem must hold 120 to 320 characters and end with the blank and its unit")
        return
    count, keys = {"single": (4, {1}), "multiple": (5, {2, 3, 4, 5})}[question["kind"]]
    letters = "ABCDE"[:count]
    if len(set(options)) != count or len(answer) not in keys or list(answer) != sorted(set(answer) & set(letters)):
        raise ValueError(f"{where}: {count} different options and an ordered key are needed, got {answer!r}")


def verify_case(case: dict[str, Any]) -> None:
    """Raise ``ValueError`` unless each figure of the case follows from its arithmetic and stands in its prose."""
    prose = case["before"] + case["plan"] + case["conclusion"]
    for item in case["fields"]:
        if item["kind"] == "number":
            verify(f"案例{case['number']} {item['name']}", item["answer"], item["check"])
            if item["answer"] not in prose:
                raise ValueError(f"案例{case['number']}: {item['answer']} ({item['name']}) is not in the prose")


def exam_guide(source: dict[str, Any]) -> Book:
    """Lay out the exam guide: front page, chapters, keys at the back."""
    book = Book(source["title"] + source["subtitle"], source["running_head"])
    chapters = source["chapters"]
    book.front_page(source, [*(chapter["title"] for chapter in chapters), source["answers_title"]])
    for chapter in chapters:
        book.new_page(chapter["title"])
        book.write(chapter["title"], 15, center=True, gap=4)
        book.write(chapter["note"], gap=8)
        for number, question in enumerate(chapter["questions"], 1):
            verify_question(chapter["title"], number, question)
            book.question(number, question["stem"], question["options"])
    book.new_page(source["answers_title"])
    book.write(source["answers_title"], 15, center=True, gap=8)
    for chapter in chapters:
        book.room_for(4)
        book.write(chapter["title"], 12, gap=4)
        for question in chapter["questions"]:
            key = question["answer"]
            book.write(f"{question['number']}.【答案】{key if isinstance(key, str) else key['value'] + key['unit']}")
            if question["explanation"]:
                book.write(f"【解析】{question['explanation']}")
        book.y -= 10
    return book


def casebook(source: dict[str, Any]) -> Book:
    """Lay out the planning casebook: front page, then one case after the other."""
    book = Book(source["title"] + source["subtitle"], source["running_head"])
    book.front_page(source, [f"案例{case['number']} {case['title']}" for case in source["cases"]])
    book.new_page("案例")
    for case in source["cases"]:
        verify_case(case)
        book.room_for(5)
        book.write(f"案例{case['number']} {case['title']}", 13, gap=4)
        for head, key in (("情景", "scenario"), ("筹划前", "before"), ("筹划方案", "plan"), ("结论", "conclusion")):
            book.write(f"【{head}】{case[key]}", gap=4)
        book.y -= 12
    return book


def scanned_pages(book: Book, source: dict[str, Any]) -> list[int]:
    """Return the indexes of four pages: the last two of the first chapter and the middle two of the second."""
    titles = [chapter["title"] for chapter in source["chapters"]]
    first, second = ([index for index, page in enumerate(book.pages) if page.section == title] for title in titles[:2])
    middle = len(second) // 2
    return [*first[-2:], *second[middle - 1 : middle + 1]]


def main() -> None:
    """Render both books and report their pages, scans and split questions."""
    prepare()
    BOOKS.mkdir(parents=True, exist_ok=True)
    guide_source = yaml.safe_load((HERE / "exam_guide.yaml").read_text(encoding="utf-8"))
    guide = exam_guide(guide_source)
    pages = scanned_pages(guide, guide_source)
    document = pypdfium2.PdfDocument(guide.pdf({}))
    if len(guide.splits) < 2:
        raise ValueError(f"At least two questions must run over a page break, got {guide.splits}")
    (BOOKS / "tax_exam_guide.pdf").write_bytes(guide.pdf({index: scan(document, index) for index in pages}))
    cases = casebook(yaml.safe_load((HERE / "casebook.yaml").read_text(encoding="utf-8")))
    (BOOKS / "planning_casebook.pdf").write_bytes(cases.pdf({}))
    print(f"exam guide: {len(guide.pages)} pages, scanned {[index + 1 for index in pages]}, split {guide.splits}")
    print(f"casebook: {len(cases.pages)} pages")


if __name__ == "__main__":
    main()
