"""The surface of an answer: width, decoration, reasoning blocks, echoes of the prompt, run-on text, refusals.

Every function here keeps offsets or cuts whole stretches, so that evidence can be quoted from the answer as given.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

_NARROW: dict[int, str] = {0x3000: " ", 0x2212: "-", 0xFE63: "-"}
_NARROW.update({code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)})
for _code in (*range(0x24B6, 0x24EA), *range(0x1F130, 0x1F14A), *range(0x1D400, 0x1D800)):
    _plain = unicodedata.normalize("NFKC", chr(_code))
    if len(_plain) == 1 and _plain.isascii():
        _NARROW[_code] = _plain

_TAGS = r"think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"
_OPEN = re.compile(rf"<\s*(?:{_TAGS})\s*>|◁think▷|\[THINK\]", re.IGNORECASE)
_CLOSE = re.compile(rf"<\s*/\s*(?:{_TAGS})\s*>|◁/think▷|\[/THINK\]", re.IGNORECASE)
_FINAL_CHANNEL = re.compile(r"<\|channel\|>\s*final\s*<\|message\|>")
_ANY_CHANNEL = re.compile(r"<\|channel\|>\s*analysis\s*<\|message\|>")
_STOP = re.compile(
    r"<\|im_end\|>|<\|endoftext\|>|<\|eot_id\|>|<end_of_turn>|</s>|<\|im_start\|>|<\|end\|>|<\|return\|>"
)
_TURN = re.compile(
    r"(?:^|\n)\s*(?:请你?回答|问题|题目|下一题|例题|示例|用户|句子\s*:|文书\s*:|Question\b|Q\d*\s*[:.]|Human\s*:|User\s*:|"
    r"Assistant\s*:|#{2,}\s*(?:Instruction|Input|Response|问题|用户)|Below is|\d+\s*[.、]\s*(?:下列|根据|以下|关于|某))"
    r"|<\s*eo[abe]\s*>",
    re.IGNORECASE,
)
_DECORATION = re.compile(
    r"\*+|`+|~~|\$+|(?m:^\s*#+)|(?m:^\s*>+)|\\\(|\\\)|\\\[|\\\]|\\(?:text|mathrm|mathbf|textbf)\s*(?=\{)"
)
_REFUSAL = re.compile(
    r"(?:抱歉|对不起|不好意思|遗憾).{0,30}(?:无法|不能|不便|没有能力|不予)|"
    r"(?:我|本模型|本人|作为[^。\n]{0,20}(?:模型|助手|AI))[^。\n]{0,12}(?:无法|不能|不便|没办法|拒绝|无权)[^。\n]{0,12}"
    r"(?:回答|作答|提供|判断|给出|协助|帮助|回复|解答|完成|选择)|^\s*(?:无法|不能|拒绝)(?:回答|作答|判断|提供)|"
    r"\b(?:I'?m|I am) (?:very )?sorry\b|\bI (?:cannot|can'?t|am unable|am not able|won'?t)\b|\bas an AI\b",
    re.IGNORECASE,
)
_SPACE = re.compile(r"\s+")


def narrow(text: str) -> str:
    """Full-width and circled letters, digits and signs as their plain forms, one character for one."""
    return text.translate(_NARROW)


def undecorated(text: str) -> str:
    """Markdown and LaTeX decoration blanked out; the length stays."""
    return _DECORATION.sub(lambda match: " " * len(match.group()), text)


def squeezed(text: str) -> str:
    """Narrow, lower case and without white space: for comparing texts that may differ in nothing else."""
    return _SPACE.sub("", unicodedata.normalize("NFKC", text)).casefold()


def without_reasoning(text: str) -> tuple[str, bool]:
    """The answer without its reasoning blocks, and whether one was never closed.

    A closing tag without an opening one ends a block that began with the answer; an opening one without a closing
    one takes all that follows.
    """
    final = list(_FINAL_CHANNEL.finditer(text))
    if final:
        text = text[final[-1].end() :]
    elif _ANY_CHANNEL.search(text):
        return "", True
    if "<" not in text and "◁" not in text and "[" not in text:
        return text, False
    kept: list[str] = []
    position = 0
    while True:
        opened = _OPEN.search(text, position)
        closed = _CLOSE.search(text, position)
        if closed and (not opened or closed.start() < opened.start()):
            kept.clear()
            position = closed.end()
        elif opened:
            kept.append(text[position : opened.start()])
            closed = _CLOSE.search(text, opened.end())
            if not closed:
                return "\n".join(kept), True
            position = closed.end()
        else:
            kept.append(text[position:])
            return "\n".join(part for part in kept if part), False


def until_stop(text: str) -> str:
    """The answer up to the first stop token of a chat template that leaked into it."""
    stop = _STOP.search(text)
    if stop and text[: stop.start()].strip():
        return text[: stop.start()]
    return _STOP.sub(" ", text)


def run_on_start(text: str, after: int) -> int:
    """Where the model goes on to invented questions or turns, not before ``after``; the length where it does not."""
    turn = _TURN.search(text, after)
    return turn.start() if turn else len(text)


def without_echo(text: str, prompt: str, least: int = 24) -> str:
    """The answer without a leading echo of the prompt.

    A leading stretch goes where it stands in the prompt, white space and width apart, for at least ``least``
    characters; shorter ones may be the answer itself (an option's text, the marks that the example shows).
    """
    if not prompt:
        return text
    known = _squeezed_prompt(prompt)
    rest = text
    for _ in range(64):
        start = squeezed(rest[: 4 * least])[:least]
        if len(start) < least or start not in known:
            return rest
        tight, offsets = _tight(rest)
        length = _longest_prefix(tight, known, least)
        rest = rest[offsets[length - 1] + 1 :].lstrip(" \t\r\n;；。,，")
    return rest


@lru_cache(maxsize=256)
def _squeezed_prompt(prompt: str) -> str:
    return squeezed(prompt)


def _tight(text: str) -> tuple[str, list[int]]:
    characters: list[str] = []
    offsets: list[int] = []
    for position, character in enumerate(text):
        if character.isspace():
            continue
        for plain in unicodedata.normalize("NFKC", character).casefold():
            if not plain.isspace():
                characters.append(plain)
                offsets.append(position)
    return "".join(characters), offsets


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
    return len(text) <= longest and _REFUSAL.search(text) is not None
