"""Two models item by item: `taxpraben compare`. Expected values by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

from stages.rank.columns import from_table
from stages.rank.comparison import Compared, compare_models, comparison_text
from stages.rank.datasets import RankError
from stages.rank.params import RankParams
from taxpraben.metrics import metric_class
from taxpraben.records.score import Score
from tests.rank.test_standings import TASKS, calc_rows, whole_model

PARAMS = RankParams(draws=400, seed=3)


def compared(rows: list[Score], first: str = "m", second: str = "n") -> dict[str, Compared]:
    """The comparison of two models by name of dataset or group."""
    table = pa.Table.from_pylist([one.model_dump() for one in rows], schema=Score.arrow_schema())
    found = compare_models(from_table(table), first, second, TASKS, metric_class, {}, PARAMS)
    return {row.name: row for row in found}


def test_means_and_difference_are_over_the_items_that_both_answered() -> None:
    # m answered 20 items, n the first 10 of them: there m is right 8 times, n 4 times, on items of m's.
    rows = [
        *calc_rows("m", {n: float(n not in (0, 1)) for n in range(20)}),
        *calc_rows("n", {n: float(n in (2, 3, 4, 5)) for n in range(10)}),
    ]
    row = compared(rows)["TaxCalc"]
    assert (row.items, row.first, row.second) == (10, pytest.approx(0.8), pytest.approx(0.4))
    assert row.difference == pytest.approx(0.4)
    assert row.low is not None
    assert row.high is not None
    assert row.low <= 0.4 <= row.high
    # The differences are 0 or 1, so a draw lies at 0 only where none of the four items was drawn: (6/10)^10 = 0.6 %.
    assert row.p is not None
    assert row.p < 0.05


def test_the_other_way_round_gives_the_same_p_and_the_mirrored_interval() -> None:
    rows = [
        *calc_rows("m", {n: float(n % 3 != 0) for n in range(30)}),
        *calc_rows("n", {n: float(n % 4 != 0) for n in range(30)}),
    ]
    there, back = compared(rows)["TaxCalc"], compared(rows, "n", "m")["TaxCalc"]
    assert there.difference == pytest.approx(-back.difference)
    assert (there.low, there.high) == (pytest.approx(-(back.high or 0)), pytest.approx(-(back.low or 0)))
    assert there.p == back.p


def test_p_values_are_corrected_for_the_number_of_datasets() -> None:
    rows = [*whole_model("m", 1.0, items=10), *whole_model("n", 0.0, items=10)]
    found = compared(rows)
    row = found["TaxRisk"]
    assert row.p == pytest.approx(2 / 401)
    assert row.p_corrected == pytest.approx(14 * 2 / 401)
    assert found["overall"].difference == pytest.approx(1.0)
    assert found["overall"].p_corrected == pytest.approx(7 * 2 / 401)


def test_a_dataset_of_two_items_differs_for_nobody() -> None:
    found = compared([*whole_model("m", 1.0, items=2), *whole_model("n", 0.0, items=2)])
    assert (found["TaxRisk"].difference, found["TaxRisk"].p) == (pytest.approx(1.0), 0.5)
    # All 28 items together do say something.
    assert found["overall"].p == pytest.approx(2 / 401)


def test_a_group_that_one_of_them_lacks_a_dataset_of_is_left_out() -> None:
    found = compared([*whole_model("m", 1.0), *whole_model("n", 1.0, skip="TaxRisk")])
    assert "TaxRisk" not in found
    assert {"KM", "KU", "REA", "CLS"} <= found.keys()
    assert not {"overall", "KA", "GEN"} & found.keys()


def test_the_table_marks_what_differs_and_states_the_correction() -> None:
    rows = [*whole_model("m", 1.0), *whole_model("n", 0.0)]
    text = comparison_text(list(compared(rows).values()), "m", "n", 0.95)
    line = next(line for line in text.splitlines() if line.startswith("overall"))
    assert line.split() == ["overall", "14", "1.000", "0.000", "+1.000", "[+1.000,", "+1.000]", "0.005", "0.035", "*"]
    assert "corrected by Holm for the number of datasets" in text.replace("\n", " ")


def test_models_without_common_items_and_a_model_with_itself_are_refused() -> None:
    rows = [*calc_rows("m", {0: 1.0}), *calc_rows("n", {1: 1.0})]
    with pytest.raises(RankError, match="answered no item in common"):
        compared(rows)
    with pytest.raises(RankError, match="compared with itself"):
        compared(rows, "m", "m")
