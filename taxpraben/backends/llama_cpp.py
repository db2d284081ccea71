"""GGUF models through llama.cpp: a server of our own on the loopback, spoken to over the OpenAI protocol."""

from __future__ import annotations

import asyncio
import json
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from pathlib import Path
from typing import Self

from taxpraben.backends.openai_api import OpenAIBackend, OpenAIOptions
from taxpraben.backends.protocol import BackendError, Capabilities, Message, Reply, Request, TokenCount
from taxpraben.records.base import Part


class LlamaCppOptions(Part):
    """What an entry of models.yaml with ``backend: llama_cpp`` may say.

    Attributes:
        threads: threads of the engine. With more than there are free cores all wait for the slowest: two threads on
            two shared cores gave 2 tokens a second where one gave 25.
        context: tokens of prompt and answer together, for each slot.
        slots: requests worked on side by side.
        start_s: seconds to wait for the weights to load.
    """

    threads: int = 1
    context: int = 4096
    slots: int = 1
    timeout_s: float = 600.0
    start_s: float = 180.0


class LlamaCppBackend:
    """One GGUF file, served for as long as the backend is open."""

    def __init__(self, name: str, options: LlamaCppOptions, file: Path, sha256: str) -> None:
        self.name = name
        self.options = options
        self._file = file
        self._sha256 = sha256
        self._process: Process | None = None
        self._client: OpenAIBackend | None = None

    @property
    def revision(self) -> str:
        """The engine's kind and the weights' hash."""
        return f"llama.cpp|sha256:{self._sha256[:16]}"

    @property
    def capabilities(self) -> Capabilities:
        """What llama.cpp's server offers."""
        return Capabilities(completion=True, seed=True, logprobs=True, structured=True, concurrency=self.options.slots)

    async def __aenter__(self) -> Self:
        """Start the server and wait until it answers.

        Raises:
            BackendError: the weights are missing, or do not load in time.
        """
        if not self._file.exists():
            raise BackendError(f"{self.name}: {self._file} is missing; run `taxpraben models fetch {self.name}`")
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "taxpraben.backends.llama_server", "--file", str(self._file)),
            *("--threads", str(self.options.threads), "--context", str(self.options.context)),
            *("--slots", str(self.options.slots)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            start_new_session=True,  # Ctrl-C is for us; the server ends when we close its standard input
        )
        try:
            address = await asyncio.wait_for(self._address(), self.options.start_s)
        except TimeoutError as error:
            await self.__aexit__()
            raise BackendError(
                f"{self.name}: {self._file} was not loaded within {self.options.start_s:g} s; "
                "free some memory, or raise start_s in models.yaml"
            ) from error
        except BackendError:
            await self.__aexit__()
            raise
        self._client = OpenAIBackend(
            self.name,
            OpenAIOptions(base_url=f"{address}/v1", timeout_s=self.options.timeout_s, tokenizer="llama.cpp"),
            identity=self.revision,
        )
        await self._client.__aenter__()
        return self

    async def _address(self) -> str:
        assert self._process is not None
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            try:
                return str(json.loads(line)["address"])
            except (json.JSONDecodeError, KeyError, TypeError):
                continue  # the engine may print a line of its own first
        raise BackendError(
            f"{self.name}: llama.cpp could not load {self._file}; check the file with `taxpraben models check`"
        )

    async def __aexit__(self, *exc: object) -> None:
        """Stop the server."""
        if self._client is not None:
            await self._client.__aexit__()
            self._client = None
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 10)
        except TimeoutError:
            process.kill()
            await process.wait()

    async def answer(self, request: Request) -> Reply:
        """See ``Backend.answer``."""
        return await self._open.answer(request)

    async def count_tokens(self, messages: list[Message]) -> TokenCount:
        """See ``Backend.count_tokens``; by the model's own tokenizer."""
        return await self._open.count_tokens(messages)

    @property
    def _open(self) -> OpenAIBackend:
        if self._client is None:
            raise BackendError(f"{self.name}: the backend is not open; use it with `async with`")
        if self._process is not None and self._process.returncode is not None:
            raise BackendError(
                f"{self.name}: llama.cpp's server ended by itself (exit code {self._process.returncode}); "
                "what was answered is kept, start again"
            )
        return self._client
