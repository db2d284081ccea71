"""Dates and document numbers that a text or page states about itself."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable

_ISO = re.compile(r"(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})\s*日?")
_DAY = r"(\d{4})\s*年\s*(\d{1,2})\s*月\s*(\d{1,2})\s*日"
# 自…起施行, and the short form of collections: "2024年3月20日 施行".
_EFFECTIVE = re.compile(rf"(?:自|从)?\s*{_DAY}\s*(?:起|开始)?\s*(?:施行|执行|实施|生效)")
_FROM_PUBLICATION = re.compile(r"自(?:公布|发布|印发)之日起(?:施行|执行|实施|生效)")
_PUBLISHED = re.compile(rf"{_DAY}[^。；\n]{{0,60}}?(?:公布|发布|印发)")
_PASSED = re.compile(rf"{_DAY}[^。；\n]{{0,80}}?(?:通过|修订|修正|修改)")
_AMENDED = re.compile(rf"{_DAY}(?:(?!{_DAY.replace('(', '(?:')})[^。；\n]){{0,80}}?(?:修订|修正|修改)")
_REPEALED = re.compile(rf"(?:本\S{{1,4}}|已)自?\s*{_DAY}\s*起?\s*(?:废止|失效)")
_NUMBER = re.compile(
    r"[\u4e00-\u9fff]{1,14}[〔［\[（(]\s*\d{4}\s*[〕］\]）)]\s*第?\s*\d+\s*号"
    r"|[\u4e00-\u9fff]{2,14}(?:公告|令)\s*\d{4}\s*年\s*第\s*\d+\s*号"
    r"|[\u4e00-\u9fff]{2,12}令\s*第?\s*[\d〇零一二三四五六七八九十百]+\s*号"
)


def iso_date(text: str) -> str:
    """The first date in the text as ``YYYY-MM-DD``, or empty (also for a day that does not exist)."""
    match = _ISO.search(text)
    return _iso(match.groups()) if match else ""


def effective_date(lines: Iterable[str], published: str = "") -> str:
    """When the rule takes effect, where a line states it (the last such line wins), or empty."""
    found = ""
    for line in lines:
        for match in _EFFECTIVE.finditer(line):
            found = _iso(match.groups()) or found
        if _FROM_PUBLICATION.search(line):
            found = published or found
    return found


def published_date(head: Iterable[str]) -> str:
    """When the rule was made public, else last passed or amended, from the lines of its head; or empty."""
    lines = list(head)
    for pattern in (_PUBLISHED, _PASSED):
        days = [_iso(match.groups()) for line in lines for match in pattern.finditer(line)]
        if any(days):
            return max(days)
    return ""


def amended_date(head: Iterable[str]) -> str:
    """When the rule was last amended, from the lines of its head, or empty.

    The day of passing counts only where an amendment (修订, 修正, 修改) follows in the same clause.
    """
    days = [_iso(match.groups()) for line in head for match in _AMENDED.finditer(line)]
    return max(days, default="")


def repealed_date(lines: Iterable[str]) -> str:
    """When the rule itself ended, where a line states it, or empty."""
    return next((_iso(match.groups()) for line in lines if (match := _REPEALED.search(line))), "")


def document_number(lines: Iterable[str]) -> str:
    """The first document number in the lines (财税〔2016〕36号), without white space, or empty."""
    for line in lines:
        if match := _NUMBER.search(line):
            return re.sub(r"\s+", "", match.group())
    return ""


def _iso(groups: Iterable[str]) -> str:
    year, month, day = (int(group) for group in groups)
    try:
        return datetime.date(year, month, day).isoformat()
    except ValueError:
        return ""
