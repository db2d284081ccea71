"""Personal numbers and accounts in a text: identity numbers, credit codes, cards, phones, e-mails, plates, users."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable
from dataclasses import dataclass

_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
_ID_CHECKS = "10X98765432"
_CODE_ALPHABET = "0123456789ABCDEFGHJKLMNPQRTUWXY"
_CODE_WEIGHTS = tuple(pow(3, place, 31) for place in range(17))
_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"


def is_identity_number(text: str) -> bool:
    """Whether 18 characters are a resident identity number: a day that exists and the check of GB 11643."""
    if not re.fullmatch(r"\d{17}[\dXx]", text):
        return False
    try:
        datetime.date(int(text[6:10]), int(text[10:12]), int(text[12:14]))
    except ValueError:
        return False
    total = sum(int(digit) * weight for digit, weight in zip(text[:17], _ID_WEIGHTS, strict=True))
    return _ID_CHECKS[total % 11] == text[17].upper()


def is_credit_code(text: str) -> bool:
    """Whether 18 characters are a unified social credit code: the check of GB 32100."""
    text = text.upper()
    if len(text) != 18 or any(char not in _CODE_ALPHABET for char in text):
        return False
    total = sum(_CODE_ALPHABET.index(char) * weight for char, weight in zip(text[:17], _CODE_WEIGHTS, strict=True))
    return _CODE_ALPHABET[-total % 31] == text[17]


def passes_luhn(text: str) -> bool:
    """Whether digits pass the check of bank cards (ISO/IEC 7812)."""
    digits = [int(char) for char in reversed(text)]
    doubled = sum(sum(divmod(digit * 2, 10)) for digit in digits[1::2])
    return (sum(digits[::2]) + doubled) % 10 == 0


@dataclass(frozen=True)
class Rule:
    """A kind of personal datum.

    Attributes:
        kind: its name in ``Document.masked``.
        token: what stands in its place.
        holds: whether a match really is one.
    """

    kind: str
    token: str
    pattern: re.Pattern[str]
    holds: Callable[[str], bool] = bool


# What follows a figure: eleven digits of it are an amount, not a telephone.
_COUNTED = r"\s?(?:余|多)?(?:[元角分万亿股份吨]|人民币|千克|公斤|平方米|立方米|美元|欧元|港元)"


def _bare(text: str) -> str:
    return re.sub(r"[\s-]", "", text)


# Order matters: 18 digits fit identity numbers, credit codes and cards alike. Word marks in Chinese have no \b.
RULES = (
    Rule("email", "[邮箱]", re.compile(r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")),
    Rule(
        "identity_number", "[身份证号]",
        re.compile(r"(?<![0-9A-Za-z])\d{6}[\s-]?\d{8}[\s-]?\d{3}[0-9Xx](?![0-9A-Za-z])"),
        lambda text: is_identity_number(_bare(text)),
    ),
    Rule(
        "credit_code", "[信用代码]",
        re.compile(r"(?<![0-9A-Za-z])[0-9A-HJ-NPQRTUWXY]{2}\d{6}[0-9A-HJ-NPQRTUWXY]{10}(?![0-9A-Za-z])"),
        is_credit_code,
    ),
    Rule(
        "bank_card", "[银行卡号]",
        re.compile(r"(?<![0-9A-Za-z.])(?:[3-6]\d{3}(?:[ -]?\d{4}){3}(?:[ -]?\d{1,3})?)(?![0-9A-Za-z.])"),
        lambda text: 16 <= len(_bare(text)) <= 19 and passes_luhn(_bare(text)),
    ),
    Rule(
        "phone", "[电话]",
        re.compile(rf"(?<![0-9A-Za-z.])(?:\+?86[ -]?)?1[3-9]\d[ -]?\d{{4}}[ -]?\d{{4}}(?![0-9A-Za-z.])(?!{_COUNTED})"),
    ),
    Rule(
        "landline", "[电话]",
        re.compile(r"(?<![0-9A-Za-z.])(?:[（(]0\d{2,3}[）)]|0\d{2,3}[-－—])\s?\d{7,8}(?:[-转]\d{1,5})?(?![0-9A-Za-z])"),
    ),
    Rule(
        "plate", "[车牌号]",
        re.compile(rf"[{_PROVINCES}][A-HJ-NP-Z][·•\s]?(?:[A-HJ-NP-Z0-9]{{5,6}}|[A-HJ-NP-Z0-9]{{4}}[挂学警港澳])(?![0-9A-Za-z])"),
        lambda text: any(char.isdigit() for char in text),
    ),
    Rule(
        "account", "@[用户]",
        re.compile(r"(?<![A-Za-z0-9])@[\u4e00-\u9fffA-Za-z0-9_-]{1,20}(?=[\s:：,，。!！?？]|$)"),
    ),
)  # fmt: skip
# Authorities print their own telephones and mailboxes; in their documents these are public.
PUBLIC_IN_OFFICIAL = frozenset({"email", "landline"})


def find_personal_data(text: str, public: frozenset[str] = frozenset()) -> list[tuple[str, str, str]]:
    """``(kind, what stands in the text, what is to stand there)``, in the order of the rules, each text once.

    Args:
        text: the text.
        public: kinds that are left alone.
    """
    found: dict[str, tuple[str, str, str]] = {}
    rest = text
    for rule in RULES:
        for match in rule.pattern.finditer(rest):
            if rule.holds(match.group()) and rule.kind not in public:
                found.setdefault(match.group(), (rule.kind, match.group(), rule.token))
        for surface in [surface for kind, surface, _ in found.values() if kind == rule.kind]:
            rest = rest.replace(surface, "\u2060" * len(surface))
    return list(found.values())
