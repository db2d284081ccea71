"""What a backend is asked, what it says, and how it fails."""

from __future__ import annotations

import hashlib
import json
from typing import Literal, Protocol, Self

from taxpraben.records.answer import AnswerStatus
from taxpraben.records.base import Part

Role = Literal["system", "user", "assistant"]


class BackendError(ValueError):
    """A backend that cannot answer; the message names the model and the remedy and holds no secret."""


class TransientBackendError(BackendError):
    """The same request may succeed later (429, 5xx, timeout, dropped connection).

    Attributes:
        retry_after: seconds that the service asks to wait, or None where it does not say.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class TerminalBackendError(BackendError):
    """Asking again cannot help.

    Attributes:
        whole_run: every other request would fail the same way (a wrong key, a model that is not there), so the
            run stops; otherwise only this request's row gets the status ``error``.
    """

    def __init__(self, message: str, whole_run: bool = False) -> None:
        super().__init__(message)
        self.whole_run = whole_run


class Message(Part):
    """One turn of a conversation."""

    role: Role
    content: str


class Sampling(Part):
    """How the answer is drawn.

    Attributes:
        max_tokens: most tokens of the answer.
        temperature: 0 takes the likeliest token each time.
        seed: passed on where the backend supports it.
    """

    max_tokens: int
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = None


class ItemView(Part):
    """What a baseline may know of an item beside the prompt; no other backend is given it.

    Attributes:
        form: the task's answer form (single, set, number, span, text, fields).
        text: the item's text.
        letters: the letters that an answer may use, in order.
        gold_size: smallest and largest number of right options.
        fields: the names of the answer's fields, in order.
        typical: the majority baseline's answer, made from the other items of the task.
    """

    form: str
    text: str
    letters: str = ""
    gold_size: tuple[int, int] = (1, 1)
    fields: list[str] = []
    typical: str = ""


class Request(Part):
    """One question to one model.

    Attributes:
        model: the roster's name of the model.
        revision: everything about the model that shapes its answers (served name, weights and their revision, dtype).
        run: the number of the repetition, from 0; equal requests of different runs are different requests.
        view: for baselines only.
    """

    model: str
    revision: str
    messages: list[Message]
    sampling: Sampling
    run: int = 0
    view: ItemView | None = None


class Reply(Part):
    """What came back.

    Attributes:
        status: ``length`` means cut at the token limit (the text is kept), ``empty`` a reply without text.
        finish_reason: the backend's own word.
        prompt_tokens, completion_tokens: as the backend counts them; -1 where it does not say.
        error: the cause, for statuses that have one.
    """

    status: AnswerStatus
    text: str = ""
    finish_reason: str = ""
    prompt_tokens: int = -1
    completion_tokens: int = -1
    error: str = ""


class TokenCount(Part):
    """A prompt's length in the model's tokens; ``exact`` is False where it was estimated from its characters."""

    tokens: int
    exact: bool


class Capabilities(Part):
    """What a backend supports.

    Attributes:
        chat: takes messages.
        completion: takes a bare text.
        seed: the seed changes a drawn answer and repeats it.
        logprobs: can tell the log probabilities of its tokens.
        structured: can be held to a JSON schema.
        batch_api: takes many requests as one file and answers them later (``/v1/files``, ``/v1/batches``).
        item_view: wants ``Request.view`` (baselines).
        concurrency: how many requests it gains from at a time where the parameters do not say.
    """

    chat: bool = True
    completion: bool = False
    seed: bool = False
    logprobs: bool = False
    structured: bool = False
    batch_api: bool = False
    item_view: bool = False
    concurrency: int = 8

    @property
    def words(self) -> list[str]:
        """What is supported, one word each, for people."""
        named = {
            "chat": self.chat,
            "completion": self.completion,
            "seed": self.seed,
            "logprobs": self.logprobs,
            "structured": self.structured,
            "batch": self.batch_api,
        }
        return [word for word, supported in named.items() if supported]


class Backend(Protocol):
    """Who answers. Used as an async context manager; requests may be asked side by side."""

    @property
    def revision(self) -> str:
        """See ``Request.revision``; known before the backend is started."""

    @property
    def capabilities(self) -> Capabilities:
        """What this backend supports."""

    async def __aenter__(self) -> Self:
        """Get ready to answer (load weights, start a server)."""

    async def __aexit__(self, *exc: object) -> None:
        """Let go of everything that was started."""

    async def answer(self, request: Request) -> Reply:
        """Ask once; no retry.

        Raises:
            TransientBackendError: asking again may help.
            TerminalBackendError: it cannot.
        """

    async def count_tokens(self, messages: list[Message]) -> TokenCount:
        """The length of these messages as the model would see them, chat template included."""


# A part is written as its attributes, which is what its own dump holds, in half the time.
_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=vars)


def request_hash(request: Request) -> str:
    """Thirty-two hex digits over everything that shaped the answer: model, revision, messages, sampling, run, view."""
    return hashlib.sha256(_CANONICAL.encode(request).encode()).hexdigest()[:32]


def estimate_tokens(messages: list[Message]) -> TokenCount:
    """A prompt's length without its tokenizer: one token a character outside ASCII, one for four ASCII characters.

    An upper estimate for models made for Chinese, which need 0.6 to 0.9 tokens a character.
    """
    text = "".join(message.content for message in messages)
    ascii_count = len(text.encode("ascii", "ignore"))
    return TokenCount(tokens=len(text) - ascii_count + -(-ascii_count // 4) + 8 * len(messages), exact=False)


def most_tokens(messages: list[Message]) -> int:
    """What a prompt is taken to need where money is at stake: a token a character, more than usual tokenizers make."""
    return sum(len(message.content) + 8 for message in messages)


def status_of(text: str, finish_reason: str) -> AnswerStatus:
    """The status of a reply that came without an error, from its text and the OpenAI-style finish reason."""
    if finish_reason == "content_filter":
        return "content_filter"
    if finish_reason == "length":
        return "length"
    return "ok" if text.strip() else "empty"
