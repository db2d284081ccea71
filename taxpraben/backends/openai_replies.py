"""What an OpenAI-compatible service's answer means: a reply, a refusal to repeat, or one that ends the run."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from taxpraben.backends.limits import retry_after
from taxpraben.backends.protocol import Reply, TerminalBackendError, TransientBackendError, status_of

FILTER_WORDS = ("content_filter", "content filter", "content_policy", "data_inspection", "content exists risk", "敏感")
"""How services name their content filter in a 400: OpenAI and Azure, OpenAI, Alibaba, DeepSeek, Baidu."""

LENGTH_WORDS = ("context_length", "context length", "maximum context", "exceed_context_size", "too many tokens")


@dataclass(frozen=True)
class Service:
    """Whose answers are read; for messages, which hold no secret.

    Attributes:
        name: the roster's name of the model.
        served: the model's name at the service.
        key_variable: the environment variable of the key.
        key: the key itself, to be kept out of every message.
    """

    name: str
    served: str
    key_variable: str = ""
    key: str = field(default="", repr=False)

    def read(self, status: int, body: bytes, headers: Mapping[str, str]) -> Reply:
        """The reply in a response to a chat completion.

        Raises:
            TransientBackendError: asking again may help.
            TerminalBackendError: it cannot.
        """
        if status >= 300:
            return self.refuse(status, body, headers)
        try:
            completion = json.loads(body)
            if not completion.get("choices") and completion.get("error"):
                return self.refuse(_code(completion["error"]), body, headers)  # some services put refusals into a 200
            return reply_of(completion)
        except (UnicodeDecodeError, json.JSONDecodeError, LookupError, TypeError, AttributeError) as error:
            raise TransientBackendError(f"{self.name}: the reply is not a chat completion ({error})") from error

    def refuse(self, status: int, body: bytes | str, headers: Mapping[str, str]) -> Reply:
        """The row that a refused request gets, where it ends in one without being asked again.

        Raises:
            TransientBackendError: 408, 409, 425, 429 and 5xx, save an empty account.
            TerminalBackendError: everything else that is neither a content filter's nor for the prompt's length.
        """
        said = self.without_secrets(_said(body))
        low = said.lower()
        if status in (408, 409, 425) or status >= 500 or (status == 429 and "insufficient_quota" not in low):
            wait = retry_after(headers) if status in (429, 503) else None
            if status == 429 and wait is None:
                wait = 1.0
            raise TransientBackendError(f"{self.name}: HTTP {status}: {said}", retry_after=wait)
        if status in (400, 403, 451) and any(word in low for word in FILTER_WORDS):
            return Reply(status="content_filter", finish_reason="content_filter", error=f"HTTP {status}: {said}")
        if status in (400, 413, 422) and any(word in low for word in LENGTH_WORDS):
            return Reply(status="too_long", error=f"HTTP {status}: {said}")
        if status in (401, 402, 403, 404, 429):
            remedy = {
                401: f"check the key in {self.key_variable or 'api_key_env'}",
                402: "the account is empty",
                403: "the key may not use this model",
                404: f"check base_url and the served name {self.served!r} in models.yaml",
                429: "the account's quota is used up",
            }[status]
            raise TerminalBackendError(f"{self.name}: HTTP {status}: {said}; {remedy}", whole_run=True)
        raise TerminalBackendError(f"{self.name}: HTTP {status}: {said}")

    def without_secrets(self, text: str) -> str:
        """The text, short and without anything that looks like a key."""
        if self.key:
            text = text.replace(self.key, "***")
        return re.sub(r"(?i)\b(sk|xai|bce|key)-[\w*-]{6,}", "***", text)[:300]


def reply_of(completion: dict[str, Any]) -> Reply:
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


def _said(body: bytes | str) -> str:
    """What a service's error body says: code, type and message; the text itself where it is no JSON."""
    text = body if isinstance(body, str) else body.decode("utf-8", "replace")
    try:
        found = json.loads(text)
    except json.JSONDecodeError:
        return re.sub(r"<[^>]+>|\s+", " ", text).strip()
    if not isinstance(found, dict):
        return str(found)
    inner = found.get("error", found)
    if not isinstance(inner, dict):
        return str(inner)
    return " ".join(str(inner[key]) for key in ("code", "type", "message") if inner.get(key)) or text


def _code(error: object) -> int:
    """The HTTP status that an error inside a 200 stands for; what names none may pass by itself."""
    code = str(error.get("code", "")) if isinstance(error, dict) else ""
    if code.isdigit() and 400 <= int(code) < 600:
        return int(code)
    low = str(error).lower()
    return 400 if any(word in low for word in (*FILTER_WORDS, *LENGTH_WORDS)) else 500
