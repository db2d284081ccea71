"""What is compared with what, per field and protocol."""

from __future__ import annotations

import pytest

from stages.score.comparisons import GoldError, compare
from taxpraben.records.base import revise
from taxpraben.records.field import Field
from taxpraben.records.item import Item
from taxpraben.records.reading import Reading
from taxpraben.tasks.catalog import find_task
from tests.rank.samples import gold_item

PLAN = find_task("TaxPlan")
FIELDS = [Field(name="核心思路", kind="text"), Field(name="节税额", kind="number", unit="万元")]


def plan_item(answer: str) -> Item:
    return revise(gold_item(PLAN, 0), answer=answer, fields=FIELDS)


def reading(value: object, strict: object) -> Reading:
    place = {"item_id": "i", "task": "TaxPlan", "model": "m", "setting": "zero-shot", "run": 0, "request": "r"}
    return Reading(**place, status="read", value=value, strict_value=strict, method="rules")


def test_a_gold_figure_keeps_the_places_that_it_shows() -> None:
    said = {"核心思路": "分次发放", "节税额": "0.104"}
    sides = list(compare(reading(said, None), plan_item('{"核心思路": "分次", "节税额": 0.10}'), PLAN, {}))
    figures = {side.pair.reference for side in sides if side.field == "节税额"}
    assert figures == {"0.10"}


def test_an_answer_out_of_form_is_unread_only_where_form_counts() -> None:
    said = {"核心思路": "分次发放", "节税额": "1"}
    sides = list(compare(reading(said, None), plan_item('{"核心思路": "分次", "节税额": "1"}'), PLAN, {}))
    assert {(side.protocol, side.status, side.pair.candidate is None) for side in sides} == {
        ("strict", "unread", True),
        ("aligned", "read", False),
    }


def test_a_gold_that_is_no_object_is_named() -> None:
    with pytest.raises(GoldError, match="its answer is no JSON object"):
        list(compare(reading({}, None), plan_item("[1]"), PLAN, {}))
