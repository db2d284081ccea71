from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from taxpraben.backends.protocol import BackendError, Message, Request, Sampling, TerminalBackendError
from taxpraben.backends.vllm_local import VllmBackend, VllmOptions, VllmSetup
from tests.backends.processes import still_alive

STUB = Path(__file__).with_name("stub_vllm")
ROOT = Path(__file__).parents[2]


def backend(source: str = "model", **options: object) -> VllmBackend:
    body = {"python": sys.executable, "environment": {"PYTHONPATH": str(STUB)}, "start_s": 60, **options}
    return VllmBackend(VllmSetup("m", VllmOptions.model_validate(body), source, "rev", "hub/model@rev"))


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


async def test_one_prompt_beyond_the_context_does_not_fail_the_batch() -> None:
    async with backend(max_model_len=60) as engine:
        long, short = await asyncio.gather(engine.answer(question("长" * 50)), engine.answer(question("短", 20)))
    # one beginning, <user>, fifty characters, <assistant>
    assert (long.status, long.error) == ("too_long", "68 tokens and 50 new ones, max_model_len 60")
    assert short.status == "ok"


async def test_the_engine_says_with_what_it_runs() -> None:
    async with backend(engine={"max_num_seqs": 4}) as engine:
        assert engine.engine["vllm"] == "stub"
        assert engine.engine["arguments"]["max_num_seqs"] == 4


@pytest.mark.parametrize("said", ["问", "[hang]"])
def test_a_killed_run_leaves_no_engine(said: str) -> None:
    program = f"""
import asyncio, sys
sys.path.insert(0, {str(ROOT)!r})
from tests.backends.test_vllm_local import backend, question
async def main():
    async with backend() as engine:
        asking = asyncio.create_task(engine.answer(question({said!r})))
        await asyncio.sleep(0.3)
        print(engine.process_id, flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""
    run = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert run.stdout is not None
    with run.stdout:
        worker = int(run.stdout.readline())
        run.send_signal(signal.SIGKILL)
        run.wait(30)
    assert still_alive([worker]) == []
