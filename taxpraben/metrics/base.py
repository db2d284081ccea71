"""What a metric is: its name, direction and kind, its values, its scale, and the signature of its figures.

A metric is one module of this package that ends in ``METRIC = ItsClass``; the module's name is the metric's name.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

_PACKAGE = "taxpraben.metrics"
Kind = Literal["values", "labels", "texts"]
Compared = Literal["letters", "number", "span", "label", "text"]
Progress = Callable[[int, int], None]
"""Called with pairs done and pairs in all."""


class MetricError(ValueError):
    """A metric's name or parameter that is wrong; the message suggests the right one."""


class Pair(BaseModel):
    """One comparison.

    Attributes:
        reference: the gold answer: sorted letters, a decimal, a label or a text.
        candidate: what was read; None where nothing was.
        compared: what the two are compared as.
    """

    model_config = ConfigDict(frozen=True)

    reference: str
    candidate: str | None
    compared: Compared


class PairScore(BaseModel):
    """A metric's value on one pair.

    Attributes:
        value: in the metric's own range; None for metrics that exist only over a list.
        flags: ``unread`` and ``empty`` where there was nothing to compare, ``truncated`` where a text was cut,
            ``windowed`` where it was taken in overlapping stretches.
    """

    model_config = ConfigDict(frozen=True)

    value: float | None
    flags: tuple[str, ...] = ()


class Metric(BaseModel):
    """A metric with its parameters, which are its fields.

    Attributes:
        KIND: ``values`` give a value a pair and are averaged; ``labels`` exist over a list of letter answers only;
            ``texts`` give a value a pair of texts.
        WORST: the value of a pair without a candidate.
        RANGE: the lowest and the highest value; check closes its border to values outside.

    What rank and check need (kind, range, scale) is of the class, so that neither has to know the parameters.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    KIND: ClassVar[Kind]
    DIRECTION: ClassVar[Literal["higher"]] = "higher"
    WORST: ClassVar[float] = 0.0
    RANGE: ClassVar[tuple[float, float]] = (0.0, 1.0)

    @property
    def name(self) -> str:
        """The metric's name: that of its module."""
        return type(self).__module__.rpartition(".")[2]

    @property
    def independent(self) -> bool:
        """Whether a pair's value depends on that pair alone, so that it may be kept and computed in any company."""
        return True

    def signature(self) -> str:
        """What made a value of this metric: the name and everything that shapes it, joined by ``|``, without blanks."""
        return self.name

    def prepare(self, folder: Path | None = None) -> None:
        """Called once before the first pair and the first signature.

        Args:
            folder: where the metric may keep what other processes can use again; None keeps nothing on disk.
        """
        del folder

    @abstractmethod
    def score_pairs(self, pairs: Sequence[Pair], progress: Progress | None = None) -> list[PairScore]:
        """A score for each pair, in their order."""

    @classmethod
    def to_unit(cls, value: np.ndarray[Any, Any] | float) -> Any:
        """Means of this metric on the scale from 0 to 1 that dataset scores are made on (appendix F.4)."""
        return value

    def aggregate(self, pairs: Sequence[Pair], labels: str = "") -> float | None:
        """The metric over a list: the mean of its values. None for an empty list.

        Args:
            pairs: the comparisons.
            labels: the task's letters; used by metrics of kind ``labels``.
        """
        del labels
        values = [score.value for score in self.score_pairs(pairs) if score.value is not None]
        return float(np.mean(values)) if values else None


def metric_names() -> tuple[str, ...]:
    """The names of all metrics: the modules of this package that have a ``METRIC``."""
    return _names(tuple(importlib.import_module(_PACKAGE).__path__))


@cache
def _names(folders: tuple[str, ...]) -> tuple[str, ...]:
    names = [info.name for info in pkgutil.iter_modules(folders)]
    return tuple(name for name in sorted(names) if hasattr(importlib.import_module(f"{_PACKAGE}.{name}"), "METRIC"))


def metric_class(name: str, where: str = "") -> type[Metric]:
    """The class of the metric of this name: its kind, range and scale, for which no parameter is needed.

    Args:
        name: the module's name.
        where: the file that names it, for the error message.

    Raises:
        MetricError: no such metric; the message suggests the nearest one.
    """
    if name not in metric_names():
        place = f" in {where}" if where else ""
        raise MetricError(f"Unknown metric {name!r}{place}{_suggestion(name, metric_names())}")
    found: type[Metric] = importlib.import_module(f"{_PACKAGE}.{name}").METRIC
    return found


def find_metric(name: str, params: dict[str, Any] | None = None, where: str = "") -> Metric:
    """The metric of this name with these parameters.

    Args:
        name: the module's name.
        params: values for the metric's fields; defaults hold for the rest.
        where: the file that names it, for the error message.

    Raises:
        MetricError: no such metric or parameter; the message suggests the nearest one.
    """
    kind = metric_class(name, where)
    try:
        return kind.model_validate(params or {})
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(step) for step in first["loc"])
        hint = _suggestion(key, tuple(kind.model_fields)) if first["type"] == "extra_forbidden" else ""
        place = f" in {where}" if where else ""
        raise MetricError(f"Metric {name!r}{place}: parameter {key!r}: {first['msg']}{hint}") from error


def _suggestion(name: str, known: Sequence[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(known)}"
