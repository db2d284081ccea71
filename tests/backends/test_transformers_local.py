from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from taxpraben.backends.protocol import Message
from taxpraben.backends.transformers_local import prompt_ids
from tests.backends.stub_vllm.vllm import Tokenizer

WORKER = Path(__file__).parents[2] / "taxpraben" / "backends" / "vllm_worker.py"


class TemplateWithoutBeginning(Tokenizer):
    def apply_chat_template(self, messages: list[dict[str, str]], **_: object) -> str:
        return messages[0]["content"]


class NoTemplate(Tokenizer):
    chat_template = ""


class NoBeginning(TemplateWithoutBeginning):
    bos_token_id = None  # type: ignore[assignment]

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [ord(character) for character in text]


@pytest.fixture(scope="module")
def worker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("vllm_worker", WORKER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("tokenizer", "begins"), [(Tokenizer(), 1), (TemplateWithoutBeginning(), 1), (NoTemplate(), 1), (NoBeginning(), 0)]
)
def test_a_prompt_has_one_beginning_of_text_where_the_model_has_it(
    tokenizer: Tokenizer, begins: int, worker: ModuleType
) -> None:
    ids = prompt_ids(tokenizer, [Message(role="user", content="问")])
    assert ids.count(2) == begins
    assert ids[:begins] == [2] * begins
    assert ids == worker.prompt_ids(tokenizer, [{"role": "user", "content": "问"}])  # the engine sees the same
