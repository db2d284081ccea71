from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from taxpraben.backends.protocol import Message, Request, Sampling
from taxpraben.backends.transformers_local import TransformersBackend, TransformersOptions, prompt_ids
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


class Letters(Tokenizer):
    """Ids below 256 only, so that a model of a few thousand parameters has them all."""

    bos_token_id = None  # type: ignore[assignment]

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [ord(character) % 256 for character in text]

    def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
        return " ".join(map(str, ids))


def test_a_penalty_that_the_repository_suggests_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch
    from transformers import Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(1)
    shape = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    model = Qwen2ForCausalLM(Qwen2Config(vocab_size=256, num_key_value_heads=2, tie_word_embeddings=True, **shape))
    backend = TransformersBackend("m", TransformersOptions(), "nowhere", "", "id")
    monkeypatch.setattr(backend, "_model", model.eval())
    monkeypatch.setattr(backend, "_tokenizer", Letters())
    turns = [Message(role="user", content="abc")]
    request = Request(model="m", revision="r", messages=turns, sampling=Sampling(max_tokens=12))
    plain = backend._generate(request).text
    model.generation_config.repetition_penalty = 9.0
    assert backend._generate(request).text == plain


@pytest.mark.parametrize(("limit", "expected"), [(4, "税"), (6, "税\ufffd!!")])
def test_half_a_character_at_the_cut_is_left_out_and_one_within_the_answer_stays(
    monkeypatch: pytest.MonkeyPatch, limit: int, expected: str
) -> None:
    import torch

    class Bytes(Letters):
        def decode(self, ids: list[int], skip_special_tokens: bool = True) -> str:
            return bytes(ids).decode("utf-8", "replace")

    class Says:
        """Writes a character of three bytes, the first byte of another, and two marks."""

        device = "cpu"

        class generation_config:  # noqa: N801
            eos_token_id = None

        def generate(self, given: torch.Tensor, **settings: object) -> torch.Tensor:
            said = [*"税".encode(), 0xE7, 0x21, 0x21][: int(str(settings["max_new_tokens"]))]
            return torch.tensor([[*given[0].tolist(), *said]])

    backend = TransformersBackend("m", TransformersOptions(), "nowhere", "", "id")
    monkeypatch.setattr(backend, "_model", Says())
    monkeypatch.setattr(backend, "_tokenizer", Bytes())
    turns = [Message(role="user", content="abc")]
    reply = backend._generate(Request(model="m", revision="r", messages=turns, sampling=Sampling(max_tokens=limit)))
    assert (reply.status, reply.text) == ("length", expected)
