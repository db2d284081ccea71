"""Asking many questions of one backend: the journal first, then side by side, with retries, manners and a breaker."""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import TracebackType
from typing import Self, TypeVar

from taxpraben.backends.gate import Gate, too_long_a_pause
from taxpraben.backends.journal import Entry, Journal, utc_now
from taxpraben.backends.limits import TellsLimits
from taxpraben.backends.protocol import (
    Backend,
    BackendError,
    Message,
    Reply,
    Request,
    TerminalBackendError,
    TokenCount,
    TransientBackendError,
    most_tokens,
    request_hash,
)
from taxpraben.backends.spending import BudgetSpentError, Purse
from taxpraben.records.base import Part

JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")

PREPARED = 16
"""So many requests at most are made ready while all slots are taken, so that a slot that falls free need not wait."""

PURSE_LOOK_S = 0.05
"""Seconds between two looks at what is left of a budget."""


class Manners(Part):
    """How to treat a service.

    Attributes:
        concurrency: most requests in flight; 0 leaves it to the backend. After a refusal (429) fewer are sent,
            and again one more for every round that passes without one.
        attempts: how often one request is tried before its row gets the status ``error``.
        first_wait, longest_wait: seconds; the wait doubles from try to try, with jitter. A service's own
            Retry-After counts before both, and holds for all requests.
        longest_pause: seconds; a service that asks for more ends the run.
        requests_a_minute: most requests started in any minute; 0 for no limit.
        tokens_a_minute: most tokens of prompts and answers in any minute; 0 for no limit.
        breaker: after this many requests in a row that failed in all their tries, the run stops.
    """

    concurrency: int = 0
    attempts: int = 6
    first_wait: float = 1.0
    longest_wait: float = 60.0
    longest_pause: float = 900.0
    requests_a_minute: int = 0
    tokens_a_minute: int = 0
    breaker: int = 10


class Asker:
    """Asks one model, never twice for the same request.

    Attributes:
        asked: replies that the model gave in this run.
        kept: replies that were in the journal already.
        shipped: replies taken from a second, read-only set.
        failed: requests that ended in the status ``error``.
        retried: tries that were repeated.
        purse: what the model's answers cost and may cost.
        started: called once the backend has started, before its first question.
    """

    def __init__(
        self,
        backend: Backend,
        journal: Journal,
        manners: Manners | None = None,
        shipped: Mapping[str, Reply] | None = None,
        seed: int = 0,
        purse: Purse | None = None,
    ) -> None:
        self.backend = backend
        self.journal = journal
        self.manners = manners or Manners()
        self.purse = purse or Purse("")
        self.asked = self.kept = self.shipped = self.failed = self.retried = 0
        self.prompt_tokens = self.completion_tokens = 0
        self.started: Callable[[], None] = lambda: None
        self._shipped = shipped or {}
        self._jitter = random.Random(seed)  # noqa: S311 - spreads waits, guards nothing
        self._starting = asyncio.Lock()
        self._started = False
        self._asking: dict[str, asyncio.Future[None]] = {}
        self._failures_in_a_row = 0
        self._heavier = 1.0  # the most that a prompt's tokens exceeded their estimate
        self._gate = Gate(
            self.concurrency,
            self.manners.requests_a_minute,
            self.manners.tokens_a_minute,
            backend.limits if isinstance(backend, TellsLimits) else None,
        )

    @property
    def concurrency(self) -> int:
        """How many requests may be in flight."""
        return self.manners.concurrency or self.backend.capabilities.concurrency

    @property
    def workers(self) -> int:
        """How many questions to work on side by side, so that one is ready whenever a slot falls free."""
        return self.concurrency + min(self.concurrency, PREPARED)

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
        """See ``Backend.count_tokens``; starts the backend where it must, and tries again where that may help."""
        await self.start()
        wait = self.manners.first_wait
        for _ in range(1, self.manners.attempts):
            try:
                return await self.backend.count_tokens(messages)
            except TransientBackendError as error:
                await self._gate.sleep(self._pause(wait, error))
                wait = min(2 * wait, self.manners.longest_wait)
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
            BackendError: every request would fail, too many in a row did, a budget is spent, or the run is stopping.
        """
        key = request_hash(request)
        while True:
            if key in self.journal.replies:
                self.kept += 1
                return self.journal.replies[key]
            if key in self._shipped:
                self.shipped += 1
                return self._shipped[key]
            if key not in self._asking:
                break
            await asyncio.wait([self._asking[key]])  # an equal request is in flight: its reply is this one's, too
        self._asking[key] = asyncio.get_running_loop().create_future()
        try:
            return await self._ask(key, request, about)
        finally:
            self._asking.pop(key).set_result(None)

    async def _ask(self, key: str, request: Request, about: str) -> Reply:
        await self.start()
        estimate = max(1, most_tokens(request.messages))
        async with self._gate:
            weight = math.ceil(estimate * self._heavier)  # by what has come back until now
            promised = await self._promise(weight, request.sampling.max_tokens)
            reply: Reply | None = None
            try:
                asked_at, begin = utc_now(), time.monotonic()
                reply = await self._try(request, weight + request.sampling.max_tokens)
                seconds = round(time.monotonic() - begin, 3)
                await self.journal.append(
                    Entry(key=key, model=request.model, about=about, reply=reply, asked_at=asked_at, seconds=seconds)
                )
            finally:
                self.purse.pay(promised, reply)
            self._heavier = max(self._heavier, reply.prompt_tokens / estimate)
        self._count(reply)
        return reply

    async def _promise(self, prompt_tokens: int, new_tokens: int) -> float:
        """Set a request's cost aside; near the end of a budget wait for what those in flight really cost."""
        while True:
            try:
                return self.purse.promise(prompt_tokens, new_tokens)
            except BudgetSpentError:
                if not self.purse.may_suffice(prompt_tokens, new_tokens):
                    self.stop()
                    raise
            await self._gate.sleep(PURSE_LOOK_S)

    def count_outside(self, reply: Reply, promised: float = 0.0) -> None:
        """Count a reply that came another way than by ``ask`` (out of a batch file) and is in the journal."""
        self.purse.pay(promised, reply)
        self.asked += 1
        self.kept -= 1  # the row that wants it will find it in the journal
        self._add(reply)

    def stop(self) -> None:
        """Send nothing more; what is in flight may still come back and is kept."""
        self._gate.close()

    def _add(self, reply: Reply) -> None:
        self.prompt_tokens += max(0, reply.prompt_tokens)
        self.completion_tokens += max(0, reply.completion_tokens)

    def _count(self, reply: Reply) -> None:
        self.asked += 1
        self._add(reply)
        if reply.status != "error":
            self._failures_in_a_row = 0
            return
        self.failed += 1
        self._failures_in_a_row += 1
        if self._failures_in_a_row >= self.manners.breaker:
            self.stop()
            raise BackendError(
                f"{self._failures_in_a_row} requests in a row failed, so the run stopped; the last: {reply.error}. "
                "What was answered is kept; start again when the service is well"
            )

    async def start(self) -> None:
        """Start the backend, if it has not been started."""
        if self._started:
            return
        async with self._starting:
            if not self._started:
                await self.backend.__aenter__()
                self._started = True
                self.started()

    async def _try(self, request: Request, tokens: int) -> Reply:
        wait = self.manners.first_wait
        for attempt in range(1, self.manners.attempts + 1):
            await self._gate.turn(tokens, self.manners.longest_pause)
            sent_at = time.monotonic()
            used = -1
            try:
                reply = await self.backend.answer(request)
                if reply.prompt_tokens >= 0:
                    used = reply.prompt_tokens + max(0, reply.completion_tokens)
            except TransientBackendError as error:
                if error.retry_after is not None:
                    if error.retry_after > self.manners.longest_pause:
                        self.stop()
                        raise too_long_a_pause(error.retry_after) from error
                    self._gate.refused(sent_at, error.retry_after)
                if attempt == self.manners.attempts:
                    return Reply(status="error", error=f"{error} (tried {attempt} times)")
                self.retried += 1
                await self._gate.sleep(self._pause(wait, error))
                wait = min(2 * wait, self.manners.longest_wait)
            except TerminalBackendError as error:
                if error.whole_run:
                    self.stop()
                    raise
                return Reply(status="error", error=str(error))
            else:
                self._gate.passed()
                return reply
            finally:
                self._gate.settle(tokens, used)
        raise AssertionError("unreachable: the last attempt returns")

    def _pause(self, wait: float, error: TransientBackendError) -> float:
        """How long to wait before the next try; a service's own word counts, and jitter spreads who comes back."""
        if error.retry_after is None:
            return wait * self._jitter.uniform(0.5, 1.0)
        return error.retry_after * self._jitter.uniform(1.0, 1.1)


async def work_through(
    jobs: Iterable[JobT],
    work: Callable[[JobT], Awaitable[ResultT]],
    workers: int,
    stop: Callable[[], None] | None = None,
    grace: float = 0.0,
) -> list[ResultT]:
    """Run the jobs, so many side by side, and give their results in the order of the jobs.

    Args:
        jobs: taken one by one.
        work: does one.
        workers: how many side by side.
        stop: called once at the first error, or when the whole is cancelled, to have no more begun.
        grace: seconds that those in the midst of a job then have to finish it.

    Raises:
        Exception: the first error of a job; the other jobs are cancelled when their grace is over.
    """
    results: dict[int, ResultT] = {}
    queue = iter(enumerate(jobs))
    stopping = False

    async def worker() -> None:
        for number, job in queue:
            results[number] = await work(job)
            if stopping:
                return

    tasks: list[asyncio.Task[None]] = []
    try:
        for _ in range(max(1, workers)):
            tasks.append(asyncio.create_task(worker()))
            await asyncio.sleep(0)  # what begins one after another comes back so, and does not queue for this thread
        await asyncio.gather(*tasks)
    except BaseException:
        stopping = True
        if stop is not None:
            stop()
            await asyncio.wait(tasks, timeout=grace)
        raise
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return [results[number] for number in sorted(results)]
