"""Standings from score rows: means, deviations, groups, blanks and shares (expected values by hand)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.metrics import f1_score

from stages.rank.columns import from_table
from stages.rank.datasets import RankError
from stages.rank.params import RankParams
from stages.rank.shown import standings_text
from stages.rank.standings import format_costs, rank
from taxpraben.metrics import metric_class
from taxpraben.records.score import Score
from taxpraben.records.standing import Standing
from taxpraben.tasks.catalog import find_task, load_catalog
from taxpraben.tasks.groups import members
from taxpraben.tasks.spec import TaskSpec

TASKS = [task for task in load_catalog().values() if task.domain == "tax"]
PARAMS = RankParams(draws=100, seed=5)


def row(task: str, metric: str, value: float | None, **more: Any) -> Score:
    """A score row with defaults."""
    given = {
        "item_id": "i1", "task": task, "model": "m", "setting": "zero-shot", "run": 0, "protocol": "aligned",
        "metric": metric, "value": value, "signature": f"{metric}|x", "status": "read",
    }  # fmt: skip
    return Score.model_validate(given | more)


def standings(
    rows: Iterable[Score],
    tasks: Sequence[TaskSpec],
    models: Sequence[str] = ("m",),
    substitute: dict[str, str] | None = None,
) -> dict[tuple[str, str, str, str], Standing]:
    """The aligned zero-shot standings of these rows by scope, name, metric and model."""
    table = pa.Table.from_pylist([one.model_dump() for one in rows], schema=Score.arrow_schema())
    found = rank(from_table(table), models, tasks, metric_class, substitute or {}, PARAMS, lambda _: None)
    return {(one.scope, one.name, one.metric, one.model): one for one in found if one.protocol == "aligned"}


def test_dataset_is_the_mean_of_its_metrics_on_the_unit_scale() -> None:
    task = find_task("TaxQA")
    rows = [row("TaxQA", "bertscore", 0.6), row("TaxQA", "bartscore", -4.0)]
    found = standings(rows, [task])
    assert found["dataset", "TaxQA", "S", "m"].mean == pytest.approx((0.6 + 0.6) / 2)
    assert found["metric", "TaxQA", "bartscore", "m"].mean == pytest.approx(-4.0)
    assert found["dataset", "TaxQA", "S", "m"].signature == "bertscore|x bartscore|x"


def test_bartscore_below_minus_ten_counts_as_zero_and_the_raw_mean_is_kept() -> None:
    rows = [row("TaxQA", "bertscore", 0.4), row("TaxQA", "bartscore", -12.0)]
    found = standings(rows, [find_task("TaxQA")])
    assert found["dataset", "TaxQA", "S", "m"].mean == pytest.approx(0.2)
    assert found["metric", "TaxQA", "bartscore", "m"].mean == pytest.approx(-12.0)


def test_substituted_metric_takes_the_place_of_the_other_under_its_own_name() -> None:
    rows = [row("TaxQA", "bertscore", 0.6), row("TaxQA", "likelihood", -2.0)]
    found = standings(rows, [find_task("TaxQA")], substitute={"bartscore": "likelihood"})
    assert found["dataset", "TaxQA", "S", "m"].mean == pytest.approx((0.6 + 0.8) / 2)
    assert ("metric", "TaxQA", "likelihood", "m") in found
    assert ("metric", "TaxQA", "bartscore", "m") not in found


def test_field_groups_are_averaged_within_the_item_first() -> None:
    # Item 1: text 0.5, numbers 1 and 0, so 0.5; item 2: text 1, one number 1. PlanScore is the mean of 0.75 and 0.75.
    rows = [
        row("TaxPlan", "bertscore", 0.5, field="思路"),
        row("TaxPlan", "exact_match", 1.0, field="甲"),
        row("TaxPlan", "exact_match", 0.0, field="乙"),
        row("TaxPlan", "bertscore", 1.0, field="思路", item_id="i2"),
        row("TaxPlan", "exact_match", 1.0, field="丙", item_id="i2"),
    ]
    assert standings(rows, [find_task("TaxPlan")])["dataset", "TaxPlan", "S", "m"].mean == pytest.approx(0.75)


def test_inspect_score_is_half_the_charge_and_half_the_mean_of_the_two_texts() -> None:
    rows = [
        row("TaxInspect", "exact_match", 1.0, field="所犯罪名"),
        row("TaxInspect", "bertscore", 0.4, field="犯罪行为"),
        row("TaxInspect", "bertscore", 0.8, field="处罚结果"),
    ]
    assert standings(rows, [find_task("TaxInspect")])["dataset", "TaxInspect", "S", "m"].mean == pytest.approx(0.8)


def label_rows(golds: str, picks: str, **more: Any) -> list[Score]:
    """Rows of the three classification metrics; a blank pick is unread."""
    rows = []
    for number, (gold, pick) in enumerate(zip(golds, picks, strict=True)):
        pick = pick.strip()
        common = {
            "item_id": f"i{number}",
            "gold": gold,
            "predicted": pick,
            "status": "read" if pick else "unread",
        } | more
        rows.append(row("TaxSCQ", "accuracy", float(gold == pick), **common))
        rows += [row("TaxSCQ", metric, None, **common) for metric in ("weighted_f1", "macro_f1")]
    return rows


def test_label_metrics_of_a_dataset_equal_scikit_learn() -> None:
    golds, picks = "ABCDABCDAB", "ABCAABDD B"
    found = standings(label_rows(golds, picks), [find_task("TaxSCQ")])
    said = [pick.strip() or "none" for pick in picks]
    labels = list("ABCD")
    weighted = f1_score(list(golds), said, labels=labels, average="weighted", zero_division=0)
    macro = f1_score(list(golds), said, labels=labels, average="macro", zero_division=0)
    accuracy = np.mean([gold == pick for gold, pick in zip(golds, picks, strict=True)])
    assert found["metric", "TaxSCQ", "weighted_f1", "m"].mean == pytest.approx(weighted)
    assert found["metric", "TaxSCQ", "macro_f1", "m"].mean == pytest.approx(macro)
    assert found["dataset", "TaxSCQ", "S", "m"].mean == pytest.approx((accuracy + weighted + macro) / 3)


def test_letters_of_other_tasks_do_not_disturb_a_task() -> None:
    crime = [
        row("TaxCrime", metric, 1.0 if metric == "accuracy" else None, gold="M", predicted="M")
        for metric in ("accuracy", "weighted_f1", "macro_f1")
    ]
    found = standings([*label_rows("AB", "AB"), *crime], [find_task("TaxSCQ"), find_task("TaxCrime")])
    assert found["dataset", "TaxSCQ", "S", "m"].mean == found["dataset", "TaxCrime", "S", "m"].mean == 1.0


def test_mean_and_deviation_are_over_runs() -> None:
    rows = [row("TaxCalc", "exact_match", value, run=run) for run, value in enumerate([1.0, 0.0, 1.0])]
    found = standings(rows, [find_task("TaxCalc")])["dataset", "TaxCalc", "S", "m"]
    assert (found.mean, found.runs, found.items) == (pytest.approx(2 / 3), 3, 1)
    assert found.deviation == pytest.approx(np.std([1, 0, 1], ddof=1))
    single = standings(rows[:1], [find_task("TaxCalc")])["dataset", "TaxCalc", "S", "m"]
    assert single.deviation is None


def test_interval_holds_the_mean_and_is_wider_with_fewer_items() -> None:
    generator = np.random.default_rng(2)
    widths = []
    for items in (20, 500):
        rows = [row("TaxCalc", "exact_match", float(generator.random() < 0.5), item_id=f"i{n}") for n in range(items)]
        found = standings(rows, [find_task("TaxCalc")])["dataset", "TaxCalc", "S", "m"]
        assert found.low is not None
        assert found.high is not None
        assert found.mean is not None
        assert found.low <= found.mean <= found.high
        widths.append(found.high - found.low)
    assert widths[0] > 2 * widths[1]


def whole_model(model: str, value: float, skip: str = "", items: int = 1) -> list[Score]:
    """Rows of every dataset for a model, all with the same S, save one dataset; so many items a dataset."""
    rows: list[Score] = []
    for task in TASKS:
        if task.name == skip:
            continue
        for metric in task.score.metrics:
            raw = value * 10 - 10 if metric == "bartscore" else None if metric.endswith("f1") else value
            letters = {"gold": "A", "predicted": "A" if value else "B"} if task.letters else {}
            rows.append(row(task.name, metric, raw, model=model, **letters))
        for group in task.score.groups:
            for field in group.fields or [f"{group.kind}项"]:
                rows.append(row(task.name, group.metric, value, model=model, field=field))
    return [one.model_copy(update={"item_id": f"{one.item_id}-{n}"}) for one in rows for n in range(items)]


def test_groups_are_plain_means_of_their_datasets() -> None:
    found = standings(whole_model("m", 1.0), TASKS)
    for group in ("KM", "KU", "KA", "CLS", "GEN", "REA", "overall"):
        assert found["group", group, "S", "m"].mean == pytest.approx(1.0)
        assert found["group", group, "S", "m"].missing == []
    assert [len(members(group, TASKS)) for group in ("KM", "KU", "KA", "CLS", "GEN", "REA", "overall")] == [
        1, 3, 10, 4, 8, 2, 14,
    ]  # fmt: skip


def test_missing_dataset_leaves_a_blank_and_is_listed_never_a_zero() -> None:
    found = standings([*whole_model("m", 1.0), *whole_model("n", 1.0, skip="TaxRisk")], TASKS, ("m", "n"))
    for group, blank in (("overall", True), ("KA", True), ("GEN", True), ("KU", False), ("REA", False)):
        cell = found["group", group, "S", "n"]
        assert (cell.mean is None) is blank
        assert cell.missing == (["TaxRisk"] if blank else [])
        assert (cell.rank is None) is blank
    assert ("dataset", "TaxRisk", "S", "n") not in found
    assert found["group", "overall", "S", "m"].rank == 1


def test_model_without_any_score_has_blank_groups() -> None:
    found = standings(whole_model("m", 1.0), TASKS, ("m", "absent"))
    assert found["group", "overall", "S", "absent"].mean is None
    assert len(found["group", "overall", "S", "absent"].missing) == 14


def test_shares_count_answers_not_rows_and_failed_is_apart() -> None:
    states = ["read", "unread", "refused", "truncated", "reader_error", "unread"]
    rows = [
        row("TaxQA", metric, 0.0, item_id=f"i{n}", status=status, flags=["no_answer"] if n == 5 else [])
        for n, status in enumerate(states)
        for metric in ("bertscore", "bartscore")
    ]
    found = standings(rows, [find_task("TaxQA")])["dataset", "TaxQA", "S", "m"]
    shares = (found.unread, found.refused, found.truncated, found.failed)
    assert shares == pytest.approx((2 / 6, 1 / 6, 1 / 6, 1 / 6))


def test_models_with_other_items_are_ranked_on_their_own_items() -> None:
    rows = [row("TaxCalc", "exact_match", 1.0, item_id=f"i{n}") for n in range(4)]
    rows += [row("TaxCalc", "exact_match", 0.0, item_id="i0", model="n")]
    found = standings(rows, [find_task("TaxCalc")], ("m", "n"))
    assert found["dataset", "TaxCalc", "S", "m"].items == 4
    assert (found["dataset", "TaxCalc", "S", "n"].items, found["dataset", "TaxCalc", "S", "n"].mean) == (1, 0.0)


def calc_rows(model: str, values: dict[int, float]) -> list[Score]:
    """TaxCalc rows of a model: values by number of the item."""
    return [row("TaxCalc", "exact_match", value, item_id=f"i{n:02d}", model=model) for n, value in values.items()]


def test_ranks_are_decided_over_common_items_only() -> None:
    # Over its 20 items m is at 0.9, over the 10 that n answered too both are right and wrong alike.
    answered = {n: float(n not in (0, 1)) for n in range(20)}
    rows = [*calc_rows("m", answered), *calc_rows("n", {n: answered[n] for n in range(10)})]
    found = standings(rows, [find_task("TaxCalc")], ("m", "n"))
    cells = {model: found["dataset", "TaxCalc", "S", model] for model in "mn"}
    assert [(cell.mean, cell.items, cell.rank) for cell in cells.values()] == [(0.9, 20, 1), (0.8, 10, 1)]


def test_a_higher_mean_from_easier_items_does_not_rank_above_the_better_model() -> None:
    # On the 10 common items n is right and m wrong; m's mean is higher by the 30 others, so neither leads the other.
    rows = [
        *calc_rows("m", {n: float(n >= 10) for n in range(40)}),
        *calc_rows("n", {**dict.fromkeys(range(10), 1.0), **dict.fromkeys(range(40, 60), 0.0)}),
    ]
    found = standings(rows, [find_task("TaxCalc")], ("m", "n"))
    assert [found["dataset", "TaxCalc", "S", model].rank for model in "mn"] == [1, 1]


def test_models_without_common_items_cannot_be_told_apart() -> None:
    rows = [*calc_rows("m", dict.fromkeys(range(10), 1.0)), *calc_rows("n", dict.fromkeys(range(10, 20), 0.0))]
    found = standings(rows, [find_task("TaxCalc")], ("m", "n"))
    for metric, scope in (("S", "dataset"), ("exact_match", "metric")):
        assert [found[scope, "TaxCalc", metric, model].rank for model in "mn"] == [1, 1]
    common = [*rows, *calc_rows("n", dict.fromkeys(range(10), 0.0))]
    told = standings(common, [find_task("TaxCalc")], ("m", "n"))
    assert [told["dataset", "TaxCalc", "S", model].rank for model in "mn"] == [1, 2]


def test_label_metrics_are_compared_over_common_items_too() -> None:
    golds = "ABCD" * 5
    rows = [*label_rows(golds, golds), *label_rows(golds[:8], golds[1:8] + "A", model="n")]
    found = standings(rows, [find_task("TaxSCQ")], ("m", "n"))
    assert [found["metric", "TaxSCQ", "macro_f1", model].rank for model in "mn"] == [1, 2]


def test_a_group_is_not_told_apart_where_one_of_its_datasets_has_no_common_items() -> None:
    other = [
        one.model_copy(update={"item_id": f"other-{one.item_id}"}) if one.task == "TaxRisk" else one
        for one in whole_model("n", 0.0, items=6)
    ]
    found = standings([*whole_model("m", 1.0, items=6), *other], TASKS, ("m", "n"))
    ranks = {group: found["group", group, "S", "n"].rank for group in ("overall", "KA", "GEN", "KM", "KU", "REA")}
    assert ranks == {"overall": 1, "KA": 1, "GEN": 1, "KM": 2, "KU": 2, "REA": 2}


def test_the_interval_of_a_model_with_few_items_comes_from_all_draws_of_these() -> None:
    few = calc_rows("n", {0: 1.0, 1: 0.0})
    alone = standings(few, [find_task("TaxCalc")], ("n",))["dataset", "TaxCalc", "S", "n"]
    rows = [*calc_rows("m", dict.fromkeys(range(50), 1.0)), *few]
    beside = standings(rows, [find_task("TaxCalc")], ("m", "n"))["dataset", "TaxCalc", "S", "n"]
    assert (beside.low, beside.high) == (alone.low, alone.high) == (0.0, 1.0)


def test_the_terminal_says_where_a_mean_stands_on_fewer_items() -> None:
    rows = [*calc_rows("m", dict.fromkeys(range(20), 1.0)), *calc_rows("n", dict.fromkeys(range(6), 0.0))]
    text = standings_text(list(standings(rows, [find_task("TaxCalc")], ("m", "n")).values()), ["TaxCalc"])
    assert "TaxCalc  20     1.000 #1  0.000 #2 (6/20)" in text
    assert "ranks compare two models over the items that both answered" in text
    even = standings(calc_rows("m", {0: 1.0}), [find_task("TaxCalc")])
    assert "(1/1)" not in standings_text(list(even.values()), ["TaxCalc"])


def test_model_that_lacks_one_metric_of_a_dataset_is_named() -> None:
    with pytest.raises(RankError, match="TaxQA: a model has no rows of bartscore"):
        standings([row("TaxQA", "bertscore", 0.5)], [find_task("TaxQA")])


def test_equal_models_share_a_rank_whatever_the_order_of_rows() -> None:
    rows = [*whole_model("m", 1.0), *whole_model("n", 1.0), *whole_model("o", 0.0)]
    for order in (rows, rows[::-1]):
        found = standings(order, TASKS, ("m", "n", "o"))
        ranks = {model: found["group", "overall", "S", model].rank for model in "mno"}
        assert ranks == {"m": 1, "n": 1, "o": 3}


def test_the_best_has_no_p_value_and_a_model_that_lies_behind_has_a_small_one() -> None:
    right = {n: float(n % 10 != 0) for n in range(40)}
    rows = [
        *calc_rows("m", right),
        *calc_rows("n", {n: float(n % 2) for n in range(40)}),
        *calc_rows("o", {n: float(n not in (1, 11, 21, 31, 5)) for n in range(40)}),
    ]
    found = standings(rows, [find_task("TaxCalc")], ("m", "n", "o"))
    p = {model: found["dataset", "TaxCalc", "S", model].p_best for model in "mno"}
    assert p["m"] is None
    assert p["n"] is not None
    assert p["o"] is not None
    # 100 draws give no less than 2 / 101, and two models are held against the best: 4 / 101.
    assert p["n"] == pytest.approx(4 / 101)
    assert p["o"] > 0.2


def test_without_common_items_there_is_no_p_value() -> None:
    rows = [*calc_rows("m", dict.fromkeys(range(10), 1.0)), *calc_rows("n", dict.fromkeys(range(10, 20), 0.0))]
    found = standings(rows, [find_task("TaxCalc")], ("m", "n"))
    assert found["dataset", "TaxCalc", "S", "n"].p_best is None


def test_format_cost_is_aligned_minus_strict() -> None:
    common = {"model": "m", "setting": "zero-shot", "scope": "dataset", "name": "TaxCalc", "metric": "S"}
    rows = [
        Standing.model_validate({**common, "protocol": protocol, "mean": mean})
        for protocol, mean in (("strict", 0.25), ("aligned", 0.75))
    ]
    assert format_costs(rows) == {("TaxCalc", "zero-shot", "m"): 0.5}
