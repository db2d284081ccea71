"""Public weights through vLLM's offline engine, in a worker process of vLLM's own environment."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from typing import Any, Literal, Self

from taxpraben.backends.protocol import (
    BackendError,
    Capabilities,
    Message,
    Reply,
    Request,
    TerminalBackendError,
    TokenCount,
    status_of,
)
from taxpraben.records.base import JsonObject, Part

WORKER = Path(__file__).with_name("vllm_worker.py")
LINE_LIMIT = 1 << 24

ENVIRONMENT = {"VLLM_NO_USAGE_STATS": "1", "VLLM_ENABLE_V1_MULTIPROCESSING": "0"}
"""No call home; the engine in the worker itself, which starts sooner and leaves nothing behind when killed."""

CPU_ENVIRONMENT = {"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_CPU_OMP_THREADS_BIND": "nobind"}
"""On a CPU: 1 GiB of cache instead of nearly all memory, and no pinning to cores that others use."""


class VllmOptions(Part):
    """What an entry of models.yaml with ``backend: vllm`` may say.

    Attributes:
        python: the interpreter of vLLM's environment, from the workspace's root.
        dtype: part of the identity; float32 on a CPU, where bfloat16 is several times slower.
        max_model_len: most tokens of prompt and answer together; 2,048 and the longest answer by default.
        tensor_parallel: GPUs that share one copy of the weights.
        concurrency: requests handed to the engine at a time; it batches them itself.
        engine: further arguments of ``vllm.LLM``.
        environment: further environment variables of the worker.
    """

    python: str = ".venv-vllm/bin/python"
    dtype: Literal["auto", "float32", "float16", "bfloat16"] = "auto"
    device: Literal["cuda", "cpu"] = "cuda"
    max_model_len: int = 2368
    tensor_parallel: int = 1
    concurrency: int = 256
    start_s: float = 1800.0
    trust_remote_code: bool = False
    engine: JsonObject = {}
    environment: dict[str, str] = {}


class VllmBackend:
    """One model in one vLLM engine; finished answers come back one by one, each matched by its id."""

    def __init__(
        self, name: str, options: VllmOptions, source: str | Path, revision: str, identity: str, root: Path = Path()
    ) -> None:
        """Take a folder, or a hub id with its revision; ``identity`` names the weights in every request."""
        self.name = name
        self.options = options
        self.engine: dict[str, Any] = {}
        self._source = str(source)
        self._hub_revision = revision
        self._identity = identity
        self._root = root
        self._process: Process | None = None
        self._reader: asyncio.Task[None] | None = None
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._numbers = itertools.count()

    @property
    def revision(self) -> str:
        """The weights, the dtype and the engine's further arguments."""
        engine = json.dumps(self.options.engine, sort_keys=True) if self.options.engine else ""
        return "|".join(part for part in ("vllm", self._identity, self.options.dtype, engine) if part)

    @property
    def capabilities(self) -> Capabilities:
        """What the engine offers."""
        return Capabilities(
            completion=True, seed=True, logprobs=True, structured=True, concurrency=self.options.concurrency
        )

    async def __aenter__(self) -> Self:
        """Start the worker and wait until its engine is loaded.

        Raises:
            BackendError: the environment is missing, or the engine does not load.
        """
        python = self._root / self.options.python
        if not python.exists():
            raise BackendError(f"{self.name}: {python} is missing; vLLM has an environment of its own, see `make vllm`")
        own = ENVIRONMENT | (CPU_ENVIRONMENT if self.options.device == "cpu" else {}) | self.options.environment
        self._process = await asyncio.create_subprocess_exec(
            *(str(python.absolute()), str(WORKER)),
            stdin=PIPE,
            stdout=PIPE,
            env={**os.environ, **own},
            limit=LINE_LIMIT,
            start_new_session=True,  # a group of its own, so that nothing of the engine stays behind
        )
        try:
            await asyncio.wait_for(self._load(), self.options.start_s)
        except TimeoutError as error:
            await self.__aexit__()
            raise BackendError(f"{self.name}: vLLM did not load within {self.options.start_s:g} s") from error
        except BackendError:
            await self.__aexit__()
            raise
        self._reader = asyncio.create_task(self._read())
        return self

    async def _load(self) -> None:
        await self._send({"load": self._engine_arguments()})
        while line := await self._stdout.readline():
            found = json.loads(line)
            if "ready" in found:
                self.engine = found["ready"]
                return
            raise BackendError(f"{self.name}: vLLM could not load {self._source}: {found.get('failed', found)}")
        raise BackendError(f"{self.name}: vLLM's worker ended while loading {self._source}; its messages are above")

    def _engine_arguments(self) -> dict[str, Any]:
        options = self.options
        arguments: dict[str, Any] = {
            "model": self._source,
            "dtype": options.dtype,
            "max_model_len": options.max_model_len,
            "tensor_parallel_size": options.tensor_parallel,
            "trust_remote_code": options.trust_remote_code,
            "enable_prefix_caching": True,
        }
        if self._hub_revision:
            arguments["revision"] = self._hub_revision
        if options.device == "cpu":
            # a seed for each request and chunked prefill together kill the engine on a CPU
            arguments |= {"enforce_eager": True, "enable_chunked_prefill": False}
        return arguments | options.engine

    async def __aexit__(self, *exc: object) -> None:
        """End the worker and everything that it started."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            assert process.stdin is not None
            process.stdin.close()
            try:
                await asyncio.wait_for(process.wait(), 20)
            except TimeoutError:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
            self._reader = None

    async def answer(self, request: Request) -> Reply:
        """See ``Backend.answer``."""
        messages = [message.model_dump() for message in request.messages]
        found = await self._ask({"messages": messages, "sampling": request.sampling.model_dump(exclude_none=True)})
        finish = str(found["finish_reason"])
        return Reply(
            status=status_of(found["text"], finish),
            text=found["text"],
            finish_reason=finish,
            prompt_tokens=found["prompt_tokens"],
            completion_tokens=found["completion_tokens"],
        )

    async def count_tokens(self, messages: list[Message]) -> TokenCount:
        """See ``Backend.count_tokens``; by the model's own tokenizer."""
        found = await self._ask({"count": [message.model_dump() for message in messages]})
        return TokenCount(tokens=found["tokens"], exact=True)

    async def _ask(self, line: dict[str, Any]) -> dict[str, Any]:
        number = str(next(self._numbers))
        self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self._send({"id": number, **line})
            found = await self._waiting[number]
        finally:
            del self._waiting[number]
        if "error" in found:
            raise TerminalBackendError(f"{self.name}: vLLM refused the request: {found['error']}")
        return found

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
            f"{self.name}: vLLM's worker ended by itself; its messages are above, what was answered is kept",
            whole_run=True,
        )

    @property
    def _stdout(self) -> asyncio.StreamReader:
        assert self._process is not None
        assert self._process.stdout is not None
        return self._process.stdout
