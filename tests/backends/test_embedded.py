"""The embedded weights themselves; they must have been fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

from taxpraben.backends.opening import open_backend
from taxpraben.backends.protocol import Message, Request, Sampling
from taxpraben.backends.roster import load_roster
from taxpraben.backends.weights import resolve_weight

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.weights, pytest.mark.slow]

QUESTION = [Message(role="user", content="请把“纳税人”三个字重复一遍，只输出这三个字。")]


async def greedy(name: str) -> tuple[str, int, int]:
    backend = open_backend(load_roster(ROOT), name)
    request = Request(model=name, revision=backend.revision, messages=QUESTION, sampling=Sampling(max_tokens=12))
    async with backend:
        reply = await backend.answer(request)
        count = await backend.count_tokens(QUESTION)
    assert count.exact
    return reply.text, reply.prompt_tokens, count.tokens


async def test_a_server_the_engine_in_process_and_the_folder_made_from_the_gguf_are_the_same_model() -> None:
    served = await greedy("embedded-small")
    loaded = await greedy("embedded-small-transformers")
    here = await greedy("embedded-small-here")
    assert served == loaded == here  # text, tokens as counted while answering, tokens as counted before
    assert served[1] == served[2]


async def test_a_prompt_beyond_the_context_is_too_long_not_cut() -> None:
    backend = open_backend(load_roster(ROOT), "embedded-small")
    request = Request(
        model="embedded-small",
        revision=backend.revision,
        messages=[Message(role="user", content="税" * 6000)],
        sampling=Sampling(max_tokens=2),
    )
    async with backend:
        assert (await backend.answer(request)).status == "too_long"


def test_the_encoder_tells_near_from_far_and_knows_chinese_characters() -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = resolve_weight("multilingual-e5-small", ROOT)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder).eval()
    texts = ["小规模纳税人免征增值税", "小规模的纳税人不用缴纳增值税", "被告人当庭表示不上诉"]
    batch = tokenizer(texts, padding=True, return_tensors="pt")
    assert not (batch["input_ids"] == tokenizer.unk_token_id).any()
    assert tokenizer.model_max_length == 512
    with torch.inference_mode():
        hidden = model(**batch).last_hidden_state
    mask = batch["attention_mask"][..., None]
    means = torch.nn.functional.normalize((hidden * mask).sum(1) / mask.sum(1), dim=-1)
    near, far = float(means[0] @ means[1]), float(means[0] @ means[2])
    assert near > far + 0.05
