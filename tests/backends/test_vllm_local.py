from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from taxpraben.backends.protocol import BackendError, Message, Request, Sampling, TerminalBackendError
from taxpraben.backends.vllm_local import VllmBackend, VllmOptions

STUB = Path(__file__).with_name("stub_vllm")


def backend(source: str = "model", **options: object) -> VllmBackend:
    body = {"python": sys.executable, "environment": {"PYTHONPATH": str(STUB)}, "start_s": 60, **options}
    return VllmBackend("m", VllmOptions.model_validate(body), source, "rev", "hub/model@rev")


def question(text: str, max_tokens: int = 50, seed: int = 1) -> Request:
    return Request(
        model="m",
        revision="r",
        messages=[Message(role="user", content=text)],
        sampling=Sampling(max_tokens=max_tokens, seed=seed),
    )


async def test_answers_come_back_by_id_whatever_order_the_engine_finishes_in() -> None:
    async with backend() as engine:
        replies = await asyncio.gather(*(engine.answer(question(f"问题{n}", seed=n)) for n in range(40)))
    assert [reply.text for reply in replies] == [f"问题{n}|{n}" for n in range(40)]
    assert {reply.status for reply in replies} == {"ok"}


async def test_a_prompt_begins_with_exactly_one_beginning_of_text() -> None:
    async with backend() as engine:
        reply = await engine.answer(question("问"))
        count = await engine.count_tokens([Message(role="user", content="问")])
    # one id for the beginning, six for <user>, one for the question, eleven for <assistant>
    assert reply.prompt_tokens == count.tokens == 1 + 6 + 1 + 11
    assert count.exact


async def test_an_answer_at_the_limit_is_marked_as_cut() -> None:
    async with backend() as engine:
        reply = await engine.answer(question("一二三四五", max_tokens=3))
    assert (reply.status, reply.text, reply.completion_tokens) == ("length", "一二三", 3)


async def test_a_refused_request_ends_alone() -> None:
    async with backend() as engine:
        good = asyncio.create_task(engine.answer(question("好")))
        with pytest.raises(TerminalBackendError, match="prompt is refused") as caught:
            await engine.answer(question("[refuse]"))
        assert caught.value.whole_run is False
        assert (await good).status == "ok"


async def test_an_engine_that_dies_ends_the_run_with_a_name_instead_of_a_hang() -> None:
    async with backend() as engine:
        with pytest.raises(TerminalBackendError, match="ended by itself") as caught:
            await asyncio.wait_for(engine.answer(question("[die]")), 20)
        assert caught.value.whole_run is True


async def test_a_model_that_does_not_load_says_why() -> None:
    with pytest.raises(BackendError, match="could not load bad-model: ValueError: no such model"):
        await backend("bad-model").__aenter__()


async def test_a_missing_environment_names_the_make_target() -> None:
    with pytest.raises(BackendError, match="make vllm"):
        await backend(python="nowhere/bin/python").__aenter__()


def test_dtype_and_engine_arguments_are_part_of_the_identity() -> None:
    revisions = {
        backend().revision,
        backend(dtype="float32").revision,
        backend(engine={"quantization": "awq"}).revision,
    }
    assert len(revisions) == 3
    assert all("hub/model@rev" in revision for revision in revisions)
