"""Public weights through ``vllm serve``, started for the run, for those who prefer a server to the offline engine."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from typing import Any, Self

from taxpraben.backends.managed import ManagedServer, Say, to_stderr
from taxpraben.backends.openai_api import OpenAIBackend, OpenAIOptions
from taxpraben.backends.protocol import BackendError, Capabilities, Message, Reply, Request, TokenCount
from taxpraben.backends.vllm_local import VllmSetup
from taxpraben.records.base import JsonObject

ENTRY = ("-m", "vllm.entrypoints.openai.api_server")
"""Instead of the command ``vllm serve``, which does not find its package's data in the CPU build."""


class VllmServedBackend:
    """One model behind one vLLM server of our own.

    Attributes:
        engine: once started: the server's version and its arguments.
        address, key: where it listens while it runs, up to the version (``.../v1``), and what it asks for.
    """

    def __init__(self, setup: VllmSetup, replica: int = 0, say: Say = to_stderr) -> None:
        """Take the setup, and which replica of several this is."""
        self.name = setup.name
        self.options = setup.options
        self.engine: JsonObject = {}
        self._setup = setup
        self._replica = replica
        which = f"{setup.name}-{replica}" if setup.options.replicas > 1 else setup.name
        log = setup.root / ".cache" / "servers" / f"{which}.log"
        self._server = ManagedServer(setup.name, log, setup.options.start_s, say)
        self.address = ""
        self.key = self._server.key
        self._client: OpenAIBackend | None = None

    @property
    def revision(self) -> str:
        """See ``VllmSetup.revision``."""
        return self._setup.revision("vllm serve")

    @property
    def capabilities(self) -> Capabilities:
        """What the server offers."""
        return Capabilities(
            completion=True, seed=True, logprobs=True, structured=True, concurrency=self.options.concurrency
        )

    @property
    def process_id(self) -> int:
        """The process that watches the server; 0 where none runs."""
        return self._server.process_id

    async def __aenter__(self) -> Self:
        """Start the server and wait until it is well.

        Raises:
            BackendError: the environment is missing, or the server does not come up.
        """
        python = self._setup.find_python()
        arguments = self._setup.arguments()
        environment = self._setup.environment(self._replica) | {"VLLM_API_KEY": self.key}
        root = await self._server.start(
            lambda port: [python, *ENTRY, *flags(arguments), *self._own_flags(port)], environment
        )
        self.address = f"{root}/v1"
        self._client = OpenAIBackend(
            self.name,
            OpenAIOptions(
                base_url=self.address,
                timeout_s=self.options.timeout_s,
                concurrency=self.options.concurrency,
                tokenizer="vllm",
            ),
            identity=self.revision,
            key=self.key,
        )
        await self._client.__aenter__()
        version = await asyncio.to_thread(_version, f"{root}/version", self.key)
        self.engine = {"server": "vllm serve", "vllm": version, "arguments": arguments}
        return self

    def _own_flags(self, port: int) -> list[str]:
        return [
            *("--host", "127.0.0.1", "--port", str(port), "--served-model-name", self.name),
            # else the repository's generation_config.json adds penalties that the offline engine does not
            *("--generation-config", "vllm"),
        ]

    async def __aexit__(self, *exc: object) -> None:
        """Stop the server."""
        client, self._client = self._client, None
        if client is not None:
            await client.__aexit__()
        await self._server.stop()

    async def answer(self, request: Request) -> Reply:
        """See ``Backend.answer``."""
        return await self._open.answer(request)

    async def count_tokens(self, messages: list[Message]) -> TokenCount:
        """See ``Backend.count_tokens``; by the server's tokenizer."""
        return await self._open.count_tokens(messages)

    @property
    def _open(self) -> OpenAIBackend:
        if self._client is None:
            raise BackendError(f"{self.name}: the backend is not open; use it with `async with`")
        if not self._server.running:
            raise self._server.ended()
        return self._client


def flags(arguments: dict[str, Any]) -> list[str]:
    """Arguments of ``vllm.LLM`` as flags of ``vllm serve``: ``max_model_len=8`` is ``--max-model-len 8``."""
    found: list[str] = []
    for key, value in arguments.items():
        flag = key.replace("_", "-")
        if value is True:
            found.append(f"--{flag}")
        elif value is False:
            found += [] if key == "trust_remote_code" else [f"--no-{flag}"]
        else:
            found += [f"--{flag}", json.dumps(value) if isinstance(value, (dict, list)) else str(value)]
    return found


def _version(address: str, key: str) -> str:
    asked = urllib.request.Request(address, headers={"Authorization": f"Bearer {key}"})  # noqa: S310 - our own server
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=30) as response:
        return str(json.load(response)["version"])
