"""The surface of an answer: width, decoration, reasoning blocks, echoes of the prompt, run-on text, refusals.

Every function here keeps offsets or cuts whole stretches, so that evidence can be quoted from the answer as given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

_NARROW: dict[int, str] = {0x3000: " ", 0x2212: "-", 0xFE63: "-"}
_NARROW.update({code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)})
for _code in (*range(0x24B6, 0x24EA), *range(0x1F130, 0x1F14A), *range(0x1D400, 0x1D800)):
    _plain = unicodedata.normalize("NFKC", chr(_code))
    if len(_plain) == 1 and _plain.isascii():
        _NARROW[_code] = _plain
_WIDE = re.compile("[\u2212\u24b6-\u24e9\u3000\ufe63\uff01-\uff5e\U0001d400-\U0001d7ff\U0001f130-\U0001f149]")

_TAGS = r"think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
_OPEN = re.compile(rf"<\s*(?:{_TAGS})\s*>|◁think▷|\[THINK\]", re.IGNORECASE)
_CLOSE = re.compile(rf"<\s*/\s*(?:{_TAGS})\s*>|◁/think▷|\[/THINK\]", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s*final\s*<\|message\|>")
_ANY_CHANNEL = re.compile(r"<\|channel\|>\s*analysis\s*<\|message\|>")
_STOP = re.compile(
    r"<\|im_end\|>|<\|endoftext\|>|<\|eot_id\|>|<end_of_turn>|</s>|<\|im_start\|>|<\|end\|>|<\|return\|>"
)
_TURN = re.compile(
    r"(?:^|\n)[^\S\n]*+(?:请你?回答|下一题|(?:问题|题目|例题|示例|用户)\s*+[一二三四五六七八九十\d]*+\s*+(?=[:：]|\n|$)|句子\s*:|文书\s*:|Question\b|Q\d*\s*[:.]|Human\s*:|User\s*:|"
    r"Assistant\s*:|#{2,}\s*(?:Instruction|Input|Response|问题|用户)|Below is|\d+\s*[.、]\s*(?:下列|根据|以下|关于|某))"
    r"|<\s*eo[ab]\s*>",
    re.IGNORECASE,
)
_DECORATION = re.compile(
    r"\*+|`+|~~|\$+|(?m:^\s*#+)|(?m:^\s*>+)|\\\(|\\\)|\\\[|\\\]|\\[ ;!]|\\,(?!\d)|\\q?quad\b"
    r"|\\(?:text|mathrm|mathbf|textbf)\s*(?=\{)"
)
_REFUSAL = re.compile(
    r"(?:抱歉|对不起|不好意思|遗憾).{0,30}(?:无法|不能|不便|没有能力|不予)|"
    r"(?:我|本模型|本人|作为[^。\n]{0,20}(?:模型|助手|AI))[^。\n]{0,12}(?:无法|不能|不便|没办法|拒绝|无权)[^。\n]{0,12}"
    r"(?:回答|作答|提供|判断|给出|协助|帮助|回复|解答|完成|选择)|^\s*(?:无法|不能|拒绝)(?:回答|作答|判断|提供)|"
    r"\b(?:I'?m|I am) (?:very )?sorry\b|\bI (?:cannot|can'?t|am unable|am not able|won'?t)\b|\bas an AI\b",
    re.IGNORECASE,
)
_REFUSAL_WORDS: tuple[str, ...] = ("无法", "不能", "不便", "没有能力", "不予", "没办法", "拒绝", "无权")
_REFUSAL_WORDS += ("sorry", "i can", "i am", "i won", "as an ai")
_MARKER = re.compile(r"[<\[]\s*/?\s*eo[a-z]\s*[>\]]", re.IGNORECASE)
_ASKED_TAG = re.compile(r"[\[【]([^\[\]【】\n]{1,8})[\]】][^<\n]{0,8}<\s*eo(?!e)[a-z]\s*>")
_INSTRUCTION = re.compile(
    r"[\[【][^\[\]【】\n]{1,12}[\]】]\s*(?:和|与|到|至)\s*<\s*eo[a-z]\s*>"
    r"|(?:例如|比如|示例|如)\s*[:：]?\s*[\[【][^\[\]【】\n]{1,12}[\]】][^<\n]{0,60}<\s*eo[a-z]\s*>"
)
_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}


class _TightCharacters(dict[int, str]):
    """What a character is in comparisons (NFKC, lower case, white space to nothing); found out once a character."""

    def __missing__(self, code: int) -> str:
        plain = "".join(unicodedata.normalize("NFKC", chr(code)).casefold().split())
        self[code] = plain
        return plain


_TIGHT = _TightCharacters()


def _narrowed(match: re.Match[str]) -> str:
    return _NARROW.get(ord(match.group()), match.group())


@lru_cache(maxsize=32)
def narrow(text: str) -> str:
    """Full-width and circled letters, digits and signs as their plain forms, one character for one."""
    return _WIDE.sub(_narrowed, text)


def undecorated(text: str) -> str:
    """Markdown and LaTeX decoration blanked out; the length stays."""
    if not any(sign in text for sign in "*`~$#>\\"):
        return text
    return _DECORATION.sub(lambda match: " " * len(match.group()), text)


@lru_cache(maxsize=32)
def squeezed(text: str) -> str:
    """Narrow, lower case and without white space: for comparing texts that may differ in nothing else."""
    text = narrow(text)
    if unicodedata.is_normalized("NFKC", text):
        return "".join(text.split()).casefold()  # what the table says of such characters, much quicker
    return text.translate(_TIGHT)


def lowered(text: str) -> str:
    """In lower case, one character for one."""
    lower = text.lower()
    return lower if len(lower) == len(text) else text.translate(_LOWER)


def occurrences(text: str, words: Iterable[str]) -> list[int]:
    """Where any of the words begins, in order; much quicker than a pattern that tries each word at each character."""
    found: set[int] = set()
    for word in words:
        at = text.find(word)
        while at >= 0:
            found.add(at)
            at = text.find(word, at + 1)
    return sorted(found)


def matches_at(pattern: re.Pattern[str], text: str, starts: Iterable[int]) -> Iterator[re.Match[str]]:
    """What ``pattern.finditer`` finds, for a pattern that can only begin at one of the starts (in order)."""
    free = 0
    for start in starts:
        if start >= free and (match := pattern.match(text, start)):
            yield match
            free = match.end()


def without_instruction(text: str) -> str:
    """What an answer repeats of the instruction on its marks, example included, blanked out; the length stays."""
    if "eo" not in text:
        return text
    return _INSTRUCTION.sub(lambda match: " " * len(match.group()), text)


def without_markers(text: str) -> str:
    """Markers such as ``<eoa>`` blanked out; the length stays."""
    if "eo" not in text and "EO" not in text and "Eo" not in text:
        return text
    return _MARKER.sub(lambda match: " " * len(match.group()), text)


@lru_cache(maxsize=256)
def asked_tags(prompt: str) -> tuple[str, ...]:
    """The labels between which and ``<eoa>`` the prompt wants the answer (``[刑期]`` of ``[刑期]12月<eoa>``)."""
    return tuple(dict.fromkeys(_ASKED_TAG.findall(prompt)))


@lru_cache(maxsize=64)
def _tag_pattern(labels: tuple[str, ...]) -> re.Pattern[str]:
    asked = "".join(f"|{re.escape(label)}" for label in labels)
    line = rf"|(?:^|(?<=\n))[^\S\n]*+(?:{asked[1:]})\s*+[:：]\s*+" if asked else ""
    return re.compile(
        rf"(?:[\[【<](?:(?:正确|最终|参考|标准)*(?:答案|选项|answer){asked})[\]】>]\s*+[:：]?\s*+{line})"
        r"(.*?)(?=<\s*/?\s*(?:eo|answer|答案)|[\[【]|\n|$)|\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}",
        re.IGNORECASE | re.DOTALL,
    )


def tagged(plain: str, prompt: str) -> list[re.Match[str]]:
    """Answers between tags (group 1) and in LaTeX boxes (group 2), in order.

    Tags are those of every exam (``[答案]B<eoa>``, ``<answer>``) and those that the prompt asks for (``[刑期]``), these
    also as the label of a line (``刑期：``).
    """
    labels = asked_tags(prompt)
    if not any(sign in plain for sign in "[【<\\") and not any(label in plain for label in labels):
        return []
    return list(_tag_pattern(labels).finditer(plain))


def without_reasoning(text: str) -> tuple[str, bool]:
    """The answer without its reasoning blocks, and whether one was never closed.

    A closing tag without an opening one ends a block that began with the answer; an opening one without a closing
    one takes all that follows.
    """
    plain = narrow(text)
    if "<" not in plain and "◁" not in plain and "[" not in plain:
        return text, False
    final = list(_FINAL_CHANNEL.finditer(plain))
    if final:
        text, plain = text[final[-1].end() :], plain[final[-1].end() :]
    elif _ANY_CHANNEL.search(plain):
        return "", True
    kept: list[str] = []
    position = 0
    while True:
        opened = _OPEN.search(plain, position)
        closed = _CLOSE.search(plain, position)
        if closed and (not opened or closed.start() < opened.start()):
            kept.clear()
            position = closed.end()
        elif opened:
            kept.append(text[position : opened.start()])
            closed = _CLOSE.search(plain, opened.end())
            if not closed:
                return "\n".join(kept), True
            position = closed.end()
        else:
            kept.append(text[position:])
            return "\n".join(part for part in kept if part), False


def until_stop(text: str) -> str:
    """The answer up to the first stop token of a chat template that leaked into it."""
    plain = narrow(text)
    if "</s" not in plain and "<|" not in plain and "<end" not in plain:
        return text
    stops = list(_STOP.finditer(plain))
    if stops and text[: stops[0].start()].strip():
        return text[: stops[0].start()]
    for stop in stops:
        text = text[: stop.start()] + " " * len(stop.group()) + text[stop.end() :]
    return text


def run_on_start(text: str, after: int) -> int:
    """Where the model goes on to invented questions or turns, not before ``after``; the length where it does not."""
    turn = _TURN.search(text, after)
    return turn.start() if turn else len(text)


def without_echo(text: str, prompt: str, least: int = 24, passage: str = "") -> str:
    """The answer without a leading echo of the prompt.

    A leading stretch goes where it stands in the prompt, white space and width apart, for at least ``least``
    characters; shorter ones may be the answer itself (an option's text, the marks that the example shows).

    Args:
        text: the answer.
        prompt: what was sent.
        least: characters from which a stretch counts as an echo.
        passage: where answers are copied from it, only a stretch that begins the prompt before it, or holds half of
            it, is an echo.
    """
    if not prompt:
        return text
    known = _squeezed_prompt(prompt)
    rest = text
    for _ in range(64):
        start = squeezed(rest[: 4 * least])[:least]
        if len(start) < least or start not in known:
            return rest
        tight = squeezed(rest)
        length = _longest_prefix(tight, known, least)
        if passage and rest is text and not _opens_the_prompt(tight[:length], known, squeezed(passage)):
            return text
        rest = rest[_offset(rest, length) :].lstrip(" \t\r\n;；。,，")
    return rest


@lru_cache(maxsize=256)
def _squeezed_prompt(prompt: str) -> str:
    return squeezed(prompt)


def _opens_the_prompt(echo: str, known: str, passage: str) -> bool:
    return len(echo) * 2 >= len(passage) or (known.startswith(echo) and not passage.startswith(echo[: len(passage)]))


def _offset(text: str, length: int) -> int:
    """The position in a text behind so many of its squeezed characters."""
    for position, character in enumerate(text):
        length -= len(_TIGHT[ord(character)])
        if length <= 0:
            return position + 1
    return len(text)


def _longest_prefix(text: str, known: str, least: int) -> int:
    low, high = least, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if text[:middle] in known:
            low = middle
        else:
            high = middle - 1
    return low


def is_refusal(text: str, longest: int = 160) -> bool:
    """Whether a short answer declines to answer; a long one that apologises on its way is an answer."""
    if len(text) > longest:
        return False
    lower = lowered(narrow(text))
    return any(word in lower for word in _REFUSAL_WORDS) and _REFUSAL.search(narrow(text)) is not None
