"""Addresses in running text: street, village, house and room. Province, city and district stay, for local rules."""

from __future__ import annotations

import re

_DIVISION = re.compile(r"(?<=[\u4e00-\u9fff])(?:自治区|自治州|地区|省|市|区|县|旗)")
_N = r"[\d０-９一二三四五六七八九十百]"
_CHAR = r"(?![的在于与及为从有])[\u4e00-\u9fffA-Za-z\d０-９·]"
# Words that name a street, a village or an estate, and what a number in an address counts.
_STREET = r"(?:大街|大道|街道|路|街|道|巷|弄|胡同|里|镇|乡|村|庄村|庄|屯|社区|小区|花园|公寓|家园|苑|广场|大厦|园区)"
_ESTATE = r"(?:工业园|科技园|产业园|创业园|软件园|开发区)"
_HOUSE = r"(?:号院|号楼|号|栋|幢|弄|巷|座|区|单元|室|房|户|组|队|屯|段|层|楼)"
_FIRST = re.compile(rf"(?:(?![市县区]){_CHAR}){{1,9}}?{_STREET}|(?:(?![市县区]){_CHAR}){{0,9}}?{_ESTATE}")
_NEXT = (
    re.compile(
        rf"[东西南北中附增负地下甲乙]{{0,2}}{_N}{{1,6}}(?:[-—]{_N}{{1,4}})?{_HOUSE}(?:[增附]{_N}{{1,3}}号?|[甲乙](?!方))?"
    ),
    re.compile(rf"{_CHAR}{{1,9}}?(?:{_STREET}(?!局)|{_ESTATE})|{_ESTATE}|[A-Z东西南北]区"),
    re.compile(rf"{_CHAR}{{2,10}}?(?:中心|酒店|商务楼|旁)|{_CHAR}{{0,8}}?(?:厂房|仓库)"),
    re.compile(rf"{_CHAR}{{2,6}}?(?={_N}{{1,4}}(?:号楼|栋|幢|座|单元))"),
    re.compile(r"[A-Za-z]{1,2}[座栋]?\d{0,4}[层楼室]?|[东西南北]?\d{2,4}[室房]?(?![\d.年月日元万份个%])|单元"),
)


def find_addresses(text: str) -> list[str]:
    """What names a place below the district, each once, in the order of appearance.

    It stands behind a 省, 市, 区, 县 or 旗, opens with a street, a town or an estate, and holds a house number or a
    second such name; 佛山市禅城区季华五路12号 gives 季华五路12号.
    """
    found: dict[str, None] = {}
    end = 0
    for division in _DIVISION.finditer(text):
        start = division.end()
        opened = _FIRST.match(text, start) if start >= end else None
        if opened is None:
            continue
        at, pieces, numbered = opened.end(), 1, False
        while match := next((match for pattern in _NEXT if (match := pattern.match(text, at))), None):
            numbered = numbered or match.re is _NEXT[0]
            pieces += 1
            at = match.end()
        if numbered or pieces > 2:
            found.setdefault(text[start:at])
            end = at
    return list(found)
