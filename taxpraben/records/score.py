"""One metric on one reading."""

from __future__ import annotations

from typing import ClassVar, Literal

from taxpraben.records.answer import Setting
from taxpraben.records.base import Record
from taxpraben.records.reading import ReadingStatus

Protocol = Literal["strict", "aligned"]
PROTOCOLS: tuple[Protocol, ...] = ("strict", "aligned")


class Score(Record):
    """A metric's value on one reading.

    Attributes:
        metric: the metric's name; a metric of whole label lists (F1) gives no value a row but gold and predicted.
        field: the field that was compared, or empty for the whole answer.
        value: in the metric's own range, higher is better; None for metrics that exist only over a list.
        gold, predicted: sorted letters for label metrics (predicted empty when unread), else empty.
        signature: what made the value, for example ``bertscore|<model>@<rev>|layer|idf:no|v…``.
        status: the reading's status, so that shares can be shown beside a mean.
        flags: for example ``empty``, ``truncated``.
    """

    NAME: ClassVar[str] = "score"
    VERSION: ClassVar[int] = 1
    KEY: ClassVar[tuple[str, ...]] = ("model", "task", "setting", "run", "protocol", "metric", "field", "item_id")

    item_id: str
    task: str
    model: str
    setting: Setting
    run: int
    protocol: Protocol
    metric: str
    field: str = ""
    value: float | None
    gold: str = ""
    predicted: str = ""
    signature: str
    status: ReadingStatus
    flags: list[str] = []
