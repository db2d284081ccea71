from __future__ import annotations

import asyncio
import time
from email.utils import formatdate
from pathlib import Path

import pytest

from taxpraben.backends.asking import Asker, Manners, work_through
from taxpraben.backends.gate import AskingStoppedError, Gate
from taxpraben.backends.journal import Journal
from taxpraben.backends.limits import ServiceLimits, retry_after, span
from taxpraben.backends.openai_api import OpenAIBackend, OpenAIOptions
from taxpraben.backends.protocol import BackendError, TransientBackendError
from tests.backends.faulty_server import FaultyServer
from tests.backends.test_asking import Echo, question

LONG = 900.0


def test_retry_after_is_read_as_seconds_milliseconds_and_date() -> None:
    assert retry_after({"Retry-After": "7"}) == 7
    assert retry_after({"retry-after-ms": "250"}) == 0.25
    assert retry_after({"Retry-After": "7", "Retry-After-Ms": "6900"}) == 6.9  # the finer one counts
    assert retry_after({"retry-after": formatdate(time.time() + 30, usegmt=True)}) == pytest.approx(30, abs=2)
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({}) is None


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("1s", 1), ("6m0s", 360), ("12ms", 0.012), ("1h2m3.5s", 3723.5), ("20", 20), ("soon", None), ("", None)],
)
def test_the_spans_of_rate_limit_headers_are_read(text: str, seconds: float | None) -> None:
    assert span(text) == seconds


def test_a_reset_given_as_a_time_is_the_time_until_then() -> None:
    assert span(str(time.time() + 40)) == pytest.approx(40, abs=1)


def headers(kind: str, remaining: int, reset: str, limit: int = 100) -> dict[str, str]:
    return {
        f"x-ratelimit-limit-{kind}": str(limit),
        f"x-ratelimit-remaining-{kind}": str(remaining),
        f"x-ratelimit-reset-{kind}": reset,
    }


def test_what_is_in_flight_is_taken_off_what_the_service_says_remains() -> None:
    limits = ServiceLimits()
    for _ in range(3):
        limits.take(10)
    limits.learn(headers("requests", 3, "10s"))  # one of the three is back: two may not have been counted yet
    now = time.monotonic()
    assert limits.wait(10, now) == 0
    limits.take(10)
    assert limits.wait(10, now) == pytest.approx(10, abs=0.5)
    assert limits.wait(10, now + 11) == 0  # the window is over


def test_tokens_that_remain_must_be_enough_for_the_request() -> None:
    limits = ServiceLimits()
    limits.learn(headers("tokens", 500, "6s", limit=10_000))
    now = time.monotonic()
    assert limits.wait(400, now) == 0
    assert limits.wait(600, now) == pytest.approx(6, abs=0.5)


async def test_a_service_that_says_how_much_it_takes_need_not_refuse(tmp_path: Path) -> None:
    server = FaultyServer(latency=0.005, window=(20, 0.4))
    try:
        backend = OpenAIBackend("m", OpenAIOptions(base_url=server.url))
        with Journal(tmp_path / "j.jsonl") as journal:
            async with Asker(backend, journal, Manners(concurrency=8)) as asker:
                begin = time.monotonic()
                replies = await work_through(range(90), lambda n: asker.ask(question(str(n)), ""), asker.workers)
        assert {reply.status for reply in replies} == {"ok"}
        assert time.monotonic() - begin >= 4 * 0.4  # ninety at twenty a window
        # where an old window's last reply comes late, a round may be lost; by refusals alone it is one at every window
        assert len(server.refused) <= 8
    finally:
        server.close()


async def test_the_pause_that_one_request_is_told_holds_for_all(tmp_path: Path) -> None:
    echo = Echo(fail=[TransientBackendError("busy", retry_after=0.3)])
    times: list[float] = []
    real = echo.answer

    async def noted(request):  # type: ignore[no-untyped-def]
        times.append(time.monotonic())
        return await real(request)

    echo.answer = noted  # type: ignore[method-assign]
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(echo, journal, Manners(concurrency=4)) as asker:
            await work_through(range(12), lambda n: asker.ask(question(str(n)), ""), 4)
    # the four of the first round were out before anyone knew (each takes up to 0.02 s); then nobody for 0.3 s
    later = [at - times[0] for at in times if at - times[0] > 0.05]
    assert min(later) >= 0.3
    assert len(times) == 13


async def test_many_refusals_of_one_moment_halve_the_number_once() -> None:
    gate = Gate(16)
    sent = time.monotonic()
    await asyncio.sleep(0.002)
    for _ in range(10):
        gate.refused(sent, None)
    assert gate.width == 8
    for _ in range(9):  # one round of eight, and one more
        gate.passed()
    assert gate.width == 9


async def test_a_service_that_wants_hours_ends_the_run_instead_of_sleeping(tmp_path: Path) -> None:
    echo = Echo(fail=[TransientBackendError("quota of the day", retry_after=7200)])
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(echo, journal, Manners(concurrency=1)) as asker:
            with pytest.raises(BackendError, match="takes nothing for another 120 min"):
                await asker.ask(question("一"), "")


async def test_tokens_a_minute_are_kept_by_what_was_really_used() -> None:
    gate = Gate(8, tokens_a_minute=6000)  # a hundred a second
    begin = time.monotonic()
    await gate.turn(20, LONG)
    gate.settle(20, 40)  # the estimate was too low by 20: another fifth of a second
    await gate.turn(10, LONG)
    assert 0.4 <= time.monotonic() - begin < 0.8


async def test_requests_and_tokens_a_minute_are_kept_together(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.jsonl") as journal:
        manners = Manners(concurrency=8, requests_a_minute=600, tokens_a_minute=6000)
        async with Asker(Echo(), journal, manners) as asker:
            begin = time.monotonic()
            # each is estimated at 1 + 8 tokens of prompt and 20 of answer, and uses 3 + 2
            await work_through(range(6), lambda n: asker.ask(question(str(n)), ""), 8)
    assert time.monotonic() - begin >= 0.5


async def test_a_closed_gate_lets_nobody_through_and_tells_those_who_wait() -> None:
    gate = Gate(1)
    async with gate:
        waiting = asyncio.create_task(gate.__aenter__())
        sleeping = asyncio.create_task(gate.sleep(30))
        await asyncio.sleep(0)
        gate.close()
        for task in (waiting, sleeping):
            with pytest.raises(AskingStoppedError):
                await task
    with pytest.raises(AskingStoppedError):
        await gate.turn(1, LONG)


async def test_one_who_stops_waiting_at_the_gate_takes_no_place_along() -> None:
    gate = Gate(1)
    async with gate:
        waiting = [asyncio.create_task(gate.__aenter__()) for _ in range(2)]
        await asyncio.sleep(0)
        waiting[0].cancel()
    await asyncio.wait_for(waiting[1], 1)
    await gate.__aexit__()
    async with asyncio.timeout(1), gate:
        pass
