"""Options meant by their text: restated with their letter, named without it, or touched upon."""

from __future__ import annotations

import re
from functools import lru_cache

from taxpraben.reading.amounts import chinese_number
from taxpraben.reading.asked import Asked, Found
from taxpraben.reading.letter_patterns import letter_patterns
from taxpraben.reading.surface import narrow, squeezed


def find_stated_options(text: str, asked: Asked) -> Found | None:
    """The options that an answer picks by nothing but restating them, letter and text (``B. 按月申报``); else None.

    Such an answer stands in the prompt, and is no echo all the same. All options restated pick none.
    """
    stripped = narrow(text).strip()
    if len(stripped) > 2000 or not any(letter in stripped[:4] for letter in asked.letters):
        return None
    head = letter_patterns(asked.letters).head
    prompt = squeezed(asked.prompt)
    letters: set[str] = set()
    for line in filter(str.strip, re.split(r"[\n;；]", stripped)):
        opened = head.match(line)
        if not opened or len(letters) > len(asked.letters):
            return None
        texts = asked.choices[asked.letters.index(opened[1]) :][:1]
        known = texts and comparable(line[opened.end() :]) == _choice(texts[0])
        if not known and squeezed(line) not in prompt:
            return None
        letters.add(opened[1])
    if not letters or len(letters) == len(asked.letters) or (asked.form == "single" and len(letters) > 1):
        return None
    return Found(value="".join(sorted(letters)), evidence=text.strip(), flags=("option_text",))


def by_option_text(text: str, asked: Asked) -> str:
    """The letters of the options whose text an answer, or a stretch of it, consists of; empty where none fits."""
    if not asked.choices:
        return ""
    tight = comparable(text)
    options = {letter: _choice(choice) for letter, choice in zip(asked.letters, asked.choices, strict=False)}
    equal = [letter for letter, option in options.items() if option and option == tight]
    if equal:
        return equal[0] if len(equal) == 1 else ""
    inside = {letter: option for letter, option in options.items() if len(option) >= 2 and option in tight}
    kept = [
        letter
        for letter, option in inside.items()
        if not any(
            option != other and option in other and tight.count(option) <= tight.count(other)
            for other in inside.values()
        )
    ]
    covered = sum(len(options[letter]) for letter in kept)
    if not kept or len(tight) > 2 * covered + 16:
        return ""
    return "".join(sorted(kept))


_ARTICLE = re.compile(r"第([零一二三四五六七八九十百千]+)条")


def comparable(text: str) -> str:
    """An option's text in comparisons: blind to width, white space and marks at its ends; articles in digits."""
    tight = squeezed(text).strip(".。,，;；:：!！\"'“”‘’")
    return _ARTICLE.sub(lambda match: f"第{chinese_number(match[1])}条", tight)


_choice = lru_cache(maxsize=4096)(comparable)
"""An option's text in comparisons; the same options come with every answer to an item."""


SHORT = 200
"""So long at most is an answer whose every word may be meant; a longer one touches upon much."""

_REFERS = re.compile(
    r"第[一二三四五六七八九十\d]|[①-⑳]|前者|后者|[前后][两二三四\d]|最后一|选项|以上|上述|都|均|全部|正确|错误|符合|\b(?:first|second|third|fourth|last|both|all|none|correct)\b",
    re.IGNORECASE,
)


def may_mean_an_option(plain: str, asked: Asked) -> bool:
    """Whether a person might see an option meant: by a letter, by its place, or by some of its words."""
    if not asked.choices:
        return _REFERS.search(plain) is not None or any(
            re.search(rf"(?<![A-Za-z]){letter}(?![A-Za-z])", plain) for letter in asked.letters
        )
    tight = squeezed(plain)
    short = len(tight) <= SHORT
    touched = [_shares_a_run(_choice(choice), tight, short) for choice in asked.choices]
    return (any(touched) and not all(touched)) or (short and _REFERS.search(plain) is not None)


def _shares_a_run(choice: str, tight: str, short: bool) -> bool:
    """Whether six characters of an option stand in an answer; in a short one four do, or two thirds of the option."""
    size = min(4, max(2, -(-len(choice) * 2 // 3))) if short else min(6, len(choice))
    return 1 < size <= len(choice) and any(choice[at : at + size] in tight for at in range(len(choice) - size + 1))
