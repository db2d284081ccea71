"""The normalised twin of a text: one width, one kind of space. The printed text itself is kept beside it."""

from __future__ import annotations

import re
import unicodedata

# Format characters that sites and PDFs leave in texts: zero-width spaces and joiners, soft hyphen, byte-order mark.
_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_PRIVATE = re.compile("[\ue000-\uf8ff\U000f0000-\U000ffffd\U00100000-\U0010fffd]")
_BLANKS = re.compile(r"[^\S\n]+")
_LINES = re.compile(r" ?\n[\s]*")
# NFKC would turn the vulgar ideographic forms right but also takes apart what prints need: these stay as they are.
_KEPT = {"…": "\ue000", "㎡": "\ue001"}
_BACK = {mark: kept for kept, mark in _KEPT.items()}


def normalise(text: str) -> str:
    """The text in NFKC with single spaces, no blank lines, no invisible and no private-use characters.

    Full-width letters, digits and punctuation become half-width; U+3000 becomes a space; lines are trimmed. The
    ellipsis ``…`` and ``㎡`` stay, since NFKC would make unrelated characters of them. Idempotent.
    """
    text = _PRIVATE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    for kept, mark in _KEPT.items():
        text = text.replace(kept, mark)
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text))
    for mark, kept in _BACK.items():
        text = text.replace(mark, kept)
    return _LINES.sub("\n", _BLANKS.sub(" ", text)).strip()


def tidy(text: str) -> str:
    """The text as printed (widths kept), without invisible and private-use characters, trailing blanks, blank lines.

    Runs of blanks inside a line become one space, except that a full-width space stays one; lines are trimmed.
    """
    text = _PRIVATE.sub("", _INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))
    lines = (re.sub(r"[^\S\n]+", _one_blank, line).strip() for line in text.split("\n"))
    return "\n".join(line for line in lines if line)


def _one_blank(match: re.Match[str]) -> str:
    return "\u3000" if "\u3000" in match.group() else " "
