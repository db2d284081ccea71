"""GGUF models through llama.cpp: a server of our own on the loopback, or the engine in this process."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any, Self

from taxpraben.backends.llama_server import KEY, open_server
from taxpraben.backends.managed import ManagedServer, Say, to_stderr
from taxpraben.backends.openai_api import OpenAIBackend, OpenAIOptions
from taxpraben.backends.openai_replies import LENGTH_WORDS, reply_of
from taxpraben.backends.protocol import (
    BackendError,
    Capabilities,
    Message,
    Reply,
    Request,
    TerminalBackendError,
    TokenCount,
)
from taxpraben.records.base import JsonObject, Part


class LlamaCppOptions(Part):
    """What an entry of models.yaml with ``backend: llama_cpp`` may say.

    Attributes:
        serve: a server process of its own, asked over the OpenAI protocol: a crash of the engine costs a request and
            not the run. ``false`` keeps the engine in this process.
        threads: threads of the engine. With more than there are free cores all wait for the slowest: two threads on
            two shared cores gave 2 tokens a second where one gave 25.
        context: tokens of prompt and answer together, for each slot.
        slots: requests worked on side by side.
        start_s: seconds to wait for the weights to load.
    """

    serve: bool = True
    threads: int = 1
    context: int = 4096
    slots: int = 1
    timeout_s: float = 600.0
    start_s: float = 180.0


class _GgufBackend:
    """What both ways have in common.

    Attributes:
        engine: the package, its version and the options.
    """

    def __init__(self, name: str, options: LlamaCppOptions, file: Path, sha256: str) -> None:
        self.name = name
        self.options = options
        self.engine: JsonObject = {}
        self._file = file
        self._sha256 = sha256
        self._client: OpenAIBackend | None = None

    @property
    def revision(self) -> str:
        """The engine's kind and the weights' hash; the way in shapes no answer (a test compares them)."""
        return f"llama.cpp|sha256:{self._sha256[:16]}"

    @property
    def capabilities(self) -> Capabilities:
        """What llama.cpp's server offers."""
        return Capabilities(completion=True, seed=True, logprobs=True, structured=True, concurrency=self.options.slots)

    async def count_tokens(self, messages: list[Message]) -> TokenCount:
        """See ``Backend.count_tokens``; by the model's own tokenizer."""
        return await self._open.count_tokens(messages)

    def _check_file(self) -> None:
        if not self._file.exists():
            raise BackendError(f"{self.name}: {self._file} is missing; run `taxpraben models fetch {self.name}`")

    async def _connect(self, address: str, key: str) -> None:
        self._client = OpenAIBackend(
            self.name,
            OpenAIOptions(
                base_url=f"{address}/v1",
                timeout_s=self.options.timeout_s,
                concurrency=self.options.slots,
                tokenizer="llama.cpp",
            ),
            identity=self.revision,
            key=key,
        )
        await self._client.__aenter__()
        import xllamacpp

        self.engine = {"xllamacpp": xllamacpp.__version__, "options": self.options.model_dump(mode="json")}

    async def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            await client.__aexit__()

    @property
    def _open(self) -> OpenAIBackend:
        if self._client is None:
            raise BackendError(f"{self.name}: the backend is not open; use it with `async with`")
        return self._client


class LlamaCppBackend(_GgufBackend):
    """One GGUF file, served for as long as the backend is open."""

    def __init__(
        self, name: str, options: LlamaCppOptions, file: Path, sha256: str, root: Path = Path(), say: Say = to_stderr
    ) -> None:
        """Take the file and its hash; the server's log goes under ``root``."""
        super().__init__(name, options, file, sha256)
        self._server = ManagedServer(name, root / ".cache" / "servers" / f"{name}.log", options.start_s, say)

    @property
    def process_id(self) -> int:
        """The process that watches the server; 0 where none runs."""
        return self._server.process_id

    async def __aenter__(self) -> Self:
        """Start the server and wait until it answers.

        Raises:
            BackendError: the weights are missing, or do not load in time.
        """
        self._check_file()
        options = self.options

        def command(port: int) -> list[str]:
            return [
                *(sys.executable, "-m", "taxpraben.backends.llama_server", "--file", str(self._file)),
                *("--threads", str(options.threads), "--context", str(options.context)),
                *("--slots", str(options.slots), "--port", str(port)),
            ]

        address = await self._server.start(command, {KEY: self._server.key})
        await self._connect(address, self._server.key)
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Stop the server."""
        await self._disconnect()
        await self._server.stop()

    async def answer(self, request: Request) -> Reply:
        """See ``Backend.answer``."""
        if not self._server.running:
            raise self._server.ended()
        return await self._open.answer(request)


class LlamaCppHereBackend(_GgufBackend):
    """One GGUF file in this process; questions reach the engine without HTTP."""

    _engine: Any = None

    async def __aenter__(self) -> Self:
        """Load the weights.

        Raises:
            BackendError: they are missing or do not load.
        """
        self._check_file()
        options = self.options
        try:
            self._engine = await asyncio.to_thread(
                open_server, self._file, options.threads, options.context, options.slots, 0, ""
            )
        except (RuntimeError, ValueError, OSError) as error:
            raise BackendError(
                f"{self.name}: llama.cpp could not load {self._file} ({error}); check it with `taxpraben models check`"
            ) from error
        await self._connect(self._engine.listening_address, "")  # counts tokens; the library offers no other way
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Drop the weights."""
        await self._disconnect()
        self._engine = None

    async def answer(self, request: Request) -> Reply:
        """See ``Backend.answer``."""
        found = await asyncio.to_thread(self._engine.handle_chat_completions, self._open.body(request))
        if "error" not in found:
            return reply_of(found)
        said = f"{found['error'].get('type', '')}: {found['error'].get('message', found['error'])}"
        if any(word in said for word in LENGTH_WORDS):
            return Reply(status="too_long", error=said)
        raise TerminalBackendError(f"{self.name}: llama.cpp refused the request: {said}")
