"""A model's mean on a dataset or group, with its interval and the share of answers that could not be read."""

from __future__ import annotations

from typing import ClassVar, Literal

from taxpraben.records.answer import Setting
from taxpraben.records.base import Record
from taxpraben.records.score import Protocol


class Standing(Record):
    """One cell of the board.

    Attributes:
        scope: ``metric`` (one metric of a dataset), ``dataset`` (its score S, appendix F.4) or ``group``
            (plain mean of the datasets' S: KM, KU, KA, CLS, GEN, REA, overall).
        name: the dataset's or group's name.
        metric: the metric's name for scope ``metric``, else ``S``.
        mean: over runs; None where a dataset of the group is missing (a blank, never a zero).
        deviation: standard deviation over runs (n - 1); None with fewer than two runs.
        low, high: bootstrap interval over items; None where there is no mean.
        rank: 1 is best; models that the interval cannot tell apart share a rank; None without a mean.
        p_best: p-value of the paired difference from the best mean of the cell over the items that both answered
            (bootstrap, two-sided, corrected by Holm for the models of the cell); None for the best, without draws, and
            where nothing is common.
        items, runs: how many stood behind the mean.
        unread, refused, truncated, failed: shares of answers, 0 to 1 (failed: no answer came).
        missing: datasets that the group lacks, in table order.
        signature: the signatures of the metrics behind it, joined by spaces.
    """

    NAME: ClassVar[str] = "standing"
    VERSION: ClassVar[int] = 2
    KEY: ClassVar[tuple[str, ...]] = ("setting", "protocol", "scope", "name", "metric", "model")

    model: str
    setting: Setting
    protocol: Protocol
    scope: Literal["metric", "dataset", "group"]
    name: str
    metric: str
    mean: float | None
    deviation: float | None = None
    low: float | None = None
    high: float | None = None
    rank: int | None = None
    p_best: float | None = None
    items: int = 0
    runs: int = 0
    unread: float = 0.0
    refused: float = 0.0
    truncated: float = 0.0
    failed: float = 0.0
    missing: list[str] = []
    signature: str = ""
