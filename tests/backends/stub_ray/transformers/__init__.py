"""Stands in for transformers in tests of the Ray worker: a token a character."""

from __future__ import annotations

from typing import Any


class _Tokenizer:
    chat_template = "yes"
    bos_token_id = None
    eos_token_id = 0

    def apply_chat_template(self, messages: list[dict[str, str]], **_: Any) -> str:
        return messages[0]["content"]

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [ord(character) for character in text]


class AutoTokenizer:
    @staticmethod
    def from_pretrained(*_: Any, **__: Any) -> _Tokenizer:
        return _Tokenizer()


class GenerationConfig:
    eos_token_id = [0, 1]

    @staticmethod
    def from_pretrained(*_: Any, **__: Any) -> type[GenerationConfig]:
        return GenerationConfig
