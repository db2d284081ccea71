"""Asking many questions of one backend: the journal first, then side by side, with retries, manners and a breaker."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import TracebackType
from typing import Self, TypeVar

from taxpraben.backends.journal import Entry, Journal, utc_now
from taxpraben.backends.protocol import (
    Backend,
    BackendError,
    Message,
    Reply,
    Request,
    TerminalBackendError,
    TokenCount,
    TransientBackendError,
    request_hash,
)
from taxpraben.records.base import Part

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")


class Manners(Part):
    """How to treat a service.

    Attributes:
        concurrency: most requests in flight; 0 leaves it to the backend. After a refusal (429) fewer are sent,
            and again one more for every round that passes without one.
        attempts: how often one request is tried before its row gets the status ``error``.
        first_wait, longest_wait: seconds; the wait doubles from try to try, with jitter. A service's own
            Retry-After counts before both.
        requests_a_minute: most requests started in any minute; 0 for no limit.
        breaker: after this many requests in a row that failed in all their tries, the run stops.
    """

    concurrency: int = 0
    attempts: int = 6
    first_wait: float = 1.0
    longest_wait: float = 60.0
    requests_a_minute: int = 0
    breaker: int = 10


class Asker:
    """Asks one model, never twice for the same request.

    Attributes:
        asked: replies that the model gave in this run.
        kept: replies that were in the journal already.
        shipped: replies taken from a second, read-only set.
        failed: requests that ended in the status ``error``.
        retried: tries that were repeated.
    """

    def __init__(
        self,
        backend: Backend,
        journal: Journal,
        manners: Manners | None = None,
        shipped: Mapping[str, Reply] | None = None,
        seed: int = 0,
    ) -> None:
        self.backend = backend
        self.journal = journal
        self.manners = manners or Manners()
        self.asked = self.kept = self.shipped = self.failed = self.retried = 0
        self.prompt_tokens = self.completion_tokens = 0
        self._shipped = shipped or {}
        self._jitter = random.Random(seed)  # noqa: S311 - spreads waits, guards nothing
        self._starting = asyncio.Lock()
        self._started = False
        self._gate = _Gate(self.concurrency, self.manners.requests_a_minute)
        self._failures_in_a_row = 0

    @property
    def concurrency(self) -> int:
        """How many requests may be in flight."""
        return self.manners.concurrency or self.backend.capabilities.concurrency

    async def __aenter__(self) -> Self:
        """Nothing is started yet; the backend starts with the first question that no journal answers."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let the backend go, if it was started."""
        if self._started:
            await self.backend.__aexit__(kind, error, trace)

    async def count_tokens(self, messages: list[Message]) -> TokenCount:
        """See ``Backend.count_tokens``; starts the backend where it must."""
        await self._start()
        return await self.backend.count_tokens(messages)

    def known(self, request: Request) -> Reply | None:
        """The reply that a journal holds; None where the model would have to be asked."""
        key = request_hash(request)
        return self.journal.replies.get(key) or self._shipped.get(key)

    async def ask(self, request: Request, about: str) -> Reply:
        """The journal's reply, or the shipped one, or the model's (then it is on disk when this returns).

        Returns:
            A reply; its status is ``error`` where all tries failed.

        Raises:
            BackendError: every request would fail, or too many in a row did.
        """
        key = request_hash(request)
        if key in self.journal.replies:
            self.kept += 1
            return self.journal.replies[key]
        if key in self._shipped:
            self.shipped += 1
            return self._shipped[key]
        await self._start()
        async with self._gate:
            if key in self.journal.replies:  # an equal request was in flight meanwhile
                self.kept += 1
                return self.journal.replies[key]
            asked_at, begin = utc_now(), time.monotonic()
            reply = await self._try(request)
            seconds = round(time.monotonic() - begin, 3)
            await self.journal.append(
                Entry(key=key, model=request.model, about=about, reply=reply, asked_at=asked_at, seconds=seconds)
            )
        self._count(reply)
        return reply

    def _count(self, reply: Reply) -> None:
        self.asked += 1
        self.prompt_tokens += max(0, reply.prompt_tokens)
        self.completion_tokens += max(0, reply.completion_tokens)
        if reply.status != "error":
            self._failures_in_a_row = 0
            return
        self.failed += 1
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= self.manners.breaker:
            raise BackendError(
                f"{self._failures_in_a_row} requests in a row failed, so the run stopped; the last: {reply.error}. "
                "What was answered is kept; start again when the service is well"
            )

    async def _start(self) -> None:
        async with self._starting:
            if not self._started:
                await self.backend.__aenter__()
                self._started = True

    async def _try(self, request: Request) -> Reply:
        wait = self.manners.first_wait
        for attempt in range(1, self.manners.attempts + 1):
            await self._gate.turn()
            try:
                reply = await self.backend.answer(request)
            except TransientBackendError as error:
                if error.retry_after is not None:
                    self._gate.slow_down()
                if attempt == self.manners.attempts:
                    return Reply(status="error", error=f"{error} (tried {attempt} times)")
                self.retried += 1
                pause = wait * self._jitter.uniform(0.5, 1.0) if error.retry_after is None else error.retry_after
                await asyncio.sleep(min(pause, max(self.manners.longest_wait, error.retry_after or 0.0)))
                wait = min(2 * wait, self.manners.longest_wait)
            except TerminalBackendError as error:
                if error.whole_run:
                    raise
                return Reply(status="error", error=str(error))
            else:
                self._gate.speed_up()
                return reply
        raise AssertionError("unreachable: the last attempt returns")


class _Gate:
    """Lets so many requests through at a time, fewer after a refusal, and so many a minute."""

    def __init__(self, width: int, a_minute: int) -> None:
        self._most = width
        self._width = float(width)
        self._inside = 0
        self._changed = asyncio.Condition()
        self._gap = 60.0 / a_minute if a_minute else 0.0
        self._next_turn = 0.0

    async def __aenter__(self) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self._inside < max(1, int(self._width)))
            self._inside += 1

    async def __aexit__(self, *exc: object) -> None:
        async with self._changed:
            self._inside -= 1
            self._changed.notify_all()

    async def turn(self) -> None:
        """Wait for this request's place in the minute."""
        now = time.monotonic()
        begin = max(now, self._next_turn)
        self._next_turn = begin + self._gap
        if begin > now:
            await asyncio.sleep(begin - now)

    def slow_down(self) -> None:
        self._width = max(1.0, self._width / 2)

    def speed_up(self) -> None:
        self._width = min(float(self._most), self._width + 1.0 / max(1.0, self._width))


async def work_through(jobs: Iterable[JobT], work: Callable[[JobT], Awaitable[ResultT]], workers: int) -> list[ResultT]:
    """Run the jobs, so many side by side, and give their results in the order of the jobs.

    Raises:
        Exception: the first error of a job; the other jobs are cancelled.
    """
    results: dict[int, ResultT] = {}
    queue = iter(enumerate(jobs))

    async def worker() -> None:
        for number, job in queue:
            results[number] = await work(job)

    tasks = [asyncio.create_task(worker()) for _ in range(max(1, workers))]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return [results[number] for number in sorted(results)]
