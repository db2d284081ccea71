"""When two texts read the same to a person."""

from __future__ import annotations

import unicodedata


def fold(text: str) -> str:
    """The text blind to width, case and white space; signs and punctuation stay, for -5 is not 5."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())
