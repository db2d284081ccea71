"""Models behind an OpenAI-compatible service: ChatGPT, Grok, ERNIE, DeepSeek, Qwen, any vLLM or llama.cpp server.

Files and batches go through the `openai` client. The chat completions themselves, which are asked by the million, go
over one aiohttp session: the client takes 1 ms of a core for each of them, the session 0.2 ms
(`benchmarks/inference_client.py`).
"""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self
from urllib.parse import urlsplit

from taxpraben.backends.limits import ServiceLimits
from taxpraben.backends.openai_replies import Service
from taxpraben.backends.protocol import (
    BackendError,
    Capabilities,
    Message,
    Reply,
    Request,
    TerminalBackendError,
    TokenCount,
    TransientBackendError,
    estimate_tokens,
)
from taxpraben.backends.transformers_local import prompt_ids
from taxpraben.records.base import JsonObject, Part

if TYPE_CHECKING:
    import aiohttp
    import openai


class OpenAIOptions(Part):
    """What an entry of models.yaml with ``backend: openai`` may say.

    Attributes:
        base_url: address up to and including the version (``.../v1``).
        served: the model's name at the service; the entry's own name where empty.
        api_key_env: the environment variable that holds the key; empty for servers that want none.
        revision: a word of your own for what stands behind a changing name; part of every request's identity.
        timeout_s: seconds until a call counts as lost.
        limit_key: how the service names the answer's token limit.
        send_seed: whether the service takes a seed.
        structured, logprobs, batch_api: whether the service offers JSON schemas, log probabilities, batch files.
        tokenizer: the server's own way to count tokens; ``folder`` for a tokenizer of the model's in
            ``tokenizer_folder``; ``none`` estimates from the characters.
        tokenizer_folder: a folder with the model's ``tokenizer.json`` and chat template, from the working folder.
        extra: further keys of the request's body.
    """

    base_url: str
    served: str = ""
    api_key_env: str = ""
    revision: str = ""
    timeout_s: float = 120.0
    limit_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    send_seed: bool = True
    structured: bool = True
    logprobs: bool = False
    batch_api: bool = False
    concurrency: int = 8
    tokenizer: Literal["none", "llama.cpp", "vllm", "folder"] = "none"
    tokenizer_folder: str = ""
    extra: JsonObject = {}


class OpenAIBackend:
    """One model at one OpenAI-compatible service. One call an answer; retries are the asker's.

    Attributes:
        limits: what the service's last replies said of its rate limits.
        service: how its answers are read.
    """

    def __init__(self, name: str, options: OpenAIOptions, identity: str = "", key: str = "") -> None:
        """Take the entry; ``identity`` replaces the revision where the weights are known.

        ``key`` is that of a server of our own; a service's key comes from its environment variable.
        """
        self.name = name
        self.options = options
        self.limits = ServiceLimits()
        self._served = options.served or name
        self.service = Service(name, self._served, options.api_key_env)
        self._identity = identity
        self._own_key = key
        self._client: openai.AsyncOpenAI | None = None
        self._session: aiohttp.ClientSession | None = None
        self._address = options.base_url.rstrip("/") + "/chat/completions"
        self._tokenizer: Any = None

    @property
    def revision(self) -> str:
        """The served name, the entry's revision and extra keys; not the address, which may move."""
        if self._identity:
            return self._identity
        extra = json.dumps(self.options.extra, ensure_ascii=False, sort_keys=True) if self.options.extra else ""
        return "|".join(part for part in ("openai", self._served, self.options.revision, extra) if part)

    @property
    def capabilities(self) -> Capabilities:
        """What the entry says of the service; whether it honours the seed it must say itself."""
        options = self.options
        return Capabilities(
            seed=options.send_seed,
            logprobs=options.logprobs,
            structured=options.structured,
            batch_api=options.batch_api,
            concurrency=options.concurrency,
        )

    async def __aenter__(self) -> Self:
        """Make the session.

        Raises:
            BackendError: the key's environment variable is not set.
        """
        import aiohttp
        import httpx

        variable = self.options.api_key_env
        key = os.environ.get(variable, "") if variable else self._own_key
        if variable and not key:
            raise BackendError(
                f"{self.name}: the environment variable {variable} is not set; put the service's key in it"
            )
        self.service = Service(self.name, self._served, variable, key)
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        secure = urlsplit(self.options.base_url).scheme == "https"
        self._session = aiohttp.ClientSession(
            # the certificates of the client's own library, which every platform has
            connector=aiohttp.TCPConnector(limit=0, ssl=httpx.create_ssl_context() if secure else True),
            headers=headers,
            timeout=aiohttp.ClientTimeout(total=self.options.timeout_s),
            cookie_jar=aiohttp.DummyCookieJar(),
            proxy=_proxy(self.options.base_url),
        )
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close the connections."""
        session, self._session = self._session, None
        client, self._client = self._client, None
        if session is not None:
            await session.close()
        if client is not None:
            await client.close()

    async def answer(self, request: Request) -> Reply:
        """See ``Backend.answer``."""
        return self.service.read(*await self._post(self._address, self.body(request)))

    def body(self, request: Request) -> dict[str, Any]:
        """A request as the service is sent it, alone or as a line of a batch file."""
        sampling = request.sampling
        body: dict[str, Any] = {
            "model": self._served,
            "messages": [message.model_dump() for message in request.messages],
            self.options.limit_key: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
        }
        if self.options.send_seed and sampling.seed is not None:
            body["seed"] = sampling.seed
        return body | self.options.extra

    async def _post(self, address: str, body: dict[str, Any]) -> tuple[int, bytes, Mapping[str, str]]:
        """Send a body and read the whole answer: its status, its bytes and its headers (in any case of letters)."""
        import aiohttp

        if self._session is None:
            raise BackendError(f"{self.name}: the backend is not open; use it with `async with`")
        data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        try:
            async with self._session.post(address, data=data) as response:
                found = await response.read()
                self.limits.learn(response.headers)
                return response.status, found, response.headers
        except TimeoutError as error:
            raise TransientBackendError(f"{self.name}: no answer within {self.options.timeout_s:g} s") from error
        except aiohttp.InvalidURL as error:
            raise TerminalBackendError(f"{self.name}: {address} is no address", whole_run=True) from error
        except (aiohttp.ClientError, OSError) as error:
            raise TransientBackendError(
                f"{self.name}: no connection to {self.options.base_url} ({type(error).__name__})"
            ) from error

    @property
    def client(self) -> openai.AsyncOpenAI:
        """The openai client with the entry's address and key, for what is asked once (files, batches).

        Raises:
            BackendError: the backend is not open.
        """
        import openai

        if self._session is None:
            raise BackendError(f"{self.name}: the backend is not open; use it with `async with`")
        if self._client is None:
            self._client = openai.AsyncOpenAI(
                api_key=self.service.key or "none",
                base_url=self.options.base_url,
                timeout=self.options.timeout_s,
                max_retries=4,
            )
        return self._client

    async def count_tokens(self, messages: list[Message]) -> TokenCount:
        """See ``Backend.count_tokens``; by the server's own tokenizer where the entry says how."""
        if self.options.tokenizer == "none":
            return estimate_tokens(messages)
        turns = [message.model_dump() for message in messages]
        if self.options.tokenizer == "folder":
            return TokenCount(tokens=len(prompt_ids(self._in_folder(), messages)), exact=True)
        if self.options.tokenizer == "vllm":
            found = await self._counted("/tokenize", {"model": self._served, "messages": turns})
            return TokenCount(tokens=int(found["count"]), exact=True)
        prompt = (await self._counted("/apply-template", {"messages": turns}))["prompt"]
        found = await self._counted("/tokenize", {"content": prompt, "add_special": False, "parse_special": True})
        return TokenCount(tokens=len(found["tokens"]), exact=True)

    def _in_folder(self) -> Any:
        if self._tokenizer is None:
            from transformers import AutoTokenizer

            try:
                self._tokenizer = AutoTokenizer.from_pretrained(self.options.tokenizer_folder, local_files_only=True)
            except (OSError, ValueError) as error:
                raise BackendError(
                    f"{self.name}: no tokenizer in {self.options.tokenizer_folder!r}; put the model's tokenizer files "
                    "there, or set tokenizer: none in models.yaml"
                ) from error
        return self._tokenizer

    async def _counted(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Ask the server to count, with the key that it wants for answers too."""
        address = self.options.base_url.rstrip("/").removesuffix("/v1") + path
        status, found, headers = await self._post(address, body)
        if status in (408, 409, 425, 429) or status >= 500:
            self.service.refuse(status, found, headers)  # raises: it may pass
        try:
            if status != 200:
                raise ValueError(f"HTTP {status}: {self.service.without_secrets(found.decode('utf-8', 'replace'))}")
            counted: dict[str, Any] = json.loads(found)
        except ValueError as error:
            raise BackendError(
                f"{self.name}: {address} does not count tokens ({error}); set tokenizer: none in models.yaml"
            ) from error
        return counted


def _proxy(address: str) -> str | None:
    """The proxy that the environment names for an address (HTTP_PROXY, HTTPS_PROXY, NO_PROXY), looked up once."""
    parts = urlsplit(address)
    if urllib.request.proxy_bypass(parts.hostname or ""):
        return None
    proxies = urllib.request.getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
