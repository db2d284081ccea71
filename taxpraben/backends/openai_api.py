"""Models behind an OpenAI-compatible service: ChatGPT, Grok, ERNIE, DeepSeek, Qwen, any vLLM or llama.cpp server."""

from __future__ import annotations

import asyncio
import email.utils
import json
import os
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal, Self

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
    status_of,
)
from taxpraben.records.base import JsonObject, Part

if TYPE_CHECKING:
    import openai

FILTER_WORDS = ("content_filter", "content filter", "content_policy", "data_inspection", "content exists risk", "敏感")
"""How services name their content filter in a 400: OpenAI and Azure, OpenAI, Alibaba, DeepSeek, Baidu."""

LENGTH_WORDS = ("context_length", "context length", "maximum context", "exceed_context_size", "too many tokens")


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
        tokenizer: the server's own way to count tokens, or none (then prompts are measured in characters).
        extra: further keys of the request's body.
    """

    base_url: str
    served: str = ""
    api_key_env: str = ""
    revision: str = ""
    timeout_s: float = 120.0
    limit_key: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    send_seed: bool = True
    concurrency: int = 8
    tokenizer: Literal["none", "llama.cpp", "vllm"] = "none"
    extra: JsonObject = {}


class OpenAIBackend:
    """One model at one OpenAI-compatible service. One call an answer; retries are the asker's."""

    def __init__(self, name: str, options: OpenAIOptions, identity: str = "") -> None:
        """Take the entry; ``identity`` replaces the revision where the weights are known."""
        self.name = name
        self.options = options
        self._served = options.served or name
        self._identity = identity
        self._key = ""
        self._client: openai.AsyncOpenAI | None = None

    @property
    def revision(self) -> str:
        """The served name, the entry's revision and extra keys; not the address, which may move."""
        if self._identity:
            return self._identity
        extra = json.dumps(self.options.extra, ensure_ascii=False, sort_keys=True) if self.options.extra else ""
        return "|".join(part for part in ("openai", self._served, self.options.revision, extra) if part)

    @property
    def capabilities(self) -> Capabilities:
        """What the protocol offers; whether a service honours the seed it must say itself."""
        return Capabilities(seed=self.options.send_seed, structured=True, concurrency=self.options.concurrency)

    async def __aenter__(self) -> Self:
        """Make the client.

        Raises:
            BackendError: the key's environment variable is not set.
        """
        import openai

        variable = self.options.api_key_env
        self._key = os.environ.get(variable, "") if variable else ""
        if variable and not self._key:
            raise BackendError(
                f"{self.name}: the environment variable {variable} is not set; put the service's key in it"
            )
        self._client = openai.AsyncOpenAI(
            api_key=self._key or "none",
            base_url=self.options.base_url,
            timeout=self.options.timeout_s,
            max_retries=0,
        )
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def answer(self, request: Request) -> Reply:
        """See ``Backend.answer``."""
        import openai

        body = self._body(request)
        try:
            async with asyncio.timeout(self.options.timeout_s):  # the client's own limit is per read, a drip never ends
                raw = await self._open.chat.completions.with_raw_response.create(**body)
            return _reply(json.loads(raw.text))
        except (openai.APITimeoutError, TimeoutError) as error:
            raise TransientBackendError(f"{self.name}: no answer within {self.options.timeout_s:g} s") from error
        except openai.APIStatusError as error:
            return self._refused(error)
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise TransientBackendError(
                f"{self.name}: no connection to {self.options.base_url} ({type(cause).__name__})"
            ) from error
        except (json.JSONDecodeError, LookupError, TypeError, AttributeError) as error:
            raise TransientBackendError(f"{self.name}: the reply is not a chat completion ({error})") from error

    def _body(self, request: Request) -> dict[str, Any]:
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
        if self.options.extra:
            body["extra_body"] = dict(self.options.extra)
        return body

    @property
    def _open(self) -> openai.AsyncOpenAI:
        if self._client is None:
            raise BackendError(f"{self.name}: the backend is not open; use it with `async with`")
        return self._client

    def _refused(self, error: openai.APIStatusError) -> Reply:
        status = error.status_code
        said = self._without_secrets(_said(error.body) or error.message)
        low = said.lower()
        if status in (408, 409, 425) or status >= 500 or (status == 429 and "insufficient_quota" not in low):
            wait = retry_after(dict(error.response.headers)) if status in (429, 503) else None
            if status == 429 and wait is None:
                wait = 1.0
            raise TransientBackendError(f"{self.name}: HTTP {status}: {said}", retry_after=wait) from error
        if status in (400, 403, 451) and any(word in low for word in FILTER_WORDS):
            return Reply(status="content_filter", finish_reason="content_filter", error=f"HTTP {status}: {said}")
        if status in (400, 413, 422) and any(word in low for word in LENGTH_WORDS):
            return Reply(status="too_long", error=f"HTTP {status}: {said}")
        if status in (401, 402, 403, 404, 429):
            remedy = {
                401: f"check the key in {self.options.api_key_env or 'api_key_env'}",
                402: "the account is empty",
                403: "the key may not use this model",
                404: f"check base_url and the served name {self._served!r} in models.yaml",
                429: "the account's quota is used up",
            }[status]
            raise TerminalBackendError(f"{self.name}: HTTP {status}: {said}; {remedy}", whole_run=True) from error
        raise TerminalBackendError(f"{self.name}: HTTP {status}: {said}") from error

    def _without_secrets(self, text: str) -> str:
        if self._key:
            text = text.replace(self._key, "***")
        return re.sub(r"(?i)\b(sk|xai|bce|key)-[\w*-]{6,}", "***", text)[:300]

    async def count_tokens(self, messages: list[Message]) -> TokenCount:
        """See ``Backend.count_tokens``; by the server's own tokenizer where the entry says how."""
        if self.options.tokenizer == "none":
            return estimate_tokens(messages)
        turns = [message.model_dump() for message in messages]
        if self.options.tokenizer == "vllm":
            found = await self._post("/tokenize", {"model": self._served, "messages": turns})
            return TokenCount(tokens=int(found["count"]), exact=True)
        prompt = (await self._post("/apply-template", {"messages": turns}))["prompt"]
        found = await self._post("/tokenize", {"content": prompt, "add_special": False, "parse_special": True})
        return TokenCount(tokens=len(found["tokens"]), exact=True)

    async def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        import httpx

        address = self.options.base_url.rstrip("/").removesuffix("/v1") + path
        try:
            async with httpx.AsyncClient(timeout=self.options.timeout_s, trust_env=False) as client:
                response = await client.post(address, json=body)
                response.raise_for_status()
        except httpx.HTTPError as error:
            raise BackendError(
                f"{self.name}: {address} does not count tokens ({error}); set tokenizer: none"
            ) from error
        found: dict[str, Any] = response.json()
        return found


def _reply(completion: dict[str, Any]) -> Reply:
    """The reply in a chat completion's JSON; null content counts as no text, absent usage as unknown."""
    choice = completion["choices"][0]
    message = choice.get("message") or {}
    text = message.get("content") or ""
    finish = choice.get("finish_reason") or ""
    usage = completion.get("usage") or {}
    refusal = message.get("refusal") or ""
    status = "refused" if refusal and not text else status_of(text, finish)
    return Reply(
        status=status,
        text=text or refusal,
        finish_reason=finish,
        prompt_tokens=int(usage.get("prompt_tokens", -1)),
        completion_tokens=int(usage.get("completion_tokens", -1)),
        error="the service's content filter cut the answer" if status == "content_filter" else "",
    )


def _said(body: object) -> str:
    """What a service's error body says: code and message."""
    if not isinstance(body, dict):
        return ""
    inner = body.get("error", body)
    if not isinstance(inner, dict):
        return str(inner)
    return " ".join(str(inner[key]) for key in ("code", "type", "message") if inner.get(key))


def retry_after(headers: dict[str, str]) -> float | None:
    """Seconds to wait by a response's headers (Retry-After in seconds or as a date, retry-after-ms), or None."""
    low = {name.lower(): value for name, value in headers.items()}
    try:
        if "retry-after-ms" in low:
            return max(0.0, float(low["retry-after-ms"]) / 1000)
        value = low["retry-after"]
    except (KeyError, ValueError):
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        when = email.utils.parsedate_tz(value)
        if when is None:
            return None
        return max(0.0, email.utils.mktime_tz(when) - datetime.now(UTC).timestamp())
