"""How far people agree: Fleiss kappa, Krippendorff alpha, percent agreement; undefined where nothing varies.

Fleiss kappa (Fleiss 1971, every unit rated by the same number of raters) comes from ``statsmodels``, Krippendorff alpha
(Hayes and Krippendorff 2007, any number of ratings a unit) from ``krippendorff``. Where the libraries fail or differ,
our rule holds, and the figure is None, never 0, 1 nor NaN:

- both divide by the disagreement that chance would give; where all ratings are the same value there is none
  (statsmodels answers NaN, krippendorff raises);
- units with different numbers of ratings have no Fleiss kappa (statsmodels would answer with a figure that means
  nothing); alpha takes them;
- units with fewer than two ratings say nothing and are left out of all figures.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeVar

Level = Literal["nominal", "ordinal"]
Value = TypeVar("Value", bound=Hashable)

Ratings = Sequence[Sequence[Value | None]]
"""One row a unit, one column a rater; None where the rater gave none."""


@dataclass(frozen=True)
class Agreement:
    """Figures of one table of ratings.

    Attributes:
        units: units with at least two ratings; the others say nothing about agreement.
        raters: number of columns.
        kappa: Fleiss kappa, -1 to 1; None where nothing varies or units differ in their number of ratings.
        alpha: Krippendorff alpha, at most 1; None where nothing varies.
        percent: share of pairs of ratings on a unit that are equal, 0 to 1; None without a pair.
        note: why a figure is None, else empty.
    """

    units: int
    raters: int
    kappa: float | None
    alpha: float | None
    percent: float | None
    note: str = ""


def agreement(ratings: Ratings[Value], level: Level = "nominal") -> Agreement:
    """All figures of a table of ratings.

    Args:
        ratings: one row a unit, one column a rater, None where a rating is missing.
        level: ``nominal`` for labels and verdicts, ``ordinal`` for ratings of 0 to 3 (alpha only).

    Raises:
        ValueError: the rows have different lengths.
    """
    if len({len(row) for row in ratings}) > 1:
        raise ValueError("Every unit needs one column a rater; put None where a rating is missing")
    rated = [[value for value in row if value is not None] for row in ratings]
    pairable = [row for row in rated if len(row) > 1]
    notes: list[str] = []
    if not pairable:
        notes.append("no unit has two ratings")
    elif len({value for row in pairable for value in row}) == 1:
        notes.append("no variance: all ratings are the same")
    elif len({len(row) for row in pairable}) > 1:
        notes.append("kappa needs the same number of ratings on every unit")
    return Agreement(
        units=len(pairable),
        raters=len(ratings[0]) if ratings else 0,
        kappa=fleiss_kappa(pairable),
        alpha=krippendorff_alpha(ratings, level),
        percent=percent_agreement(pairable),
        note="; ".join(notes),
    )


def percent_agreement(rated: Sequence[Sequence[Value]]) -> float | None:
    """Mean over units of the share of equal pairs; None without a unit that has two ratings."""
    shares = [
        sum(first == second for first, second in combinations(row, 2)) / (len(row) * (len(row) - 1) / 2)
        for row in rated
        if len(row) > 1
    ]
    return sum(shares) / len(shares) if shares else None


def fleiss_kappa(rated: Sequence[Sequence[Value]]) -> float | None:
    """(P - Pe) / (1 - Pe): P the mean share of equal pairs, Pe what the marginal shares would give by chance.

    None where the units have different numbers of ratings, fewer than two, or all the same value.
    """
    sizes = {len(row) for row in rated}
    values = sorted({value for row in rated for value in row}, key=_sortable)
    if len(sizes) != 1 or min(sizes) < 2 or len(values) < 2:
        return None
    # Imported late: statsmodels takes more than a second.
    import numpy as np
    from statsmodels.stats.inter_rater import fleiss_kappa as of_counts

    place = {value: number for number, value in enumerate(values)}
    counts = np.zeros((len(rated), len(values)), dtype=int)
    for number, row in enumerate(rated):
        for value in row:
            counts[number, place[value]] += 1
    return float(of_counts(counts, method="fleiss"))


def krippendorff_alpha(ratings: Ratings[Value], level: Level = "nominal") -> float | None:
    """Krippendorff alpha; None where no unit has two ratings or all pairable ratings are the same value.

    The values' order, for ``ordinal``, is that of sorting them.
    """
    pairable = [row for row in ratings if sum(value is not None for value in row) > 1]
    values = sorted({value for row in pairable for value in row if value is not None}, key=_sortable)
    if len(values) < 2:
        return None
    import krippendorff
    import numpy as np

    place = {value: number for number, value in enumerate(values)}
    table = [[np.nan if value is None else place[value] for value in row] for row in pairable]
    alpha = krippendorff.alpha(
        reliability_data=np.array(table, dtype=float).T,
        level_of_measurement=level,
        value_domain=list(range(len(values))),
    )
    return float(alpha)


def _sortable(value: Hashable) -> tuple[int, float, str]:
    if isinstance(value, int | float):
        return (0, float(value), "")
    return (1, 0.0, str(value))


def averaged(figures: Sequence[Agreement]) -> Agreement:
    """The plain mean of each figure over several tables (Table C22 averages three metrics); None where one is None."""

    def mean(values: list[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) / len(known) if known and len(known) == len(values) else None

    return Agreement(
        units=sum(figure.units for figure in figures),
        raters=max((figure.raters for figure in figures), default=0),
        kappa=mean([figure.kappa for figure in figures]),
        alpha=mean([figure.alpha for figure in figures]),
        percent=mean([figure.percent for figure in figures]),
        note="; ".join(sorted({figure.note for figure in figures if figure.note})),
    )
