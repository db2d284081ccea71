"""Every word of the pages in Chinese and English; a test holds that templates ask for no other."""

from __future__ import annotations

from typing import Literal

from portal.words import checking, frame, overview, people, rating, review, signing

Language = Literal["zh", "en"]
LANGUAGES: tuple[Language, ...] = ("zh", "en")

WORDS: dict[str, tuple[str, str]] = {
    key: pair
    for module in (frame, signing, review, checking, rating, overview, people)
    for key, pair in module.WORDS.items()
}


def say(language: Language, key: str, **values: object) -> str:
    """The words of a key in a language, with values put in.

    Raises:
        KeyError: no such key.
    """
    pair = WORDS[key]
    text = pair[LANGUAGES.index(language)]
    return text.format(**values) if values else text
