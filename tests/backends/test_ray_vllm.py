"""The Ray backend with a stand-in for Ray; tests/backends/test_engines.py runs the real one."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path

import pytest

from taxpraben.backends.protocol import BackendError, Message, Request, Sampling, TerminalBackendError, request_hash
from taxpraben.backends.ray_vllm import RayBackend
from taxpraben.backends.vllm_local import VllmOptions, VllmSetup

STUB = Path(__file__).with_name("stub_ray")


def backend(folder: Path, address: str = "auto") -> RayBackend:
    ray = {"address": address, "replicas": 2, "storage": "store", "quiet_s": 0.3}
    body = {
        "python": sys.executable,
        "environment": {"PYTHONPATH": str(STUB)},
        "start_s": 60,
        "max_model_len": 100,
        "ray": ray,
    }
    setup = VllmSetup("m", VllmOptions.model_validate(body), "model", "", "hub/model@rev", folder)
    assert setup.options.ray is not None
    return RayBackend(setup, setup.options.ray)


def question(text: str, max_tokens: int = 50) -> Request:
    turns = [Message(role="user", content=text)]
    return Request(model="m", revision="r", messages=turns, sampling=Sampling(max_tokens=max_tokens, seed=1))


def asked(folder: Path) -> list[str]:
    path = folder / "store" / "m" / "asked.txt"
    return path.read_text().split() if path.exists() else []


async def test_all_questions_go_out_as_one_batch_under_their_journal_keys(tmp_path: Path) -> None:
    questions = [question(f"问题{at}") for at in range(20)]
    async with backend(tmp_path) as cluster:
        replies = await asyncio.gather(*(cluster.answer(one) for one in questions))
        assert cluster.engine["cluster"] == {"CPU": 2.0}
    assert [reply.text for reply in replies] == [f"问题{at}" for at in range(20)]
    assert sorted(asked(tmp_path)) == sorted(map(request_hash, questions))


async def test_finished_rows_are_taken_from_storage_and_only_the_others_are_asked(tmp_path: Path) -> None:
    async with backend(tmp_path) as cluster:
        await asyncio.gather(*(cluster.answer(question(f"问题{at}")) for at in range(6)))
    async with backend(tmp_path) as cluster:
        replies = await asyncio.gather(*(cluster.answer(question(f"问题{at}")) for at in range(9)))
    assert [reply.text for reply in replies] == [f"问题{at}" for at in range(9)]
    assert len(asked(tmp_path)) == 9  # nine rows in two runs: none twice


async def test_equal_questions_share_one_row(tmp_path: Path) -> None:
    async with backend(tmp_path) as cluster:
        replies = await asyncio.gather(*(cluster.answer(question("同一题")) for _ in range(4)))
    assert [reply.text for reply in replies] == ["同一题"] * 4
    assert len(asked(tmp_path)) == 1


async def test_an_answer_that_fills_the_limit_without_an_end_is_marked_as_cut(tmp_path: Path) -> None:
    async with backend(tmp_path) as cluster:
        cut, whole = await asyncio.gather(cluster.answer(question("一二三四", 3)), cluster.answer(question("一二", 3)))
    assert (cut.status, cut.text) == ("length", "一二三")
    assert (whole.status, whole.text) == ("ok", "一二")


async def test_one_prompt_beyond_the_context_does_not_fail_the_batch(tmp_path: Path) -> None:
    async with backend(tmp_path) as cluster:
        long, short = await asyncio.gather(cluster.answer(question("长" * 60)), cluster.answer(question("短")))
    assert (long.status, long.error) == ("too_long", "60 tokens and 50 new ones, max_model_len 100")
    assert short.status == "ok"


async def test_a_row_that_fails_fails_alone(tmp_path: Path) -> None:
    async with backend(tmp_path) as cluster:
        good = asyncio.create_task(cluster.answer(question("好")))
        with pytest.raises(TerminalBackendError, match="a row's own fault") as caught:
            await cluster.answer(question("[refuse]"))
        assert caught.value.whole_run is False
        assert (await good).status == "ok"


async def test_a_batch_that_breaks_says_why_for_each_of_its_questions(tmp_path: Path) -> None:
    async with backend(tmp_path) as cluster:
        with pytest.raises(TerminalBackendError, match="RuntimeError: the cluster is full"):
            await cluster.answer(question("[break]"))
        assert (await cluster.answer(question("之后"))).text == "之后"


async def test_a_checkpoint_without_its_rows_is_named_with_the_remedy(tmp_path: Path) -> None:
    async with backend(tmp_path) as cluster:
        await cluster.answer(question("问"))
    shutil.rmtree(tmp_path / "store" / "m" / "rows")
    async with backend(tmp_path) as cluster:
        with pytest.raises(TerminalBackendError, match=r"no row came back; clear .*store/m"):
            await cluster.answer(question("问"))


async def test_a_cluster_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match="no cluster at nowhere:6379"):
        await backend(tmp_path, "nowhere:6379").__aenter__()
