"""Bytes to text by what they hold: a declared charset is a hint, the GB18030 family is read as GB18030."""

from __future__ import annotations

import codecs
import re

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_DECLARED = re.compile(rb"""charset\s*=\s*["']?\s*([A-Za-z0-9_-]+)""", re.IGNORECASE)
_GB_FAMILY = {"gb2312", "gbk", "gb18030", "gb_2312-80", "x-gbk", "cp936", "hz-gb-2312"}


class UndecodableError(ValueError):
    """Bytes that no charset of ours reads without loss."""


def decode(data: bytes, header: str = "") -> str:
    """The text of a file or page.

    Order: byte-order mark; strict UTF-8 (a text of some length that is valid UTF-8 is UTF-8, whatever was declared);
    the declared charset, where GB2312 and GBK are read as GB18030 (pages declare gb2312 and hold 镕); GB18030.

    Args:
        data: the bytes.
        header: the charset of the Content-Type header, or empty.

    Raises:
        UndecodableError: none of these reads the bytes.
    """
    for mark, name in _BOMS:
        if data.startswith(mark):
            return data.decode(name, errors="replace").removeprefix("\ufeff")
    inner = _DECLARED.search(data[:4096])
    names = ["utf-8", header, inner.group(1).decode("ascii", "ignore") if inner else "", "gb18030"]
    for name in names:
        charset = "gb18030" if name.lower() in _GB_FAMILY else name.lower()
        if not charset or charset == "iso-8859-1":  # the header default of servers that do not know; reads anything
            continue
        try:
            return data.decode(charset)
        except (UnicodeDecodeError, LookupError):
            continue
    # A page cut in mid-character, or with a few broken bytes, is still that page.
    text = data.decode("utf-8" if _looks_utf8(data) else "gb18030", errors="replace")
    if text.count("\ufffd") > max(2, len(text) // 500):
        raise UndecodableError("neither UTF-8 nor GB18030 nor the declared charset reads these bytes")
    return text.replace("\ufffd", "")


def _looks_utf8(data: bytes) -> bool:
    lost = data.decode("utf-8", errors="replace").count("\ufffd")
    return lost <= data.decode("gb18030", errors="replace").count("\ufffd")
