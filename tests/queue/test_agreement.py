"""Agreement figures against published and hand-computed tables."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from taxpraben.queue.agreement import agreement, averaged

# Fleiss (1971) as worked through in many texts: 10 units, 14 raters, 5 categories; kappa 0.210 (three decimals).
FLEISS = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
]

# Krippendorff, "Computing Krippendorff's alpha-reliability" (2011), section C: four observers, twelve units, missing
# values; alpha 0.743 nominal, 0.815 ordinal.
_OBSERVERS = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]
KRIPPENDORFF = [
    [None if mark == "." else int(mark) for mark in marks]
    for marks in zip(*(line.split() for line in _OBSERVERS), strict=True)
]


def test_kappa_of_fleiss_own_example_is_0_210() -> None:
    ratings = [[category for category, count in enumerate(row) for _ in range(count)] for row in FLEISS]
    assert agreement(ratings).kappa == pytest.approx(0.210, abs=5e-4)


def test_alpha_of_krippendorffs_own_example_is_0_743_nominal_and_0_815_ordinal() -> None:
    assert agreement(KRIPPENDORFF, "nominal").alpha == pytest.approx(0.743, abs=5e-4)
    assert agreement(KRIPPENDORFF, "ordinal").alpha == pytest.approx(0.815, abs=5e-4)


def test_kappa_is_left_out_where_units_have_different_numbers_of_ratings() -> None:
    figures = agreement(KRIPPENDORFF)
    assert figures.kappa is None
    assert "same number" in figures.note


def test_raters_who_all_give_three_have_no_kappa_nor_alpha_but_full_percent_agreement() -> None:
    figures = agreement([[3, 3, 3]] * 20, "ordinal")
    assert (figures.kappa, figures.alpha, figures.percent) == (None, None, 1.0)
    assert "no variance" in figures.note
    assert json.loads(json.dumps(asdict(figures)))["alpha"] is None


def test_one_dissent_among_twenty_five_gives_alpha_zero_beside_a_high_percent_agreement() -> None:
    # 12 pairs (3, 3) and one pair (3, 1): by hand Do = 2/26 and De = 2*25*1/(26*25) = 2/26, so alpha = 0;
    # 12 of 13 pairs are equal.
    figures = agreement([[3, 3]] * 12 + [[3, 1]])
    assert figures.alpha == pytest.approx(0.0, abs=1e-12)
    assert figures.percent == pytest.approx(12 / 13)


def test_two_raters_who_always_differ_have_negative_agreement() -> None:
    # Two units (a, b): P = 0, Pe = 1/2, kappa = -1; by hand alpha = 1 - 1 / (4/6) = -0.5.
    figures = agreement([["a", "b"], ["b", "a"]])
    assert figures.kappa == pytest.approx(-1.0)
    assert figures.alpha == pytest.approx(-0.5)


def test_units_with_a_single_rating_say_nothing() -> None:
    figures = agreement([[1, None], [None, 2]])
    assert (figures.units, figures.kappa, figures.alpha, figures.percent) == (0, None, None, None)


def test_the_mean_of_three_metrics_is_undefined_where_one_is() -> None:
    one, other = agreement([[3, 3], [1, 1]]), agreement([[3, 3], [3, 3]])
    assert averaged([one, one]).kappa == pytest.approx(1.0)
    assert averaged([one, other]).kappa is None
    assert averaged([one, other]).percent == pytest.approx(1.0)


# Twelve units, three raters, marks 0 to 3; made up for the comparison of libraries.
MARKS = [
    [3, 3, 2], [2, 2, 2], [3, 3, 3], [1, 2, 1], [0, 0, 1], [3, 2, 3],
    [2, 2, 3], [1, 1, 1], [3, 3, 3], [0, 1, 0], [2, 3, 2], [3, 3, 3],
]  # fmt: skip


def by_hand_kappa(rows: list[list[int]]) -> float:
    """Fleiss' formula, written out."""
    raters, values = len(rows[0]), sorted({value for row in rows for value in row})
    counts = [[row.count(value) for value in values] for row in rows]
    each = [(sum(count * count for count in row) - raters) / (raters * (raters - 1)) for row in counts]
    shares = [sum(column) / (len(rows) * raters) for column in zip(*counts, strict=True)]
    observed, chance = sum(each) / len(each), sum(share * share for share in shares)
    return (observed - chance) / (1 - chance)


def by_hand_alpha(rows: list[list[int]], ordinal: bool) -> float:
    """Krippendorff's formula over the coincidence matrix, written out (no missing values)."""
    values = sorted({value for row in rows for value in row})
    together: dict[tuple[int, int], float] = {}
    for row in rows:
        for first, one in enumerate(row):
            for second, other in enumerate(row):
                if first != second:
                    together[one, other] = together.get((one, other), 0.0) + 1 / (len(row) - 1)
    total = {value: sum(together.get((value, other), 0.0) for other in values) for value in values}

    def far(one: int, other: int) -> float:
        if not ordinal:
            return float(one != other)
        low, high = sorted((one, other))
        between = sum(total[value] for value in values if low <= value <= high)
        return (between - (total[low] + total[high]) / 2) ** 2

    size = sum(total.values())
    seen = sum(count * far(*pair) for pair, count in together.items())
    chance = sum(total[one] * total[other] * far(one, other) for one in values for other in values) / (size - 1)
    return 1 - seen / chance


def test_kappa_and_alpha_follow_the_formulas_written_out() -> None:
    assert agreement(MARKS).kappa == pytest.approx(by_hand_kappa(MARKS), abs=1e-12)
    assert agreement(MARKS, "nominal").alpha == pytest.approx(by_hand_alpha(MARKS, ordinal=False), abs=1e-12)
    assert agreement(MARKS, "ordinal").alpha == pytest.approx(by_hand_alpha(MARKS, ordinal=True), abs=1e-12)


def test_kappa_and_alpha_of_large_tables_without_gaps_come_close_to_each_other() -> None:
    # Krippendorff: nominal alpha is Fleiss kappa with a correction for small samples that vanishes as units grow;
    # alpha = 1 - (1 - kappa) (N - 1) / N for N ratings in all. Two libraries, one identity.
    rows = MARKS * 5
    ratings = len(rows) * 3
    figures = agreement(rows, "nominal")
    assert figures.kappa is not None
    assert figures.alpha == pytest.approx(1 - (1 - figures.kappa) * (ratings - 1) / ratings, abs=1e-12)


def test_two_raters_with_equal_margins_have_the_kappa_of_scikit_learn() -> None:
    from sklearn.metrics import cohen_kappa_score

    # Cohen's kappa and Fleiss' (Scott's pi for two) agree where both raters use each value equally often.
    first, second = [0, 0, 1, 1, 2, 2, 0, 1, 2], [0, 1, 1, 1, 2, 0, 0, 2, 2]
    rows = [list(pair) for pair in zip(first, second, strict=True)]
    assert sorted(first) == sorted(second)
    assert agreement(rows).kappa == pytest.approx(cohen_kappa_score(first, second), abs=1e-12)


def test_no_figure_is_ever_nan() -> None:
    for rows in ([[1, 1], [1, 1]], [[1, None], [None, None]], [[1, 2]], [], [[2, 2, None], [2, None, 2]]):
        figures = agreement(rows, "ordinal")
        for value in (figures.kappa, figures.alpha, figures.percent):
            assert value is None or value == value  # NaN alone differs from itself
