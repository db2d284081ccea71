"""A worker process that speaks JSON lines: started, asked by number, and never left behind."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from collections.abc import Mapping, Sequence
from typing import Any

from taxpraben.backends.protocol import BackendError, TerminalBackendError

LINE_LIMIT = 1 << 24
"""Bytes of the longest line."""

GRACE_S = 20.0
"""Seconds that a worker has to end by itself once its input is closed."""


class LineWorker:
    """One worker: a load line, a ready line, then questions and replies in any order, matched by their ``id``.

    The worker leads a process group of its own, ends when its input ends (so also when we are killed), and takes its
    group with it.
    """

    def __init__(self, name: str, engine: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Take what to run; ``engine`` is the word for it in messages."""
        self.name = name
        self._engine = engine
        self._command = list(command)
        self._environment = dict(environment)
        self._process: Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._numbers = itertools.count()

    @property
    def process_id(self) -> int:
        """The running worker's process, also the number of its group; 0 where none runs."""
        return self._process.pid if self._process is not None else 0

    async def start(self, load: dict[str, Any], within_s: float) -> dict[str, Any]:
        """Start the process, send it the load line, wait for the ready line.

        Returns:
            What the ready line holds.

        Raises:
            BackendError: it ended, refused to load, or took too long.
        """
        self._process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            env={**os.environ, **self._environment},
            limit=LINE_LIMIT,
            start_new_session=True,  # a group of its own, so that nothing of the engine stays behind
        )
        try:
            ready = await asyncio.wait_for(self._load(load), within_s)
        except TimeoutError as error:
            await self.stop()
            raise BackendError(f"{self.name}: {self._engine} did not load within {within_s:g} s") from error
        except BaseException:
            await self.stop()
            raise
        self._reader = asyncio.create_task(self._read())
        return ready

    async def _load(self, load: dict[str, Any]) -> dict[str, Any]:
        source = load.get("model", "")
        await self._send({"load": load})
        while line := await self._stdout.readline():
            found: dict[str, Any] = json.loads(line)
            if "ready" in found:
                ready: dict[str, Any] = found["ready"]
                return ready
            raise BackendError(f"{self.name}: {self._engine} could not load {source}: {found.get('failed', found)}")
        raise BackendError(f"{self.name}: {self._engine}'s worker ended while loading {source}; its messages are above")

    async def ask(self, line: dict[str, Any]) -> dict[str, Any]:
        """Send one question and wait for its reply.

        Raises:
            TerminalBackendError: the worker refused this question, or (``whole_run``) has ended.
        """
        number = str(next(self._numbers))
        self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self._send({"id": number, **line})
            found = await self._waiting[number]
        finally:
            del self._waiting[number]
        if "error" in found:
            raise TerminalBackendError(f"{self.name}: {self._engine} refused the request: {found['error']}")
        return found

    async def stop(self) -> None:
        """Close the worker's input, give it time to end, then end it and everything that it started."""
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            process.stdin.close()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE_S)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # also what outlived its leader
            await process.wait()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
            self._reader = None

    async def _send(self, line: dict[str, Any]) -> None:
        if self._process is None or self._process.stdin is None or self._process.returncode is not None:
            raise self._ended()
        try:
            self._process.stdin.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            await self._process.stdin.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise self._ended() from error

    async def _read(self) -> None:
        while line := await self._stdout.readline():
            found = json.loads(line)
            waiting = self._waiting.get(str(found.get("id")))
            if waiting is not None and not waiting.done():
                waiting.set_result(found)
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(self._ended())

    def _ended(self) -> TerminalBackendError:
        return TerminalBackendError(
            f"{self.name}: {self._engine}'s worker ended by itself; its messages are above, what was answered is kept",
            whole_run=True,
        )

    @property
    def _stdout(self) -> asyncio.StreamReader:
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout
