"""Pseudonyms of people and companies: 甲, 乙, A公司, B公司; the same for the same name in the whole document."""

from __future__ import annotations

import re
from collections.abc import Iterable

_STEMS = "甲乙丙丁戊己庚辛壬癸"


def assign_pseudonyms(text: str, people: Iterable[str], companies: Iterable[str]) -> dict[str, str]:
    """Name to pseudonym: people 甲, 乙, … and companies A公司, B公司, … in the order given.

    Pseudonyms that the text already uses are left out; what it introduces behind a company's name as 以下简称 shares
    its pseudonym.
    """
    names: dict[str, str] = {}
    stems = (stem for stem in _STEMS if not re.search(rf"{stem}(?:某|公司|方)", text))
    letters = (letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if f"{letter}公司" not in text)
    numbered = (f"{stem}{number}" for number in range(1, 100) for stem in _STEMS)
    for name in people:
        names[name] = next(stems, "") or next(numbered)
    for name in companies:
        names[name] = f"{next(letters, '某')}公司"
        for alias in _aliases(text, name):
            names[alias] = names[name]
    return names


def _aliases(text: str, name: str) -> list[str]:
    found = re.search(
        re.escape(name) + r"[（(](?:以下|下)?简称[:：]?[“\"]?([\u4e00-\u9fffA-Za-z]{2,12})[”\"]?[）)]", text
    )
    return [found.group(1)] if found and found.group(1) not in ("被告", "原告", "公司") else []
