"""What a model under test said, raw."""

from __future__ import annotations

from typing import ClassVar, Literal

from taxpraben.records.base import Record

Setting = Literal["zero-shot", "one-shot"]
AnswerStatus = Literal["ok", "length", "empty", "refused", "content_filter", "too_long", "error"]
SETTINGS: tuple[Setting, ...] = ("zero-shot", "one-shot")


class Answer(Record):
    """One raw answer, for one item, setting and run.

    Attributes:
        request: hash of everything that shaped the answer (model and revision, messages, parameters, run).
        prompt: the messages as sent, as JSON text.
        status: ``length`` means cut at the token limit (the text is kept); ``too_long`` was never asked.
        error: the cause for ``error``, ``content_filter`` and ``too_long``, without secrets.
        prompt_tokens, completion_tokens: as the backend counts them; -1 where it does not say.
    """

    NAME: ClassVar[str] = "answer"
    VERSION: ClassVar[int] = 1
    KEY: ClassVar[tuple[str, ...]] = ("model", "task", "setting", "run", "item_id")

    item_id: str
    task: str
    model: str
    setting: Setting
    run: int
    request: str
    prompt: str
    status: AnswerStatus
    text: str
    finish_reason: str = ""
    error: str = ""
    prompt_tokens: int = -1
    completion_tokens: int = -1
