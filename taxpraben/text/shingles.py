"""Character shingles: how alike two Chinese texts are, blind to width, white space and punctuation."""

from __future__ import annotations

import re
import unicodedata

# A point or percent sign inside or after a number changes its meaning; any other punctuation does not.
_NUMERIC_MARK = re.compile(r"(?<=\d)(?:\.(?=\d)|%)")
_POINT, _PERCENT = "\ue000", "\ue001"


def shingles(text: str, size: int = 3) -> frozenset[str]:
    """The set of the text's runs of ``size`` characters.

    The text is folded first: NFKC, lower case, no white space, no punctuation (a decimal point and a percent sign of
    a number stay). A folded text shorter than ``size`` is one shingle, an empty one gives the empty set.

    Raises:
        ValueError: ``size`` is below 1.
    """
    if size < 1:
        raise ValueError(f"shingle size must be 1 or more, not {size}")
    folded = fold(text)
    if len(folded) <= size:
        return frozenset([folded]) if folded else frozenset()
    return frozenset(folded[start : start + size] for start in range(len(folded) - size + 1))


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """Shared shingles over all shingles, 0 to 1; two empty sets are 1.0 alike."""
    if not a and not b:
        return 1.0
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared)


def similarity(a: str, b: str, size: int = 3) -> float:
    """Jaccard similarity of two texts' shingles, 0 to 1."""
    return jaccard(shingles(a, size), shingles(b, size))


def fold(text: str) -> str:
    """The text as shingles see it: NFKC, lower case, letters, digits, symbols and the marks of numbers only."""
    text = unicodedata.normalize("NFKC", text).lower()
    text = _NUMERIC_MARK.sub(lambda match: _POINT if match.group() == "." else _PERCENT, text)
    kept = (char for char in text if char in (_POINT, _PERCENT) or unicodedata.category(char)[0] not in "PZC")
    return "".join(kept).replace(_POINT, ".").replace(_PERCENT, "%")
