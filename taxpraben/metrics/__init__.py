"""Metrics, one module each, found by their module's name."""

from taxpraben.metrics.base import Metric, MetricError, Pair, PairScore, find_metric, metric_class, metric_names

__all__ = ["Metric", "MetricError", "Pair", "PairScore", "find_metric", "metric_class", "metric_names"]
