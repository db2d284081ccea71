"""Who may be asked when: so many at a time, so much a minute, and not while the service asks for a pause."""

from __future__ import annotations

import asyncio
import time
from collections import deque

from taxpraben.backends.limits import ServiceLimits
from taxpraben.backends.protocol import BackendError


class AskingStoppedError(BackendError):
    """The run is being stopped; what waits for its turn is not sent."""


class Gate:
    """Lets so many requests through at a time, fewer after a refusal, and so much a minute.

    A refusal halves the number once, however many of the requests that were in flight together are refused; every
    round that passes without one adds one. A pause that the service asks for holds for all.
    """

    def __init__(
        self, width: int, requests_a_minute: int = 0, tokens_a_minute: int = 0, limits: ServiceLimits | None = None
    ) -> None:
        self._most = width
        self._width = float(width)
        self._inside = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._requests = _Minute(requests_a_minute)
        self._tokens = _Minute(tokens_a_minute)
        self._limits = limits or ServiceLimits()
        self._pause_until = 0.0
        self._narrowed_at = 0.0
        self._closing: asyncio.Event | None = None
        self._closed = False

    @property
    def width(self) -> int:
        """How many requests may be in flight at the moment."""
        return max(1, int(self._width))

    async def __aenter__(self) -> None:
        if self._closed:
            raise _stopped()
        if self._inside < self.width and not self._waiting:
            self._inside += 1
            return
        mine: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled() and mine.exception() is None:
                self._leave()
            raise

    async def __aexit__(self, *exc: object) -> None:
        self._leave()

    def _leave(self) -> None:
        self._inside -= 1
        while self._waiting and self._inside < self.width:
            mine = self._waiting.popleft()
            if not mine.done():
                mine.set_result(None)
                self._inside += 1

    async def turn(self, tokens: int, longest: float) -> None:
        """Wait for this request's place in the minute, and until the service takes it; then count it as sent.

        Raises:
            AskingStoppedError: the gate was closed meanwhile.
            BackendError: the service will not take anything for longer than ``longest`` seconds.
        """
        now = time.monotonic()
        wait = max(self._requests.reserve(1, now), self._tokens.reserve(tokens, now)) - now
        if wait > 0:
            await self.sleep(wait)
        while True:
            if self._closed:
                raise _stopped()
            now = time.monotonic()
            wait = max(self._pause_until - now, self._limits.wait(tokens, now))
            if wait <= 0:
                break
            if wait > longest and not self._limits.requests.flying:
                raise too_long_a_pause(wait)
            # what comes back meanwhile may tell of more room, so look again soon
            await self.sleep(min(wait, 0.05) if self._limits.requests.flying else wait)
        self._limits.take(tokens)

    def settle(self, tokens: int, used: int) -> None:
        """A request of so many expected tokens has come back; it used so many (negative: unknown)."""
        self._limits.settle(tokens)
        if used >= 0:
            self._tokens.correct(used - tokens)

    def refused(self, sent_at: float, pause: float | None) -> None:
        """The service refused a request: fewer at a time from now on, and none before the pause has passed."""
        now = time.monotonic()
        if sent_at > self._narrowed_at:
            self._width = max(1.0, self._width / 2)
            self._narrowed_at = now
        if pause is not None:
            self._pause_until = max(self._pause_until, now + pause)

    def passed(self) -> None:
        """A request was answered: one more at a time for every round without a refusal."""
        self._width = min(float(self._most), self._width + 1.0 / max(1.0, self._width))

    async def sleep(self, seconds: float) -> None:
        """Wait, unless the gate is closed.

        Raises:
            AskingStoppedError: it was.
        """
        if seconds > 0:
            if self._closing is None:
                self._closing = asyncio.Event()
            try:
                async with asyncio.timeout(seconds):
                    await self._closing.wait()
            except TimeoutError:
                return
        if self._closed:
            raise _stopped()

    def close(self) -> None:
        """Let nobody through any more; who waits is told so."""
        self._closed = True
        if self._closing is not None:
            self._closing.set()
        for mine in self._waiting:
            if not mine.done():
                mine.set_exception(_stopped())
        self._waiting.clear()


class _Minute:
    """Spreads so much a minute evenly; 0 for no limit."""

    def __init__(self, most: int) -> None:
        self._seconds_each = 60.0 / most if most else 0.0
        self._next = 0.0

    def reserve(self, amount: float, now: float) -> float:
        """When so much may be sent; what comes later waits behind it."""
        begin = max(now, self._next)
        self._next = begin + amount * self._seconds_each
        return begin

    def correct(self, by: float) -> None:
        self._next += by * self._seconds_each


def too_long_a_pause(seconds: float) -> BackendError:
    """The error for a service that asks to wait longer than anyone watches."""
    return BackendError(
        f"the service takes nothing for another {seconds / 60:.0f} min (its own headers say so); what was answered is "
        "kept, start again then"
    )


def _stopped() -> AskingStoppedError:
    return AskingStoppedError("the run is being stopped")
