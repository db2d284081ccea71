"""The prints of exam books: option letters, answer marks, section heads, compact keys."""

from __future__ import annotations

import re
from typing import Literal

from taxpraben.text.numerals import NUMERAL

QuestionKind = Literal["single", "multiple", "calculation"]
KIND_NAMES: dict[QuestionKind, str] = {"single": "单选", "multiple": "多选", "calculation": "计算"}
LETTERS = "ABCDEFGHIJKLM"

# Width only, character by character, so that offsets hold in the printed text.
_NARROW = (
    {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    | {0x24B6 + at: letter for at, letter in enumerate(LETTERS)}  # Ⓐ Ⓑ Ⓒ
    | {0x3000: " ", 0x00A0: " ", 0x2003: " "}
)

_SECTION = re.compile(
    rf"(?:第\s*[{NUMERAL}\d]+\s*(?:部分|[章节篇编])\s*)?(?:[({{]?[{NUMERAL}\d]+[)}}]?\s*[、.．]?\s*)?"
    r"(单项选择题|单选题|多项选择题|多选题|不定项选择题|计算题|计算分析题|计算问答题|计算回答题)"
)
_OTHER_SECTION = re.compile(
    rf"(?:第\s*[{NUMERAL}\d]+\s*(?:部分|[章节篇编])\s*)?[({{]?[{NUMERAL}\d]+[)}}]?\s*[、.．]?\s*"
    r"(判断题|判断说明题|填空题|简答题|问答题|论述题|名词解释|综合题|综合分析题|综合计算题|案例分析题|材料分析题|业务题)"
    r"\s*(?:[(:：].{0,60})?"
)
_CHAPTER = re.compile(rf"第\s*([{NUMERAL}\d]+)\s*(?:部分|[章篇编])(?:\s|$|\S{{0,30}}$)")
_KEY_HEAD = re.compile(
    r"[【\[]?\s*(?:本章|各章)?\s*(?:参考)?答案\s*(?:(?:与|及|和)\s*(?:解析|详解|说明))?\s*(?:[】\]]|$)\s*"
)
ANSWER = re.compile(r"[【\[({]?\s*(?:参考|正确|标准)?答案\s*(?:[】\])}]|[:：为是])\s*[:：]?\s*")
# Behind other words only an unmistakable mark counts.
ANSWER_IN_LINE = re.compile(
    r"(?<=\S)\s*[【\[]\s*(?:参考|正确|标准)?答案\s*[】\]]\s*[:：]?\s*|(?<=\S)\s+(?:参考|正确|标准)?答案\s*[:：]\s*"
)
EXPLANATION = re.compile(r"[【\[({]?\s*(?:答案)?(?:解析|详解|解题思路)\s*(?:[】\])}]|[:：])\s*[:：]?\s*")
NUMBERED = re.compile(r"(?:【(?:例题?|习题)\s*)?(?:第\s*)?(\d{1,3})\s*(?:题|】|[.、]|(?=\s*【答案】))\s*(?!\d)")

BARE_NUMBER = re.compile(r"(\d{1,3})\s*(?=[\u4e00-\u9fff《“])(?![年月日元万亿个号条款项章节吨倍人天])")


def narrow(text: str) -> str:
    """Full-width ASCII as half-width, one character for one, so that offsets stay."""
    return text.translate(_NARROW)


def section_kind(line: str) -> QuestionKind | None:
    """The kind of questions that a heading line opens, or None for any other line."""
    plain = narrow(line).strip()
    match = _SECTION.match(plain)
    if match is None or len(plain) > match.end() + 60:
        return None
    rest = plain[match.end() :].strip()
    if rest and not re.match(r"[(（:：、,，。]|每|共|本|\d", rest):
        return None
    name = match.group(1)
    if name.startswith("单"):
        return "single"
    return "calculation" if name.startswith("计算") else "multiple"


def unused_section(line: str) -> str:
    """The name of a section whose questions have no single answer to compare (判断题, 简答题 …), or empty."""
    match = _OTHER_SECTION.fullmatch(narrow(line).strip())
    return match.group(1) if match else ""


def chapter_of(line: str) -> str:
    """The number of the chapter that a heading line opens, as printed, or empty."""
    plain = narrow(line).strip()
    match = _CHAPTER.match(plain)
    return match.group(1) if match and len(plain) <= 40 else ""


def opens_key(line: str) -> bool:
    """Whether the line is the heading of an answer key."""
    plain = narrow(line).strip()
    without_chapter = re.sub(rf"^第\s*[{NUMERAL}\d]+\s*(?:部分|[章篇编])\s*", "", plain)
    return len(plain) <= 24 and _KEY_HEAD.fullmatch(without_chapter) is not None


_OPTION = re.compile(r"(?<![A-Za-z0-9])[(\[【]?\s*([A-M])\s*(?:[)\]】]\s*[.、:,]?|[.、:])\s*")
_BARE_OPTION = re.compile(r"(?:(?<=\n)|(?<=\s))([A-M])\s*(?=[\u4e00-\u9fff\d(《“])")
_SMALL_OPTION = re.compile(r"(?:(?<=\n)|(?<=\s))\(?([a-m])\s*[).、]\s*")
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩"
_CIRCLED_OPTION = re.compile(rf"(?:(?<=\n)|(?<=\s))([{_CIRCLED}])\s*")
# How options are marked, the usual first; the next is tried only where the one before finds no run.
_PRINTS = (_OPTION, _BARE_OPTION, _SMALL_OPTION, _CIRCLED_OPTION)


def letter_of(mark: str) -> str:
    """The letter that an option's mark stands for: ``a`` and ``①`` are A."""
    return LETTERS[_CIRCLED.index(mark)] if mark in _CIRCLED else mark.upper()


def split_options(body: str) -> tuple[str, list[str]]:
    """Stem and option texts of a choice question, whatever the print: ``A.``, ``A、``, ``(A)``, ``Ａ．``, ``A　``.

    The letters must run A, B, C, …; several on a line are parted; a stem that names companies A and B keeps them
    (the longest run of letters counts, the last one where two are equally long). Among letters with their mark, one
    that OCR took the mark from still counts.

    Returns:
        The stem and the options in order; no options where fewer than two letters run.
    """
    plain = narrow(body)
    for pattern in _PRINTS:
        marks = _marks(pattern, plain)
        run = _longest_run(marks)
        if pattern is _OPTION:
            run = _with_bare_letters(run, marks, plain)
        if len(run) >= (3 if pattern is _CIRCLED_OPTION else 2):
            ends = [start for _, start, _ in run[1:]] + [len(body)]
            options = [_joined(body[stop:end]) for (_, _, stop), end in zip(run, ends, strict=True)]
            return _joined(body[: run[0][1]]), options
    return _joined(body), []


def runs_of_options(body: str) -> int:
    """How many runs of three or more options the text holds; two where a question's number was not read."""
    plain = narrow(body)
    letters = [match.group(1) for match in _OPTION.finditer(plain)]
    return len(re.findall("ABC", "".join(letters)))


_IN_BLANK = re.compile(r"(?<=[(（])\s*([A-M](?:[,，、\s]?[A-M])*)\s*(?=[)）])")


def take_answer_from_blank(stem: str) -> tuple[str, str]:
    """The stem with an empty blank and the letters that were printed in it: ``是（C）。`` gives ``是（　）。`` and C.

    Returns:
        The stem unchanged and no letters where none, or more than one, pair of brackets holds letters.
    """
    found = list(_IN_BLANK.finditer(narrow(stem)))
    if len(found) != 1:
        return stem, ""
    return stem[: found[0].start()] + "\u3000" + stem[found[0].end() :], letters_of(found[0].group(1))


USUAL = 4
"""Most choice questions have so many options."""

_Mark = tuple[str, int, int]
"""An option's letter, and where its mark begins and ends."""


def _marks(pattern: re.Pattern[str], plain: str) -> list[_Mark]:
    return [(letter_of(match.group(1)), *match.span()) for match in pattern.finditer(plain)]


def _with_bare_letters(run: list[_Mark], marked: list[_Mark], plain: str) -> list[_Mark]:
    """A longer run with letters that lost their mark, where no less than half of its letters have theirs."""
    longer = _longest_run(sorted(marked + _marks(_BARE_OPTION, plain), key=lambda mark: mark[1]))
    while len(longer) > USUAL and longer[-1] not in marked:
        longer.pop()  # E公司 in the last option
    whole = sum(mark in marked for mark in longer)
    return longer if len(longer) > len(run) and 2 * whole >= len(longer) else run


def _longest_run(marks: list[_Mark]) -> list[_Mark]:
    best: list[_Mark] = []
    for first, mark in enumerate(marks):
        if mark[0] != "A":
            continue
        run = [mark]
        for other in marks[first + 1 :]:
            if other[0] == LETTERS[len(run)]:
                run.append(other)
                if len(run) == len(LETTERS):
                    break
            elif other[0] == "A":
                break
        if len(run) >= len(best):
            best = run
    return best


def _joined(text: str) -> str:
    """Printed lines as one text; a space stays only between Latin words."""
    text = re.sub(r"(?<=[A-Za-z])[ \t]*\n[ \t]*(?=[A-Za-z])", " ", text.strip())
    return re.sub(r"\s*\n\s*", "", text).strip(" \u3000;；").strip()


def letters_of(text: str) -> str:
    """The sorted letters of a choice answer: ``A,D``, ``ABD``, ``选项ABD``, ``Ａ、Ｃ`` and the like; else empty."""
    plain = narrow(text).strip().upper()
    plain = re.sub(r"^(?:选项|选|故选|应选|答案(?:为|是)?)\s*", "", plain).rstrip(".。;； ")
    plain = re.sub(f"[{_CIRCLED}]", lambda match: letter_of(match.group()), plain)
    if not re.fullmatch(r"[A-M](?:\s*[,，、;/和及与|]?\s*[A-M])*", plain):
        return ""
    letters = re.findall("[A-M]", plain)
    return "".join(sorted(letters)) if len(set(letters)) == len(letters) else ""


_NUMBER = re.compile(
    r"(-|−|负)?\s*(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?\s*(亿元|万元|元|%|‰|万|亿|吨|平方米|辆|人|天|日|个月|年|倍)?"
)


def number_of(text: str) -> tuple[str, str]:
    """The number and the unit of a calculation's answer (``1,234.50万元`` gives ``1234.50`` and ``万元``).

    Returns:
        Two empty texts where the answer holds no number, or more than one.
    """
    plain = narrow(text).strip().rstrip("。.;")
    found = list(_NUMBER.finditer(plain))
    if len(found) != 1:
        return "", ""
    sign, whole, fraction, unit = found[0].groups()
    return f"{'-' if sign else ''}{whole.replace(',', '')}{fraction or ''}", unit or ""


_CHOSEN = re.compile(r"(?:故|因此|所以)[^。;]{0,12}?选(?:择|项)?\s*([A-M](?:[,，、]?[A-M])*)")


def chosen_in(explanation: str) -> str:
    """The letters that an explanation ends on (``故本题应选C。``), or empty; the last such words count."""
    found = _CHOSEN.findall(narrow(explanation))
    return letters_of(found[-1]) if found else ""


def numbers_row(line: str) -> list[int]:
    """The numbers of a key table's head (``题号 1 2 3``), or none."""
    match = re.fullmatch(r"题\s*号\s*((?:\d{1,3}\s*)+)", narrow(line).strip())
    return [int(number) for number in match.group(1).split()] if match else []


def letters_row(line: str) -> list[str]:
    """The answers of a key table's second row (``答案 C B A``), or none."""
    match = re.fullmatch(r"答\s*案\s*((?:[A-M]+\s*)+)", narrow(line).strip())
    return match.group(1).split() if match else []


def compact_answers(line: str) -> list[tuple[int, str]]:
    """Answers of a compact key row: ``1.C 2.B 3.A``, ``1-5 ABCDA``, ``6.ABD 7.BC``; empty for any other line."""
    plain = narrow(line)
    out: list[tuple[int, str]] = []
    rest = plain
    for match in re.finditer(
        r"(\d{1,3})\s*[-~—–至]+\s*(\d{1,3})\s*[.、:：]?\s*([A-M](?:\s?[A-M])*)(?![A-Za-z])", plain
    ):
        first, last, letters = int(match.group(1)), int(match.group(2)), re.sub(r"\s", "", match.group(3))
        if last - first + 1 == len(letters):
            out += [(first + offset, letter) for offset, letter in enumerate(letters)]
            rest = rest.replace(match.group(), " ")
    single = re.compile(r"(\d{1,3})\s*[.、:：]?\s*([A-M](?:[,，、\s]?[A-M])*)(?=\s|$|[;；,，。]|\d)")
    for match in single.finditer(rest):
        out.append((int(match.group(1)), letters_of(match.group(2))))
        rest = rest.replace(match.group(), " ", 1)
    # Anything else on the line but marks means that it is prose.
    return out if out and not re.sub(r"[\s,，;；。、.]", "", rest) else []
