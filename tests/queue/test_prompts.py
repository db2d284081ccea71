"""The rating of prompts: who rates what, agreement as in Table C22, which are retained."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from taxpraben.queue.agreement import agreement
from taxpraben.queue.people import add_person
from taxpraben.queue.prompts import add_prompts, assign_prompts, close_rating_round, my_prompts, rate_prompt
from taxpraben.queue.ratings import Mark, pair_agreement, rating_summary, table_c22, write_retained
from taxpraben.queue.states import FrozenError, NotYoursError, QueueError
from taxpraben.queue.store import Queue

TEXTS = [f"请回答第{number}种问法的税务问题。" for number in range(20)]
RATERS = [f"r{number:02d}" for number in range(8)]


@pytest.fixture
def raters(queue: Queue) -> list[str]:
    with queue.write() as session:
        for name in RATERS:
            add_person(session, queue.now(), name, "annotator", "", "admin")
    return RATERS


def test_eight_people_with_five_of_twenty_prompts_each_make_two_raters_a_prompt(
    queue: Queue, raters: list[str]
) -> None:
    add_prompts(queue, "TaxQA", TEXTS, "admin")
    given = assign_prompts(queue, "TaxQA", raters, "admin")
    assert {len(ids) for ids in given.values()} == {5}
    each = [one for ids in given.values() for one in ids]
    assert {each.count(one) for one in each} == {2}
    assert len(set(each)) == 20


def test_over_the_rounds_nobody_rates_a_prompt_twice(queue: Queue, raters: list[str]) -> None:
    add_prompts(queue, "TaxQA", TEXTS, "admin")
    for number in range(1, 5):
        given = assign_prompts(queue, "TaxQA", raters, "admin")
        for person, ids in given.items():
            for one in ids:
                rate_prompt(queue, one, person, 3, 3, 2)
        assert close_rating_round(queue, "TaxQA", "admin") == number
    for person in raters:
        ids = [one.prompt_id for one in my_prompts(queue, person)]
        assert len(ids) == len(set(ids)) == 20
    assert assign_prompts(queue, "TaxQA", raters, "admin") == {person: [] for person in raters}


def test_the_same_people_in_the_same_state_get_the_same_prompts(queue: Queue, raters: list[str]) -> None:
    add_prompts(queue, "TaxQA", TEXTS, "admin")
    first = assign_prompts(queue, "TaxQA", raters, "admin")
    assert assign_prompts(queue, "TaxQA", raters, "admin") == first  # asked again: nothing more is handed out


def test_a_mark_is_0_to_3_by_who_it_was_handed_to_and_frozen_with_its_round(queue: Queue, raters: list[str]) -> None:
    add_prompts(queue, "TaxQA", TEXTS[:1], "admin")
    (one,) = assign_prompts(queue, "TaxQA", raters[:1], "admin")["r00"]
    for marks in ((4, 0, 0), (0, -1, 0)):
        with pytest.raises(QueueError, match="a mark from 0"):
            rate_prompt(queue, one, "r00", *marks)
    with pytest.raises(NotYoursError):
        rate_prompt(queue, one, "r01", 1, 1, 1)
    with pytest.raises(QueueError, match="1 questionnaires"):
        close_rating_round(queue, "TaxQA", "admin")
    rate_prompt(queue, one, "r00", 1, 1, 1)
    rate_prompt(queue, one, "r00", 3, 2, 2, "改主意")  # while the round is open
    close_rating_round(queue, "TaxQA", "admin")
    with pytest.raises(FrozenError):
        rate_prompt(queue, one, "r00", 0, 0, 0)
    (shown,) = my_prompts(queue, "r00")
    assert shown.closed
    assert shown.rating is not None
    assert (shown.rating.accuracy, shown.rating.note) == (3, "改主意")


def test_a_dataset_has_twenty_prompts_and_each_once(queue: Queue) -> None:
    ids = add_prompts(queue, "TaxQA", TEXTS, "admin")
    assert add_prompts(queue, "TaxQA", TEXTS[:3], "admin") == ids[:3]
    with pytest.raises(QueueError, match="over 20"):
        add_prompts(queue, "TaxQA", ["再来一种。"], "admin")
    with pytest.raises(QueueError, match="twice"):
        add_prompts(queue, "TaxSum", ["同", "同"], "admin")


# Three raters, five prompts; ACC, NAT, INF by rater. By hand (marks sum / 9): 1: 27/9 = 3; 2: 18/9 = 2; 3: 19/9;
# 4: 17/9; 5: 9/9.
SHEET = [
    [(3, 3, 3), (3, 3, 3), (3, 3, 3)],
    [(2, 2, 2), (2, 2, 2), (2, 2, 2)],
    [(2, 2, 2), (2, 2, 3), (2, 2, 2)],
    [(2, 2, 1), (2, 2, 2), (2, 2, 2)],
    [(1, 1, 1), (1, 1, 1), (1, 1, 1)],
]


def rated(queue: Queue) -> list[str]:
    with queue.write() as session:
        for name in RATERS[:3]:
            add_person(session, queue.now(), name, "annotator", "", "admin")
    ids = add_prompts(queue, "TaxQA", TEXTS[:5], "admin")
    assign_prompts(queue, "TaxQA", RATERS[:3], "admin")
    for one, row in zip(ids, SHEET, strict=True):
        for person, marks in zip(RATERS, row, strict=False):
            rate_prompt(queue, one, person, *marks)
    return ids


def test_a_prompt_is_retained_above_a_mean_of_two_and_not_at_it(queue: Queue) -> None:
    rated(queue)
    (summary,) = rating_summary(queue)
    assert [prompt.retained for prompt in summary.prompts] == [True, False, True, False, False]
    assert [prompt.mean for prompt in summary.prompts] == pytest.approx([3, 2, 19 / 9, 17 / 9, 1])
    assert (summary.retained, summary.total) == (2, 5)


def test_agreement_is_computed_a_metric_and_averaged_as_in_table_c22(queue: Queue) -> None:
    rated(queue)
    (summary,) = rating_summary(queue)
    columns = [[[marks[metric] for marks in row] for row in SHEET] for metric in range(3)]
    each = [agreement(column, "ordinal") for column in columns]
    shown = (summary.accuracy, summary.naturalness, summary.informativeness)
    kappas = [figure.kappa for figure in shown]
    assert kappas == pytest.approx([figure.kappa for figure in each])
    assert kappas[0] == pytest.approx(1.0)
    # INF by hand: units 333, 222, 232, 122, 111: P = (1+1+1/3+1/3+1)/5 = 11/15; marks 1: 4, 2: 7, 3: 4 of 15, so
    # Pe = (16+49+16)/225 = 81/225; kappa = (11/15 - 81/225)/(1 - 81/225) = 7/12.
    assert kappas[2] == pytest.approx(7 / 12)
    assert summary.averaged.kappa == pytest.approx((1 + 1 + 7 / 12) / 3)
    assert summary.averaged.alpha == pytest.approx(sum(figure.alpha or 0 for figure in shown) / 3)
    assert summary.averaged.alpha == pytest.approx(sum(figure.alpha or 0 for figure in each) / 3)


def test_each_pair_of_raters_has_figures_of_its_own(queue: Queue) -> None:
    rated(queue)
    pairs = pair_agreement(queue, "TaxQA")
    assert sorted(pairs) == [("r00", "r01"), ("r00", "r02"), ("r01", "r02")]
    assert pairs["r00", "r02"][2].percent == pytest.approx(4 / 5)


def test_metrics_without_variance_leave_the_average_undefined_and_say_why() -> None:
    marks = [Mark(f"p{number}", person, 1, (3, 3, number % 4)) for number in range(8) for person in ("a", "b")]
    *_, informativeness, averaged = table_c22(marks)
    assert informativeness.kappa == pytest.approx(1.0)
    assert (averaged.kappa, averaged.alpha, averaged.percent) == (None, None, 1.0)
    assert "no variance" in averaged.note


def test_the_decision_is_written_in_the_form_of_a_tasks_prompts_the_same_bytes_each_time(
    queue: Queue, tmp_path: Path
) -> None:
    rated(queue)
    assert write_retained(queue, tmp_path / "a") == {"TaxQA": (2, 5)}
    write_retained(queue, tmp_path / "b")
    for name in ("TaxQA.yaml", "ratings.jsonl"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    taken = yaml.safe_load((tmp_path / "a" / "TaxQA.yaml").read_text(encoding="utf-8"))
    assert taken == {"version": 1, "prompts": [TEXTS[0], TEXTS[2]]}
