"""Metrics with intervals over outputs from anywhere: what `taxpraben score FILE` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field

from cli.outside_rows import DEFAULT_METRICS, Said
from stages.rank.listed import Measured, in_unit, mean_of, measure_labels, measure_values
from stages.rank.params import RankParams
from stages.score.values import Values
from taxpraben.metrics import Metric, MetricError, Pair
from taxpraben.metrics.confusion import LabelMetric
from taxpraben.records.score import PROTOCOLS, Protocol
from taxpraben.tasks.spec import LETTERS

ValuesOf = Callable[[Metric, Sequence[Pair]], Values]
FIELD_SCORE = "field_score"


@dataclass(frozen=True)
class Line:
    """One figure.

    Attributes:
        group: the rows' task, or their form where they name none.
        field: the field that was compared; empty for whole answers and for means over fields.
        found: by protocol; strict is missing where the rows do not say how they were read.
        rows, items: how many stood behind it.
        shares: shares of rows by status, 0 to 1, without ``read``.
        flags: counts of ``empty``, ``truncated``, ``windowed`` in the aligned protocol.
    """

    group: str
    metric: str
    field: str
    found: Mapping[Protocol, Measured]
    rows: int
    items: int
    shares: Mapping[str, float]
    signature: str
    flags: Mapping[str, int] = dataclass_field(default_factory=dict)

    @property
    def cost(self) -> float | None:
        """Aligned minus strict, where both are known."""
        if len(self.found) < len(PROTOCOLS):
            return None
        return self.found["aligned"].value - self.found["strict"].value


def metrics_for(rows: Sequence[Said], chosen: Sequence[str]) -> list[str]:
    """The names of the metrics that these rows call for: the chosen ones, or each form's own."""
    return list(chosen) or list(dict.fromkeys(name for row in rows for name in DEFAULT_METRICS[row.form]))


def measure_rows(
    rows: Sequence[Said], metrics: Mapping[str, Metric], values_of: ValuesOf, params: RankParams
) -> list[Line]:
    """Every metric that fits, for each task (or form) of the rows.

    Args:
        rows: rows after reading.
        metrics: the metrics by name, in the order of the figures.
        values_of: a metric's values of pairs.
        params: draws, level and seed of the intervals.

    Raises:
        MetricError: none of the metrics fits the rows of some group.
    """
    lines: list[Line] = []
    for group in dict.fromkeys(row.group for row in rows):
        own = [row for row in rows if row.group == group]
        form = own[0].form
        found: list[Line] = []
        for name, metric in metrics.items():
            if form == "fields":
                found += _field_lines(group, own, metric, values_of, params)
            elif _fits(metric, name, form):
                found.append(_whole_line(group, own, metric, values_of, params))
        if not found:
            raise MetricError(f"none of {', '.join(metrics)} fits the {len(own)} rows of form {form!r} ({group})")
        lines += found
        if form == "fields":
            lines += _field_score(group, own, found, metrics, params)
    return lines


def _fits(metric: Metric, name: str, form: str) -> bool:
    if metric.KIND == "labels" or name == "accuracy":
        return form in ("single", "set")
    return form in ("text", "span") if metric.KIND == "texts" else form != "text"


def _whole_line(group: str, rows: Sequence[Said], metric: Metric, values_of: ValuesOf, params: RankParams) -> Line:
    items = [row.item for row in rows]
    letters = "".join(sorted({letter for row in rows for letter in row.letters})) or LETTERS
    found: dict[Protocol, Measured] = {}
    flags: Counter[str] = Counter()
    signature = metric.signature()
    for protocol in _protocols(rows):
        pairs = [row.pairs[protocol][0][1] for row in rows]
        if isinstance(metric, LabelMetric):
            found[protocol] = measure_labels(type(metric), pairs, items, letters, params, group)
            continue
        values = values_of(metric, pairs)
        signature = values.signature
        found[protocol] = measure_values([values.scores[pair].value for pair in pairs], items, params, group)
        if protocol == "aligned":
            flags.update(flag for pair in pairs for flag in values.scores[pair].flags)
    return Line(group, metric.name, "", found, len(rows), len(set(items)), _shares(rows), signature, flags)


def _field_lines(
    group: str, rows: Sequence[Said], metric: Metric, values_of: ValuesOf, params: RankParams
) -> list[Line]:
    """The metric on each field that it fits, and the mean over these fields, within the item first."""
    if metric.KIND == "labels" or metric.name == "accuracy":
        return []
    texts = metric.KIND == "texts"
    names = list(
        dict.fromkeys(name for row in rows for name, pair in row.pairs["aligned"] if (pair.compared == "text") == texts)
    )
    if not names:
        return []
    items = [row.item for row in rows]
    by_field: dict[str, dict[Protocol, Measured]] = {name: {} for name in names}
    whole: dict[Protocol, Measured] = {}
    flags: Counter[str] = Counter()
    for protocol in _protocols(rows):
        sides = [dict(row.pairs[protocol]) for row in rows]
        values = values_of(metric, [side[name] for side in sides for name in names if name in side])
        cells = [{name: values.scores[side[name]].value for name in names if name in side} for side in sides]
        for name in names:
            by_field[name][protocol] = measure_values([cell.get(name) for cell in cells], items, params, group)
        means = [_mean([value for value in cell.values() if value is not None]) for cell in cells]
        whole[protocol] = measure_values(means, items, params, group)
        if protocol == "aligned":
            flags.update(flag for side in sides for name in names if name in side
                         for flag in values.scores[side[name]].flags)  # fmt: skip
    signature, shares, distinct = metric.signature(), _shares(rows), len(set(items))
    lines = [Line(group, metric.name, name, by_field[name], len(rows), distinct, shares, signature) for name in names]
    return [*lines, Line(group, metric.name, "", whole, len(rows), distinct, shares, signature, flags)]


def _field_score(
    group: str, rows: Sequence[Said], lines: Sequence[Line], metrics: Mapping[str, Metric], params: RankParams
) -> list[Line]:
    """The mean of two groups: numbers and labels, and texts by the first metric of texts (as RiskScore and its kin)."""
    wholes = [line for line in lines if not line.field]
    parts = [line for line in wholes if metrics[line.metric].KIND == "values"][:1]
    parts += [line for line in wholes if metrics[line.metric].KIND == "texts"][:1]
    found = {
        protocol: mean_of([in_unit(part.found[protocol], type(metrics[part.metric]), params) for part in parts], params)
        for protocol in parts[0].found
    }
    signature = " ".join(part.signature for part in parts)
    return [Line(group, FIELD_SCORE, "", found, len(rows), parts[0].items, parts[0].shares, signature)]


def _protocols(rows: Sequence[Said]) -> list[Protocol]:
    return [protocol for protocol in PROTOCOLS if all(protocol in row.pairs for row in rows)]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def _shares(rows: Sequence[Said]) -> dict[str, float]:
    counts = Counter(row.status for row in rows)
    return {
        status: counts[status] / len(rows) for status in ("unread", "refused", "truncated", "reader_error")
    }  # fmt: skip
