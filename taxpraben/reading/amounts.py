"""Amounts in running text: Arabic and Chinese numerals with their units, as exact decimals."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal

from taxpraben.text.numerals import parse_chinese_number

_DIGITS = {
    character: value
    for value, row in enumerate(["零〇", "一壹", "二两贰", "三叁", "四肆", "五伍", "六陆", "七柒", "八捌", "九玖"])
    for character in row
}
_CHINESE = "零〇一二两三四五六七八九十百千万亿壹贰叁肆伍陆柒捌玖拾佰仟萬億"
_SCALES = {"十": 10, "百": 100, "千": 1000, "万": 10**4, "亿": 10**8}
MONEY = {"元": Decimal(1), "角": Decimal("0.1"), "分": Decimal("0.01")}
_MONEY_UNITS = {
    "元": Decimal(1),
    "千元": Decimal(10**3),
    "万元": Decimal(10**4),
    "百万元": Decimal(10**6),
    "亿元": Decimal(10**8),
}

_PLAIN = r"(?:\d{1,3}(?:(?:[,\u00a0\u2009\u202f]|\{,\}|\\,)\d{3})+(?!\d)|\d+)(?:\.\d+)?(?:[eE][+-]?\d{1,2}(?!\d))?"
_AMOUNT = re.compile(
    rf"(?P<cent>[百千]分之)?(?:(?P<sign>负的?|[-+])\s{{0,3}})?"
    rf"(?:(?P<plain>{_PLAIN})\s{{0,3}}(?P<scales>(?:[十百千万亿](?![分位]))*)(?P<more>(?:\d+(?:\.\d+)?[百千万])*)"
    rf"|(?P<chinese>[{_CHINESE}]+(?:点[{_CHINESE}]+)?))"
    r"\s{0,3}(?P<unit>[%‰]|个?百分点|元|圆|块钱?|yuan\b|RMB\b|CNY\b|人民币)?(?P<rest>[零〇一二两三四五六七八九壹贰叁肆伍陆柒捌玖0-9]角(?:[零〇一二两三四五六七八九壹贰叁肆伍陆柒捌玖0-9]分)?)?",
    re.IGNORECASE,
)
LONGEST = 40
"""A figure of more characters is no amount of anything."""
_SEPARATORS = re.compile(r"\{,\}|\\,|[,\u00a0\u2009\u202f]")
_MORE = re.compile(r"(\d+(?:\.\d+)?)([百千万])")


@dataclass(frozen=True)
class Amount:
    """One amount in a text.

    Attributes:
        value: the amount in its base unit (元, or as written without a unit); percent as the figure before the sign.
        scale: what the written figure was multiplied with (10,000 in 3万元); 1 for Chinese numerals.
        unit: ``元``, ``%`` or empty.
        start, end: where it stands, in code points.
        chinese: whether it was written in Chinese numerals.
    """

    value: Decimal
    scale: int
    unit: str
    start: int
    end: int
    chinese: bool = False

    def in_unit(self, unit: str) -> Decimal:
        """The amount in the asked unit; without one, the figure as the text writes it before 元 (72.75 of 72.75万元).

        A bare figure is taken to be in the asked unit already.
        """
        if unit in _MONEY_UNITS and (self.unit == "元" or self.scale != 1 or self.chinese):
            return self.value / _MONEY_UNITS[unit]
        if not unit and self.unit == "元" and self.scale != 1:
            return self.value / self.scale
        return self.value


def is_money(unit: str) -> bool:
    """Whether a unit is one of money that amounts are converted to."""
    return unit in _MONEY_UNITS


def chinese_number(text: str) -> Decimal | None:
    """The value of a Chinese numeral, decimals included (一千二百, 叁万伍仟, 三点五); None where it is none."""
    if len(text) > LONGEST:
        return None
    whole, _, fraction = text.partition("点")
    scale = fraction[len(fraction.rstrip("十百千万亿")) :]
    fraction = fraction.removesuffix(scale)
    value = parse_chinese_number(whole)
    if value is None or not all(character in _DIGITS for character in fraction):
        return None
    times = math.prod(_SCALES[character] for character in scale)
    behind = Decimal("0." + "".join(str(_DIGITS[character]) for character in fraction)) if fraction else Decimal(0)
    return (value + behind) * times


def amounts(text: str) -> list[Amount]:
    """Every amount of a text that is narrow already (see ``surface.narrow``), in order of appearance.

    A minus is a sign only where nothing to be subtracted from stands before it.
    """
    found: list[Amount] = []
    for match in _AMOUNT.finditer(text):
        amount = _amount(match, text)
        if amount is not None:
            found.append(amount)
    return found


_TIMES = {"万": 10**4, "亿": 10**8, "千": 10**3, "百": 100}
_MONTHS = {"年": Decimal(12), "月": Decimal(1)}
_DAYS = {"周": Decimal(7), "星期": Decimal(7), "天": Decimal(1), "日": Decimal(1)}
_DATE = re.compile(r"\d{4}\s?年(?:\s?\d{1,2}\s?月)?(?:\s?\d{1,2}\s?日)?|\d{1,2}\s?月\s?\d{1,2}\s?日")


def counted(text: str, unit: str) -> list[Amount]:
    """The amounts of a narrow text that stand in a unit other than money and percent: 个月, 天, 吨, 万美元.

    Years and months are converted to each other and added up (``1年6个月`` is 18 months), so are weeks and days; dates
    are no durations.
    """
    times = _TIMES.get(unit[:1], 1) if len(unit) > 1 else 1
    word = (unit[1:] if times != 1 else unit).removeprefix("个")
    family = next((family for family in (_MONTHS, _DAYS) if word in family), {word: Decimal(1)})
    words = "|".join(re.escape(name) for name in sorted(family, key=len, reverse=True))
    pattern = re.compile(rf"\s?个?({words})(?:整|零|又)*", re.IGNORECASE)
    dates = [(date.start(), date.end()) for date in _DATE.finditer(text)] if family in (_MONTHS, _DAYS) else []
    found: list[Amount] = []
    for amount in amounts(text):
        named = pattern.match(text, amount.end)
        if not named or amount.unit or any(start <= amount.start < end for start, end in dates):
            continue
        name = next(name for name in family if name.casefold() == named[1].casefold())
        value = amount.value * family[name] / family[word] / times
        if found and found[-1].end == amount.start:
            value += found.pop().value
        found.append(Amount(value, 1, unit, amount.start, named.end()))
    return found


def _amount(match: re.Match[str], text: str) -> Amount | None:
    scale = 1
    plain, chinese = match["plain"], match["chinese"]
    if plain:
        if len(plain) > LONGEST:
            return None
        value = Decimal(_SEPARATORS.sub("", plain))
        for character in match["scales"]:
            scale *= _SCALES[character]
        value *= scale
        for figure, small in _MORE.findall(match["more"] or ""):
            value += Decimal(figure) * _SCALES[small]
            scale = 1 if scale == 1 else scale
    else:
        number = chinese_number(chinese)
        if number is None:
            return None
        value = number
    unit = _unit(match)
    if unit == "‰":
        value, unit = value / 10, "%"
    if match["rest"]:
        for digit, coin in re.findall(r"(.)([角分])", match["rest"]):
            value += MONEY[coin] * (int(digit) if digit.isdigit() and digit.isascii() else _DIGITS[digit])
    start = match.start("plain") if plain else match.start("chinese")
    if match["sign"] and (match["sign"][0] == "负" or _opens_a_number(text, match.start("sign"))):
        value = value if match["sign"] == "+" else -value
        start = match.start("sign")
    if match["cent"]:
        start = match.start()
    return Amount(value, scale, unit, start, match.end(), bool(chinese))


def _unit(match: re.Match[str]) -> str:
    unit = (match["unit"] or "").lower()
    if match["cent"]:
        return "%" if match["cent"][0] == "百" else "‰"
    if unit in ("%", "‰"):
        return unit
    if unit.endswith("百分点"):
        return "%"
    return "元" if unit or match["rest"] else ""


def _opens_a_number(text: str, position: int) -> bool:
    before = text[:position].rstrip()[-1:]
    return not (before.isalnum() and (before.isascii() or before in "元万亿")) and before not in (")", "%", "）", "~")


def plain_decimal(value: Decimal) -> str:
    """A decimal as plain text without exponent, trailing zeros or a negative zero."""
    if value == 0:
        return "0"
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
