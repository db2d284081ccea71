"""Chinese numerals, everyday and financial: 第一百一十一条, 三十万, 壹拾贰."""

from __future__ import annotations

import re

_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")}
_DIGITS |= {"〇": 0, "○": 0, "两": 2, "壹": 1, "贰": 2, "貳": 2, "叁": 3, "參": 3, "肆": 4, "伍": 5, "陆": 6, "陸": 6}
_DIGITS |= {"柒": 7, "捌": 8, "玖": 9, "弌": 1, "廿": 20, "卅": 30}
_SMALL = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
NUMERAL = "零〇○一二两三四五六七八九十百千万亿"
"""The everyday numeral characters, for a regular expression's character class."""


def parse_chinese_number(text: str) -> int | None:
    """The whole number that a Chinese numeral names, or None where the text is none.

    Takes place notation (``一百一十一``), digit notation (``二〇二五``), financial capitals (``壹拾贰``), 十 with
    or without 一 before it, the spoken tail (``一百二`` is 120, ``三万五`` 35,000) and plain digits of either width.
    """
    text = text.strip()
    if re.fullmatch(r"\d+", text):
        return int(text)
    if not text or any(char not in _DIGITS and char not in _SMALL and char not in _LARGE for char in text):
        return None
    if all(char in _DIGITS and _DIGITS[char] < 10 for char in text):
        return int("".join(str(_DIGITS[char]) for char in text))
    return _place_value(text)


def _place_value(text: str) -> int | None:
    total = section = digit = 0
    unit = 1  # the last unit seen, for the spoken tail
    zero = False
    for char in text:
        if char in _LARGE:
            unit = _LARGE[char]
            if section + digit == 0 and total == 0:
                return None
            # 一万亿: the whole so far is multiplied; 三亿五千万: only what stands since 亿.
            if 0 < total < unit:
                total, section, digit = (total + section + digit) * unit, 0, 0
            else:
                total, section, digit = total + (section + digit) * unit, 0, 0
            zero = False
        elif char in _SMALL:
            unit = _SMALL[char]
            section += (digit or 1) * unit
            digit = 0
            zero = False
        elif _DIGITS[char] == 0:
            zero = True
        else:
            if digit:
                return None  # two digits in a row do not stand in place notation
            digit = _DIGITS[char]
            if digit >= 20:  # 廿, 卅
                section, digit = section + digit, 0
    if digit and unit >= 100 and not zero:
        return total + section + digit * unit // 10
    return total + section + digit


def format_chinese_number(value: int) -> str:
    """The everyday numeral of a whole number from 0 to 10**16 - 1, as statutes print it (11 is ``十一``).

    Raises:
        ValueError: the number is out of range.
    """
    if not 0 <= value < 10**16:
        raise ValueError(f"no Chinese numeral for {value}: 0 to 10**16 - 1 only")
    if value == 0:
        return "零"
    groups = []
    while value:
        value, group = divmod(value, 10**4)
        groups.append(group)
    names = ("", "万", "亿", "万亿")
    out = ""
    gap = False
    for place in range(len(groups) - 1, -1, -1):
        group = groups[place]
        if group == 0:
            gap = bool(out)
            if place == 2 and out:  # 一万亿 needs its 亿 even where that group is empty
                out, gap = out.removesuffix("亿") + "亿", True
            continue
        if out and (gap or group < 1000):
            out += "零"
        gap = False
        name = names[place] if not (place == 3 and groups[2]) else "万"
        out += _thousand(group) + name
    return out.removeprefix("一") if out.startswith("一十") else out


def _thousand(group: int) -> str:
    out = ""
    gap = False
    for power, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit, group = divmod(group, power)
        if digit:
            out += ("零" if gap and out else "") + "零一二三四五六七八九"[digit] + name
            gap = False
        else:
            gap = True
    return out
