"""The board's table model and its page, and the page of data quality."""

from __future__ import annotations

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from portal_samples import Browser

from taxpraben.board import make_board, percent
from taxpraben.records.base import write_records
from taxpraben.records.check import BorderReport, CheckedExpectation, CheckedSuite, FailingRow, write_report
from taxpraben.records.standing import Standing
from taxpraben.tasks.catalog import load_catalog

TASKS = list(load_catalog().values())


def standing(model: str, name: str, mean: float | None, scope: str = "group", **more: object) -> Standing:
    values: dict[str, object] = {
        "model": model,
        "setting": "zero-shot",
        "protocol": "aligned",
        "scope": scope,
        "name": name,
        "metric": "S",
        "mean": mean,
        "rank": None if mean is None else 1,
    }
    return Standing.model_validate(values | more)


ROWS = [
    standing("tortoise", "overall", None, missing=["TaxCalc"]),
    standing("hare", "overall", 0.5, low=0.45, high=0.55, p_best=0.012),
    standing("fox", "overall", 0.52, low=0.48, high=0.56),
    standing("tortoise", "TaxRecite", 0.3, "dataset", items=10, runs=2, unread=0.5, signature="bertscore|m|v2"),
    standing("tortoise", "TaxSCQ", 0.4, "dataset", items=30, runs=2, unread=0.1, signature="accuracy|v1 f1|v1"),
    standing("hare", "TaxSCQ", 0.6, "dataset", rank=1),
    standing("hare", "TaxSCQ", 0.45, "dataset", protocol="strict"),
    standing("fox", "LawQuiz", 0.9, "dataset"),
]


def test_models_stand_by_overall_mean_and_those_without_one_come_last() -> None:
    table = make_board(ROWS, TASKS).table("zero-shot", "aligned")
    assert table is not None
    assert [row.model for row in table.rows] == ["fox", "hare", "tortoise"]


def test_a_missing_dataset_leaves_a_blank_with_its_reason_and_never_a_zero() -> None:
    board = make_board(ROWS, TASKS)
    table = board.table("zero-shot", "aligned")
    assert table is not None
    overall, tortoise = board.groups[0], table.rows[2]
    cell = tortoise.cell(overall)
    assert (cell.text, cell.interval, cell.rank_text, cell.missing) == ("", "", "", ("TaxCalc",))
    fox = table.rows[0]
    assert fox.cell(board.datasets[0]).text == ""


def test_shared_ranks_are_marked() -> None:
    board = make_board(ROWS, TASKS)
    table = board.table("zero-shot", "aligned")
    assert table is not None
    assert table.rows[0].cell(board.groups[0]).rank_text == "=1"
    assert table.rows[1].cell(next(each for each in board.datasets if each.name == "TaxSCQ")).rank_text == "=1"


def test_a_mean_on_fewer_items_than_another_of_its_column_says_so() -> None:
    rows = [
        standing("hare", "TaxSCQ", 0.6, "dataset", items=20),
        standing("fox", "TaxSCQ", 0.9, "dataset", items=2),
        standing("fox", "TaxSCQ", 0.9, "dataset", items=2, protocol="strict"),
        standing("tortoise", "TaxSCQ", None, "dataset", items=1),
    ]
    board = make_board(rows, TASKS)
    table = board.table("zero-shot", "aligned")
    assert table is not None
    assert {row.model: row.cell(board.datasets[0]).items_text for row in table.rows} == {
        "fox": "2/20", "hare": "", "tortoise": "",
    }  # fmt: skip
    assert board.uneven
    assert not make_board(rows[:1], TASKS).uneven


def test_the_board_page_shows_how_many_items_where_models_differ(app, root: Path) -> None:
    rows = [standing(model, "TaxSCQ", 0.6, "dataset", items=items) for model, items in (("hare", 20), ("fox", 2))]
    write_records(root / "data/trial/standings.parquet", Standing, rows)
    html = TestClient(app).get("/board?view=datasets").text
    assert ">2/20</span>" in html
    assert "只比较两个模型共同的题" in html


def test_the_cost_of_the_form_is_aligned_minus_strict() -> None:
    board = make_board(ROWS, TASKS)
    table = board.table("zero-shot", "aligned")
    assert table is not None
    assert table.rows[1].cell(next(each for each in board.datasets if each.name == "TaxSCQ")).cost_text == "+0.150"


def test_datasets_stand_in_catalogue_order_and_unknown_ones_last_but_there() -> None:
    assert [column.name for column in make_board(ROWS, TASKS).datasets] == ["TaxRecite", "TaxSCQ", "LawQuiz"]


def test_shares_are_weighted_by_answers() -> None:
    table = make_board(ROWS, TASKS).table("zero-shot", "aligned")
    assert table is not None
    # by hand: (20 * 0.5 + 60 * 0.1) / 80 = 0.2
    assert table.rows[2].shares.unread == pytest.approx(0.2)


def test_signatures_are_listed_once_a_dataset() -> None:
    assert make_board(ROWS, TASKS).signatures["TaxSCQ"] == ("accuracy|v1", "f1|v1")


@pytest.mark.parametrize(("share", "text"), [(0, "0%"), (0.004, "<1%"), (0.37, "37%"), (0.996, ">99%"), (1.0, "100%")])
def test_a_share_is_never_rounded_to_none_or_all(share: float, text: str) -> None:
    assert percent(share) == text


def test_the_board_is_open_to_everybody_and_empty_before_there_are_standings(app) -> None:
    reply = TestClient(app).get("/board")
    assert reply.status_code == 200
    assert "还没有成绩" in reply.text


def test_the_board_page_shows_means_intervals_and_blanks(app, root: Path) -> None:
    write_records(root / "data/trial/standings.parquet", Standing, ROWS)
    html = TestClient(app).get("/board").text
    assert "0.520" in html
    assert "0.480–0.560" in html
    assert 'title="p 0.012">0.500*<' in html
    assert "缺：TaxCalc" in html
    assert "50% / 0% / 0% / 0%" not in html
    assert "+0.150" in TestClient(app).get("/board?view=datasets").text


def test_a_broken_standings_file_is_named_on_the_page(app, root: Path) -> None:
    path = root / "data/trial/standings.parquet"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no parquet")
    reply = TestClient(app).get("/board")
    assert reply.status_code == 200
    assert "not a readable Parquet file" in reply.text


def test_the_quality_page_shows_what_fails_with_its_rows_and_remedy(annotator: Browser, root: Path) -> None:
    broken = CheckedExpectation(
        expectation="expect_column_value_lengths_to_be_between",
        column="answer",
        zh="参考答案长度在限度之内",
        en="answers are within the limits",
        severity="failure",
        success=False,
        checked=10,
        unexpected=1,
        observed="1 / 10",
        failing=[FailingRow(row="TaxQA-1", value="<b>太长</b>")],
        remedy="缩短",
    )
    suite = CheckedSuite(suite="items", part="TaxQA", file="data/x.parquet", rows=10, expectations=[broken])
    write_report(root / "data/trial/checks/build.json", BorderReport(border="build", suites=[suite]))
    html = annotator.get("/quality").text
    assert "参考答案长度在限度之内" in html
    assert "TaxQA-1" in html
    assert "&lt;b&gt;太长&lt;/b&gt;" in html
    assert "缩短" in html
