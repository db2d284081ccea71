"""Stands in for vLLM in tests of the worker: the same calls, an engine that finishes requests in its own order."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

__version__ = "stub"
print("a line that vLLM would print to standard output")


@dataclass
class SamplingParams:
    max_tokens: int
    temperature: float = 1.0
    top_p: float = 1.0
    seed: int | None = None


class Tokenizer:
    """A token a character; the chat template writes its own beginning-of-text."""

    chat_template = "yes"
    bos_token = "\x02"
    bos_token_id = 2

    def apply_chat_template(self, messages: list[dict[str, str]], **_: Any) -> str:
        return "\x02" + "".join(f"<{turn['role']}>{turn['content']}" for turn in messages) + "<assistant>"

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        ids = [ord(character) for character in text]
        return [2, *ids] if add_special_tokens else ids


@dataclass
class Completion:
    text: str
    token_ids: list[int]
    finish_reason: str


@dataclass
class Output:
    request_id: str
    prompt_token_ids: list[int]
    outputs: list[Completion]
    finished: bool = True


@dataclass
class Engine:
    waiting: list[tuple[str, list[int], SamplingParams]] = field(default_factory=list)

    def add_request(self, request_id: str, prompt: dict[str, list[int]], params: SamplingParams) -> None:
        text = "".join(map(chr, prompt["prompt_token_ids"]))
        if "[refuse]" in text:
            raise ValueError("prompt is refused")
        if "[die]" in text:
            raise SystemExit(3)
        self.waiting.append((request_id, prompt["prompt_token_ids"], params))

    def has_unfinished_requests(self) -> bool:
        return bool(self.waiting)

    def step(self) -> list[Output]:
        """Finish the request that came last, so that none comes back in order."""
        name, ids, params = self.waiting.pop()
        if "[hang]" in "".join(map(chr, ids)):
            time.sleep(600)
        said = "".join(map(chr, ids)).removeprefix("\x02").removeprefix("<user>").removesuffix("<assistant>")
        text = f"{said}|{params.seed}"[: params.max_tokens]
        finish = "length" if len(text) == params.max_tokens else "stop"
        return [Output(name, ids, [Completion(text, [ord(character) for character in text], finish)])]


class LLM:
    def __init__(self, **arguments: Any) -> None:
        if "bad" in arguments["model"]:
            raise ValueError(f"no such model: {arguments['model']}")
        self.arguments = arguments
        self.llm_engine = Engine()

    def get_tokenizer(self) -> Tokenizer:
        return Tokenizer()
