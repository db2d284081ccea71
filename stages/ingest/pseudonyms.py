"""Pseudonyms of people and companies: 甲, 乙, A公司, B公司; the same for the same name in the whole document."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import count

_STEMS = "甲乙丙丁戊己庚辛壬癸"
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_USED = re.compile(
    rf"[{_STEMS}](?:某|公司|方)|(?<![\u4e00-\u9fff])[{_STEMS}](?=[、，和与及])|[、和与及][{_STEMS}](?=[、，。两二三])"
)
# What 以下简称 gives a company that others have too: a role in the text, not a name.
_ROLE = re.compile(
    r"[该本我贵]?(?:公司|企业|单位|纳税人|扣缴义务人|当事人|申请人|被申请人|上诉人|原告|被告|第三人|[甲乙丙丁买卖双各]方|"
    r"出[租卖让]方|承租方|受让方|委托人|受托人|债[权务]人|管理人)"
)


def assign_pseudonyms(text: str, people: Iterable[str], companies: Iterable[str]) -> dict[str, str]:
    """Name to pseudonym: people 甲, 乙, … and companies A公司, B公司, … in the order given.

    Pseudonyms that the text already uses are left out, and no two names share one; after 癸 comes 甲1, after Z公司
    A1公司. What the text introduces behind a company's name as 以下简称 shares its pseudonym.
    """
    names: dict[str, str] = {}
    used = {mark.group().strip("、和与及")[:1] for mark in _USED.finditer(text)}
    stems = (stem for stem in _endless(_STEMS) if stem not in used and (len(stem) == 1 or stem not in text))
    letters = (letter for letter in _endless(_LETTERS) if f"{letter}公司" not in text)
    for name in people:
        names[name] = next(stems)
    for name in companies:
        names[name] = f"{next(letters)}公司"
        for alias in _aliases(text, name):
            names[alias] = names[name]
    return names


def _endless(signs: str) -> Iterator[str]:
    yield from signs
    for number in count(1):
        yield from (f"{sign}{number}" for sign in signs)


def _aliases(text: str, name: str) -> list[str]:
    found = re.search(
        re.escape(name) + r"[（(](?:以下|下)?简称[:：]?[“\"]?([\u4e00-\u9fffA-Za-z]{2,12})[”\"]?[）)]", text
    )
    return [found.group(1)] if found and not _ROLE.fullmatch(found.group(1)) else []
