"""A server of our own: started for the run, waited for, spoken to over the OpenAI protocol, and stopped."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import socket
import sys
import time
import urllib.error
import urllib.request
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping
from pathlib import Path

from taxpraben.backends.protocol import BackendError

WATCHED = Path(__file__).with_name("watched.py")

SAY_EVERY_S = 10.0
"""Seconds between two lines about a server that is still loading."""

LAST_LINES = 12
"""Lines of the log that a failure shows."""

Say = Callable[[str], None]


def to_stderr(line: str) -> None:
    """Say a line to whoever watches the run."""
    print(line, file=sys.stderr, flush=True)


class ManagedServer:
    """One server process on a free loopback port, with a key that only this run knows.

    It runs under ``watched``, in a process group of its own: Ctrl-C is for us, and the server ends when we do, however
    we end.

    Attributes:
        key: the API key that the server asks for.
        log: where its messages are kept.
    """

    def __init__(self, name: str, log: Path, start_s: float, say: Say = to_stderr) -> None:
        """Take the model's name, for messages, and where the log goes; an older log is replaced."""
        self.name = name
        self.key = f"local-{secrets.token_urlsafe(24)}"
        self.log = log
        self._start_s = start_s
        self._say = say
        self._process: Process | None = None

    @property
    def running(self) -> bool:
        """Whether the server has been started and has not ended."""
        return self._process is not None and self._process.returncode is None

    @property
    def process_id(self) -> int:
        """The process that watches the server; 0 where none runs."""
        return self._process.pid if self._process is not None else 0

    async def start(self, command: Callable[[int], list[str]], environment: Mapping[str, str]) -> str:
        """Start the server and wait until it is well (``/health`` answers 200).

        Args:
            command: gives the command line for a port.
            environment: what it gets beside our own variables.

        Returns:
            The server's address, without a path.

        Raises:
            BackendError: it ended or was not ready in time; the message shows the log's last lines.
        """
        port = free_port()
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("wb") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, str(WATCHED), *command(port)),
                stdin=PIPE,
                stdout=log,
                stderr=log,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        address = f"http://127.0.0.1:{port}"
        try:
            await self._wait(f"{address}/health")
        except BaseException:
            await self.stop()
            raise
        return address

    async def _wait(self, health: str) -> None:
        begin = said = time.monotonic()
        while not await asyncio.to_thread(_is_well, health):
            now = time.monotonic()
            if not self.running:
                raise BackendError(f"{self.name}: the server ended while it was loading{self._last_words()}")
            if now - begin > self._start_s:
                raise BackendError(
                    f"{self.name}: the server was not ready within {self._start_s:g} s; raise start_s in models.yaml"
                    f"{self._last_words()}"
                )
            if now - said >= SAY_EVERY_S:
                said = now
                self._say(f"{self.name}: the server is loading, {now - begin:.0f} s; {self.log}")
            await asyncio.sleep(0.25)

    def ended(self) -> BackendError:
        """What to raise when the server has ended in the middle of a run."""
        return BackendError(
            f"{self.name}: the server ended by itself; what was answered is kept, start again{self._last_words()}"
        )

    async def stop(self) -> None:
        """Stop the server and everything that it started; done when all of it has ended."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()  # the watcher then ends the server's group
        try:
            await asyncio.wait_for(process.wait(), 20)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()

    def _last_words(self) -> str:
        with self.log.open("rb") as log:
            size = log.seek(0, os.SEEK_END)
            log.seek(max(0, size - 8192))
            lines = log.read().decode("utf-8", "replace").replace(self.key, "***").splitlines()
        shown = [line for line in lines if line.strip()][-LAST_LINES:]
        return "\n".join([f". The end of {self.log}:", *(f"    {line[:300]}" for line in shown)])


def free_port() -> int:
    """A loopback port that nobody listens on at the moment."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _is_well(health: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # the loopback needs no proxy
    try:
        with opener.open(health, timeout=5) as response:
            return bool(response.status == 200)
    except (urllib.error.URLError, OSError):
        return False
