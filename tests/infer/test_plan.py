from __future__ import annotations

import pytest

from stages.infer.params import InferParams, Overrides
from stages.infer.plan import PlanError, draw, plan_task
from taxpraben.tasks.catalog import find_task
from tests.infer.samples import make_item

SCQ = find_task("TaxSCQ")


def with_examples(count: int) -> list[object]:
    return [make_item(n, example_id=f"TaxSCQ-{1 if n != 1 else 2:03}") for n in range(1, count + 1)]


def test_every_item_setting_and_run_is_planned_once() -> None:
    rows = plan_task(SCQ, with_examples(7), InferParams(runs=3))  # type: ignore[arg-type]
    keys = {(row.item.item_id, row.setting, row.run) for row in rows}
    assert len(rows) == len(keys) == 7 * 2 * 3


def test_rows_that_share_an_example_stand_together() -> None:
    rows = plan_task(SCQ, with_examples(7), InferParams(runs=1, settings=["one-shot"]))  # type: ignore[arg-type]
    shown = [row.example.item_id for row in rows if row.example]
    assert shown == ["TaxSCQ-001"] * 6 + ["TaxSCQ-002"]


def test_an_item_is_never_its_own_example() -> None:
    with pytest.raises(PlanError, match="TaxSCQ-001: it is its own example"):
        plan_task(SCQ, [make_item(1, example_id="TaxSCQ-001")], InferParams())


def test_an_example_that_is_not_in_the_release_is_named() -> None:
    with pytest.raises(PlanError, match="its example TaxSCQ-099 is not in the release"):
        plan_task(SCQ, [make_item(1, example_id="TaxSCQ-099")], InferParams())


def test_a_draw_repeats_and_a_grown_release_keeps_most_of_it() -> None:
    items = [make_item(n) for n in range(100)]
    few = {item.item_id for item in draw(items, 10, seed=1)}
    assert few == {item.item_id for item in draw(items[::-1], 10, seed=1)}
    assert few != {item.item_id for item in draw(items, 10, seed=2)}
    grown = {item.item_id for item in draw([*items, *(make_item(n) for n in range(100, 110))], 10, seed=1)}
    assert len(few & grown) >= 7
    assert len(draw(items, 0, seed=1)) == 100


def test_a_models_own_overrides_count_before_its_groups() -> None:
    params = InferParams(
        runs=5,
        items_per_task=3,
        overrides={"baseline": Overrides(items_per_task=0, runs=2), "random": Overrides(runs=4)},
    )
    assert (params.of_model("random", "baseline").runs, params.of_model("random", "baseline").items_per_task) == (4, 0)
    assert params.of_model("lead", "baseline").runs == 2
    assert (params.of_model("m", "chinese").runs, params.of_model("m", "chinese").items_per_task) == (5, 3)
