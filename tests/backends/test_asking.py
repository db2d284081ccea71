from __future__ import annotations

import asyncio
import json
import random
import time
from pathlib import Path
from typing import Self

import pytest

from taxpraben.backends.asking import Asker, Manners, work_through
from taxpraben.backends.journal import Journal
from taxpraben.backends.openai_api import OpenAIBackend, OpenAIOptions
from taxpraben.backends.protocol import (
    BackendError,
    Capabilities,
    Message,
    Reply,
    Request,
    Sampling,
    TerminalBackendError,
    TokenCount,
    TransientBackendError,
    request_hash,
)
from tests.backends.faulty_server import FaultyServer, answer_to

QUICK = Manners(concurrency=16, attempts=4, first_wait=0.01, longest_wait=0.05)


def question(text: str, run: int = 0, temperature: float = 0.0, model: str = "m", revision: str = "r") -> Request:
    return Request(
        model=model,
        revision=revision,
        messages=[Message(role="user", content=text)],
        sampling=Sampling(max_tokens=20, temperature=temperature),
        run=run,
    )


class Echo:
    """Answers with the prompt after a random wait; counts what it was asked."""

    def __init__(self, fail: list[Exception] | None = None) -> None:
        self.asked: list[Request] = []
        self.opened = 0
        self.fail = fail or []
        self.revision = "echo"
        self.capabilities = Capabilities(concurrency=8)
        self.wait = random.Random(3)

    async def __aenter__(self) -> Self:
        self.opened += 1
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.opened -= 1

    async def answer(self, request: Request) -> Reply:
        self.asked.append(request)
        await asyncio.sleep(self.wait.uniform(0, 0.02))
        if self.fail:
            raise self.fail.pop(0)
        return Reply(status="ok", text=request.messages[-1].content, prompt_tokens=3, completion_tokens=2)

    async def count_tokens(self, messages: list[Message]) -> TokenCount:
        return TokenCount(tokens=1, exact=True)


async def test_replies_that_come_in_any_order_stay_with_their_questions(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(Echo(), journal, QUICK) as asker:
            texts = [f"问题{number}" for number in range(20)]
            replies = await work_through(texts, lambda text: asker.ask(question(text), text), 20)
    assert [reply.text for reply in replies] == texts


async def test_a_question_in_the_journal_is_not_asked_and_starts_no_backend(tmp_path: Path) -> None:
    echo = Echo()
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(echo, journal) as asker:
            await asker.ask(question("一"), "")
    with Journal(tmp_path / "j.jsonl") as journal:
        again = Echo()
        async with Asker(again, journal) as asker:
            reply = await asker.ask(question("一"), "")
            assert again.opened == 0
        assert (reply.text, asker.kept, asker.asked, again.asked) == ("一", 1, 0, [])
    assert echo.opened == 0  # let go again


async def test_a_shipped_reply_is_taken_and_not_copied_into_the_journal(tmp_path: Path) -> None:
    echo = Echo()
    shipped = {request_hash(question("一")): Reply(status="ok", text="shipped")}
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(echo, journal, shipped=shipped) as asker:
            replies = [await asker.ask(question("一"), ""), await asker.ask(question("二"), "")]
    assert [reply.text for reply in replies] == ["shipped", "二"]
    assert (asker.shipped, asker.asked, len(echo.asked)) == (1, 1, 1)


def test_whatever_shapes_an_answer_changes_its_key() -> None:
    questions = [
        question("一"),
        question("二"),
        question("一", run=1),
        question("一", temperature=0.7),
        question("一", model="n"),
        question("一", revision="s"),
    ]
    assert len({request_hash(request) for request in questions}) == len(questions)
    assert request_hash(question("一")) == request_hash(question("一"))


async def test_five_runs_of_one_prompt_are_five_answers_and_five_lines(tmp_path: Path) -> None:
    echo = Echo()
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(echo, journal) as asker:
            await work_through(range(5), lambda run: asker.ask(question("一", run=run), ""), 5)
        assert len(journal.replies) == len(echo.asked) == 5


async def test_what_is_transient_is_tried_again_and_ends_well(tmp_path: Path) -> None:
    echo = Echo(fail=[TransientBackendError("busy"), TransientBackendError("busy", retry_after=0.01)])
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(echo, journal, QUICK) as asker:
            reply = await asker.ask(question("一"), "")
    assert (reply.status, len(echo.asked), asker.retried) == ("ok", 3, 2)


async def test_after_its_last_try_a_row_is_an_error_and_is_asked_again_next_time(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(Echo(fail=[TransientBackendError("busy")] * 4), journal, QUICK) as asker:
            reply = await asker.ask(question("一"), "")
    assert (reply.status, reply.error) == ("error", "busy (tried 4 times)")
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(Echo(), journal, QUICK) as asker:
            assert (await asker.ask(question("一"), "")).status == "ok"


async def test_a_request_that_cannot_succeed_is_tried_once(tmp_path: Path) -> None:
    echo = Echo(fail=[TerminalBackendError("bad request")])
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(echo, journal, QUICK) as asker:
            reply = await asker.ask(question("一"), "")
    assert (reply.status, len(echo.asked)) == ("error", 1)


async def test_a_wrong_key_stops_the_run_at_once(tmp_path: Path) -> None:
    echo = Echo(fail=[TerminalBackendError("wrong key", whole_run=True)])
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(echo, journal, Manners(concurrency=1)) as asker:
            with pytest.raises(TerminalBackendError, match="wrong key"):
                await work_through(range(10), lambda n: asker.ask(question(str(n)), ""), 1)
    assert len(echo.asked) == 1


async def test_the_breaker_opens_when_everything_fails_and_not_before(tmp_path: Path) -> None:
    manners = Manners(concurrency=1, attempts=1, breaker=5)
    failures: list[Exception] = [TerminalBackendError("no")] * 100
    echo = Echo(fail=failures)
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(echo, journal, manners) as asker:
            with pytest.raises(BackendError, match="5 requests in a row failed"):
                await work_through(range(100), lambda n: asker.ask(question(str(n)), ""), 1)
    assert len(echo.asked) == 5


async def test_no_more_requests_are_in_flight_than_allowed(tmp_path: Path) -> None:
    server = FaultyServer(latency=0.03)
    try:
        backend = OpenAIBackend("m", OpenAIOptions(base_url=server.url))
        with Journal(tmp_path / "j.jsonl") as journal:
            async with Asker(backend, journal, Manners(concurrency=3)) as asker:
                await work_through(range(30), lambda n: asker.ask(question(str(n)), ""), 30)
        assert server.most == 3
    finally:
        server.close()


async def test_requests_a_minute_are_kept(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(Echo(), journal, Manners(concurrency=8, requests_a_minute=600)) as asker:
            begin = time.monotonic()
            await work_through(range(6), lambda n: asker.ask(question(str(n)), ""), 8)
    assert time.monotonic() - begin >= 5 * 0.1  # six starts are five gaps of a tenth of a second


async def test_two_equal_questions_at_once_are_asked_once_where_one_at_a_time_is_asked(tmp_path: Path) -> None:
    echo = Echo()
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(echo, journal, Manners(concurrency=1)) as asker:
            await work_through(range(4), lambda _: asker.ask(question("同"), ""), 4)
    assert (len(echo.asked), asker.asked, asker.kept) == (1, 1, 3)


FAULTS = {
    "": "ok",
    "[429x2]": "ok",
    "[500x1]": "ok",
    "[503x1]": "ok",
    "[stallx1]": "ok",
    "[dropx1]": "ok",
    "[dripx1]": "ok",
    "[slow]": "ok",
    "[garbagex1]": "ok",
    "[errorinsidex1]": "ok",
    "[null]": "length",
    "[empty]": "empty",
    "[length]": "length",
    "[refusal]": "refused",
    "[filter]": "content_filter",
    "[cutbyfilter]": "content_filter",
    "[toolong]": "too_long",
    "[400]": "error",
    "[500]": "error",
    "[]": "ok",
}
"""Tags of the faulty server and the status in which a request with each must end."""


@pytest.mark.parametrize("count", [200, pytest.param(2000, marks=pytest.mark.slow)])
async def test_every_one_of_many_requests_to_a_faulty_server_ends_in_one_row(tmp_path: Path, count: int) -> None:
    tags = [tag for tag in FAULTS if "429" not in tag]
    prompts = [f"{'[429x2]' if number % 100 == 7 else tags[number % len(tags)]}第{number}问" for number in range(count)]
    server = FaultyServer(jitter=0.03)  # answers come in any order, all with the same id
    try:
        backend = OpenAIBackend("m", OpenAIOptions(base_url=server.url, timeout_s=1.5))
        manners = Manners(concurrency=64, attempts=3, first_wait=0.01, longest_wait=0.05, breaker=50)
        with Journal(tmp_path / "j.jsonl") as journal:
            async with Asker(backend, journal, manners) as asker:
                replies = await work_through(prompts, lambda text: asker.ask(question(text), text), asker.workers)
            rows = [json.loads(line)["about"] for line in journal.path.read_text(encoding="utf-8").splitlines()]
        assert sorted(rows) == sorted(prompts)  # exactly one row each
        for prompt, reply in zip(prompts, replies, strict=True):
            assert reply.status == FAULTS[prompt[: prompt.index("第")]], (prompt, reply)
            if reply.status == "ok":
                assert reply.text == answer_to(prompt)
        assert max(server.answered.values()) == 1  # none asked twice after success
        once = ("[400]", "[filter]", "[toolong]", "[cutbyfilter]", "[refusal]", "[null]", "[empty]")
        assert {server.tries[prompt] for prompt in prompts if prompt.startswith(once)} == {1}
        assert asker.asked == count
        asked = server.tries.total()
        with Journal(tmp_path / "j.jsonl") as journal:
            async with Asker(backend, journal, manners) as again:
                wanted = [text for text in prompts if not text.startswith(("[400]", "[500]"))]
                await work_through(wanted, lambda text: again.ask(question(text), text), 64)
        assert server.tries.total() == asked
    finally:
        server.close()


async def test_a_prepared_question_is_not_sent_before_an_answer_is_on_disk(tmp_path: Path) -> None:
    """One slot, three questions ready: whenever one is sent, all answers given before stand in the file."""
    on_disk: list[int] = []

    class Watching(Echo):
        async def answer(self, request: Request) -> Reply:
            on_disk.append(len((tmp_path / "j.jsonl").read_text(encoding="utf-8").splitlines()))
            return await super().answer(request)

    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(Watching(), journal, Manners(concurrency=1)) as asker:
            await work_through(range(12), lambda n: asker.ask(question(str(n)), ""), 4)
    assert on_disk == list(range(12))


async def test_equal_questions_at_once_are_asked_once_whatever_the_concurrency(tmp_path: Path) -> None:
    echo = Echo()
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(echo, journal, Manners(concurrency=8)) as asker:
            replies = await work_through(range(8), lambda _: asker.ask(question("同"), ""), 8)
    assert (len(echo.asked), {reply.text for reply in replies}) == (1, {"同"})


async def test_at_an_error_that_ends_the_run_answers_in_flight_are_kept_and_nothing_more_is_sent(
    tmp_path: Path,
) -> None:
    class Bad(Echo):
        async def answer(self, request: Request) -> Reply:
            if request.messages[-1].content == "5":
                await asyncio.sleep(0.03)
                raise TerminalBackendError("no more", whole_run=True)
            self.asked.append(request)
            await asyncio.sleep(0.1)
            return Reply(status="ok", text="x")

    bad = Bad()
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(bad, journal, Manners(concurrency=6)) as asker:
            with pytest.raises(TerminalBackendError, match="no more"):
                await work_through(
                    range(100), lambda n: asker.ask(question(str(n)), ""), asker.workers, stop=asker.stop, grace=5
                )
        assert len(bad.asked) == len(journal.replies) == 5


async def test_a_stop_in_the_middle_loses_no_finished_answer(tmp_path: Path) -> None:
    echo = Echo()
    with Journal(tmp_path / "j.jsonl") as journal:

        async def run() -> None:
            async with Asker(echo, journal, Manners(concurrency=4)) as asker:
                await work_through(range(1000), lambda n: asker.ask(question(str(n)), ""), 4)

        task = asyncio.create_task(run())
        await asyncio.sleep(0.3)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    with Journal(tmp_path / "j.jsonl") as journal:
        assert len(echo.asked) - 4 <= len(journal.replies) <= len(echo.asked)
        assert journal.replies
    assert echo.opened == 0
