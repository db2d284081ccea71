"""An answer turned into what the task asks for, or a stated reason why not."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import JsonValue

from taxpraben.records.answer import Setting
from taxpraben.records.base import Record

ReadingStatus = Literal["read", "unread", "refused", "truncated", "reader_error"]
ReadingMethod = Literal["", "strict", "rules", "model"]


class Reading(Record):
    """The reading of one answer.

    Attributes:
        value: sorted letters (``"AC"``), a decimal as text (``"-72.75"``), a text, or an object of field name to
            text (None where the field is absent); None where nothing could be read.
        strict_value: the same where the answer as given is in the asked form, else None (protocol ``strict``).
        method: how ``value`` was read; empty when unread.
        evidence: the stretch of the answer that the value stands in.
        reason: why it is unread, refused or a reader error; empty when read.
        flags: what a reader should know (for example ``json_repaired``, ``length``).
    """

    NAME: ClassVar[str] = "reading"
    VERSION: ClassVar[int] = 1
    KEY: ClassVar[tuple[str, ...]] = ("model", "task", "setting", "run", "item_id")

    item_id: str
    task: str
    model: str
    setting: Setting
    run: int
    request: str
    status: ReadingStatus
    value: JsonValue | None
    strict_value: JsonValue | None
    method: ReadingMethod
    evidence: str = ""
    reason: str = ""
    flags: list[str] = []
