"""Runs a suite through Great Expectations over rows in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from stages.check.rules import Row, Rule, Suite
from taxpraben.records.check import CheckedExpectation, CheckedSuite, FailingRow

_VALUE_LENGTH = 120


@dataclass(frozen=True)
class Validated:
    """A suite's outcome, and Great Expectations' own result as a JSON object (it holds times)."""

    checked: CheckedSuite
    result: dict[str, Any]


def validate(suite: Suite, rows: Sequence[Row], file: str, failing_rows: int) -> Validated:
    """Check rows against a suite.

    Args:
        suite: what must hold.
        rows: dictionaries with at least the suite's columns; ``row`` is the row's id.
        file: where the rows come from, relative to the workspace.
        failing_rows: how many failing rows to name for one expectation.

    Returns:
        One outcome for each rule, in order.

    Raises:
        RuntimeError: an expectation could not be evaluated at all (a fault of the suite, not of the rows).
    """
    import pandas as pd

    gx, context = _great_expectations()
    frame = pd.DataFrame({column: [row[column] for row in rows] for column in suite.columns})
    asset = context.data_sources.add_or_update_pandas("rows").add_dataframe_asset(suite.name)
    batch = asset.add_batch_definition_whole_dataframe(suite.part or suite.name).get_batch({"dataframe": frame})
    expectations = gx.ExpectationSuite(name=f"{suite.name} {suite.part}".strip())
    for number, rule in enumerate(suite.rules):
        expectations.add_expectation_configuration(_configuration(rule, number))
    outcome = batch.validate(
        expectations,
        result_format={
            "result_format": "COMPLETE",
            "unexpected_index_column_names": ["row"],
            "return_unexpected_index_query": False,
        },
    )
    by_number = {found.expectation_config.meta["number"]: found.to_json_dict() for found in outcome.results}
    checked = [_checked(rule, suite, by_number[number], failing_rows) for number, rule in enumerate(suite.rules)]
    return Validated(
        CheckedSuite(suite=suite.name, part=suite.part, file=file, rows=len(rows), expectations=checked),
        outcome.to_json_dict(),
    )


@cache
def _great_expectations() -> tuple[Any, Any]:
    """The library, imported late (six seconds), and a context in memory; our own expectation is registered."""
    import great_expectations as gx
    import great_expectations.expectations as gxe
    from great_expectations.data_context.types.base import (
        DataContextConfig,
        InMemoryStoreBackendDefaults,
        ProgressBarsConfig,
    )

    class ExpectColumnValuesToStateNoProblem(gxe.ExpectColumnValuesToBeInSet):  # type: ignore[misc]
        """A problem column holds empty texts only; any other text is what is wrong with its row."""

        value_set: list[str] = [""]

    # Defining the class registered it; expectations are found there by their type's name.
    del ExpectColumnValuesToStateNoProblem
    config = DataContextConfig(
        # The library's own pages would go to a temporary folder; ours are written by ``docs``.
        store_backend_defaults=InMemoryStoreBackendDefaults(init_temp_docs_sites=False),
        progress_bars=ProgressBarsConfig(globally=False),
        analytics_enabled=False,
    )
    return gx, gx.get_context(mode="ephemeral", project_config=config)


def _configuration(rule: Rule, number: int) -> Any:
    from great_expectations.expectations.expectation_configuration import ExpectationConfiguration

    kwargs = {**rule.kwargs, **({"column": rule.column} if rule.column else {})}
    return ExpectationConfiguration(
        type=rule.expectation,
        kwargs={key: value for key, value in kwargs.items() if value is not None},
        meta={"number": number, "zh": rule.zh, "en": rule.en},
        severity="critical" if rule.severity == "failure" else "warning",
    )


def _checked(rule: Rule, suite: Suite, found: dict[str, Any], failing_rows: int) -> CheckedExpectation:
    if found["exception_info"].get("raised_exception"):
        message = found["exception_info"].get("exception_message")
        raise RuntimeError(f"suite {suite.name!r}, column {rule.column!r}: {rule.expectation} raised: {message}")
    result = found["result"]
    unexpected = int(result.get("unexpected_count", 0 if found["success"] else 1))
    checked = int(result.get("element_count", 0)) - int(result.get("missing_count", 0) or 0)
    pairs = result.get("unexpected_index_list") or []
    failing = [
        FailingRow(row=str(pair["row"]), value=_short(pair.get(rule.column, ""))) for pair in pairs[:failing_rows]
    ]
    return CheckedExpectation(
        expectation=rule.expectation,
        column=rule.column,
        zh=rule.zh,
        en=rule.en,
        severity=rule.severity,
        success=bool(found["success"]),
        checked=checked,
        unexpected=unexpected,
        observed=_observed(result, checked, unexpected),
        failing=failing,
        remedy=rule.remedy or suite.remedy,
    )


def _observed(result: dict[str, Any], checked: int, unexpected: int) -> str:
    if "observed_value" in result:
        value = result["observed_value"]
        return f"{value:.4g}" if isinstance(value, float) else str(value)
    if not unexpected:
        return f"all {checked} as expected" if checked else "nothing to look at"
    return f"{unexpected} of {checked} ({100 * unexpected / checked:.1f} %) not as expected"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) <= _VALUE_LENGTH else text[: _VALUE_LENGTH - 1] + "…"
