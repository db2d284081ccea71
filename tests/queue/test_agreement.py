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
