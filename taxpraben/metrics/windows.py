"""A text as token ids for an encoder: whole where it fits, else in overlapping windows or cut, and flagged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class Windows:
    """A text's token ids, as the encoder gets them.

    Attributes:
        ids: token ids of each window.
        spans: first and last place (exclusive) of the tokens of each window that count.
        flags: ``windowed`` or ``truncated`` where the text was longer than the encoder takes.
    """

    ids: list[list[int]]
    spans: list[tuple[int, int]]
    flags: frozenset[str]

    @property
    def counting(self) -> list[int]:
        """The ids of all tokens that count, in order."""
        return [token for window, (start, end) in zip(self.ids, self.spans, strict=True) for token in window[start:end]]


def windows_of(tokenizer: Any, text: str, limit: int, long_texts: Literal["window", "cut"]) -> Windows:
    """The token ids of a text.

    Args:
        tokenizer: of transformers.
        text: the text; outer white space does not count, as with bert-score.
        limit: most tokens at once, special ones included; 0 for no limit.
        long_texts: what becomes of a longer text. Windows overlap by half; of the overlap the half with more context
            around it counts, and special tokens count only at the text's ends.
    """
    text = text.strip()
    whole = tokenizer.encode(text, add_special_tokens=True, truncation=False, verbose=False)
    if not limit or len(whole) <= limit:
        return Windows([whole], [(0, len(whole))], frozenset())
    if long_texts == "cut":
        cut = tokenizer.encode(text, add_special_tokens=True, truncation=True, max_length=limit)
        return Windows([cut], [(0, len(cut))], frozenset({"truncated"}))
    content = tokenizer.encode(text, add_special_tokens=False, verbose=False)
    before, after = _frame(whole, content)
    room = limit - len(before) - len(after)
    step = max(room // 2, 1)
    ids: list[list[int]] = []
    spans: list[tuple[int, int]] = []
    start = taken = 0
    while taken < len(content):
        stretch = content[start : start + room]
        first, last = start == 0, start + room >= len(content)
        ids.append([*before, *stretch, *after])
        end = len(stretch) if last else len(stretch) - step // 2
        opened = 0 if first else len(before) + taken - start
        spans.append((opened, len(before) + end + (len(after) if last else 0)))
        taken = start + end
        start += step
    return Windows(ids, spans, frozenset({"windowed"}))


def _frame(whole: list[int], content: list[int]) -> tuple[list[int], list[int]]:
    extra = len(whole) - len(content)
    for front in range(extra + 1):
        if whole[front : front + len(content)] == content:
            return whole[:front], whole[front + len(content) :]
    return [], []
