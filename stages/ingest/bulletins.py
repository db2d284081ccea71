"""Bulletins of several cases taken apart: one case a document."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from taxpraben.text.numerals import parse_chinese_number

_HEAD = re.compile(
    r"#*\s*([一二三四五六七八九十]{1,3})\s*[、．.]\s*(.+)|#*\s*案例\s*([一二三四五六七八九十]{1,3}|\d{1,2})\s*[:：、]?\s*(.*)"
)


@dataclass(frozen=True)
class Case:
    """One case of a bulletin: its number from 1, its heading, its paragraphs (the heading is the first)."""

    number: int
    title: str
    lines: list[str]


def cases(lines: Sequence[str]) -> list[Case]:
    """The cases of a bulletin whose paragraphs are numbered 一、 二、 or 案例一, two or more, from one on.

    What stands before the first (when and why they were published) belongs to none. A text without such numbers, or
    where a heading has no case under it, is one text: no cases.
    """
    found: list[Case] = []
    for line in lines:
        match = _HEAD.match(line)
        if match is not None:
            stated = match.group(1) or match.group(3)
            number = int(stated) if stated.isdigit() else parse_chinese_number(stated)
            if number == len(found) + 1:
                title = (match.group(2) or match.group(4) or line).strip().rstrip("。．.")
                found.append(Case(int(number), title, [line]))
                continue
        if found:
            found[-1].lines.append(line)
    whole = len(found) > 1 and all(len("".join(case.lines)) >= 60 for case in found)
    return found if whole else []
