from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Self

import pytest

from taxpraben.backends.asking import Asker, Manners, work_through
from taxpraben.backends.journal import Journal
from taxpraben.backends.protocol import (
    BackendError,
    Capabilities,
    Message,
    Reply,
    Request,
    Sampling,
    TerminalBackendError,
    TokenCount,
)
from taxpraben.backends.replicas import ReplicaBackend
from taxpraben.backends.vllm_local import VllmOptions, VllmSetup, gpus_of


class Member:
    """An engine that answers after a while and dies at its nth question."""

    revision = "r"
    capabilities = Capabilities(concurrency=4)

    def __init__(self, seconds: float = 0.01, dies_at: int = -1, starts: bool = True) -> None:
        self.answered = 0
        self.open = False
        self._seconds = seconds
        self._dies_at = dies_at
        self._starts = starts

    async def __aenter__(self) -> Self:
        if not self._starts:
            raise BackendError("no weights")
        self.open = True
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.open = False

    async def answer(self, request: Request) -> Reply:
        if self.answered == self._dies_at:
            raise TerminalBackendError("the engine ended", whole_run=True)
        self.answered += 1
        await asyncio.sleep(self._seconds)
        return Reply(status="ok", text=request.messages[0].content)

    async def count_tokens(self, messages: list[Message]) -> TokenCount:
        return TokenCount(tokens=1, exact=True)


def question(at: int) -> Request:
    turns = [Message(role="user", content=str(at))]
    return Request(model="m", revision="r", messages=turns, sampling=Sampling(max_tokens=9))


async def ask_all(members: list[Member], path: Path, count: int = 40) -> list[Reply]:
    with Journal(path) as journal:
        asker = Asker(ReplicaBackend("m", members), journal, Manners(first_wait=0.01, longest_wait=0.02))
        async with asker:
            return await work_through(range(count), lambda at: asker.ask(question(at), str(at)), asker.workers)


async def test_each_replica_works_and_every_question_is_answered_once(tmp_path: Path) -> None:
    members = [Member(), Member()]
    replies = await ask_all(members, tmp_path / "j.jsonl")
    assert [reply.text for reply in replies] == [str(at) for at in range(40)]
    assert sum(member.answered for member in members) == 40
    assert min(member.answered for member in members) >= 15
    assert not any(member.open for member in members)


async def test_the_replica_with_the_least_to_do_is_asked() -> None:
    slow, quick = Member(seconds=0.5), Member(seconds=0.01)
    async with ReplicaBackend("m", [slow, quick]) as both:
        tasks = [asyncio.create_task(both.answer(question(0)))]
        await asyncio.sleep(0)
        for at in range(1, 5):
            await both.answer(question(at))
        await asyncio.gather(*tasks)
    assert (slow.answered, quick.answered) == (1, 4)


async def test_a_replica_that_dies_leaves_its_questions_to_the_others(tmp_path: Path) -> None:
    dying, living = Member(dies_at=5), Member()
    replies = await ask_all([dying, living], tmp_path / "j.jsonl")
    assert {reply.status for reply in replies} == {"ok"}
    assert (dying.answered, living.answered) == (5, 35)


async def test_when_every_replica_has_died_the_run_stops_and_keeps_what_was_answered(tmp_path: Path) -> None:
    with pytest.raises(TerminalBackendError, match="every replica has ended"):
        await ask_all([Member(dies_at=12), Member(dies_at=12)], tmp_path / "j.jsonl")
    with Journal(tmp_path / "j.jsonl") as journal:
        assert 1 <= len(journal.replies) <= 24


async def test_where_one_replica_does_not_start_none_is_left_open() -> None:
    good = Member()
    with pytest.raises(BackendError, match="no weights"):
        await ReplicaBackend("m", [good, Member(starts=False)]).__aenter__()
    assert not good.open


def options(**body: object) -> VllmOptions:
    return VllmOptions.model_validate(body)


def test_each_replica_sees_gpus_of_its_own() -> None:
    four = options(replicas=2, tensor_parallel=2)
    assert [gpus_of(at, four, {}) for at in range(2)] == [["0", "1"], ["2", "3"]]
    shown = {"CUDA_VISIBLE_DEVICES": "4,5, 6,7"}
    assert [gpus_of(at, four, shown) for at in range(2)] == [["4", "5"], ["6", "7"]]
    assert gpus_of(0, options(), shown) == []  # one engine takes what it may see


def test_too_few_gpus_for_the_replicas_is_said_before_anything_starts() -> None:
    with pytest.raises(BackendError, match="need 4; CUDA_VISIBLE_DEVICES shows 1"):
        gpus_of(0, options(replicas=4), {"CUDA_VISIBLE_DEVICES": "0"})


def test_replicas_on_a_cpu_share_the_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    setup = VllmSetup("m", options(replicas=2, device="cpu"), "model", "", "id")
    assert setup.environment(1)["OMP_NUM_THREADS"] == "4"
    assert "CUDA_VISIBLE_DEVICES" not in setup.environment(1)
