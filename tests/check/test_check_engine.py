"""Rules meet rows through Great Expectations; a failing row is named, a warning stops nothing."""

from stages.check.engine import validate
from stages.check.rules import Suite, filled, one_of, present, share, sound, unique, within

SUITE = Suite(
    name="demo",
    part="甲",
    remedy="mend it",
    rules=(
        present("有行", "a row"),
        unique("row", "不重复", "unique"),
        filled("text", "不空", "filled"),
        one_of("status", ("ok", "empty"), "状态", "known status"),
        within("length", 2, 4, "长度", "length", "warning", "not wrong"),
        share("failed", 0.5, "失败", "failed"),
        sound("problem", "无问题", "no problem"),
    ),
)


def row(name: str, **changes: object) -> dict[str, object]:
    return {"row": name, "text": "话", "status": "ok", "length": 3, "failed": "", "problem": "", **changes}


def outcome(*rows: dict[str, object], failing_rows: int = 20):
    return validate(SUITE, rows, "data/demo.parquet", failing_rows)


def test_sound_rows_hold_every_expectation() -> None:
    checked = outcome(row("a"), row("b")).checked
    assert [found.success for found in checked.expectations] == [True] * len(SUITE.rules)
    assert (checked.name, checked.file, checked.rows) == ("demo 甲", "data/demo.parquet", 2)


def test_each_kind_of_break_is_found_with_its_row_and_value() -> None:
    rows = (
        row("a"),
        row("b", text=" \u3000", length=9),
        row("c", status="lost", failed="timeout"),
        row("a", problem="B and C are both '甲'", failed="timeout"),
    )
    found = {check.column: check for check in outcome(*rows).checked.expectations if not check.success}
    assert {name: [line.row for line in check.failing] for name, check in found.items()} == {
        "row": ["a", "a"], "text": ["b"], "status": ["c"], "length": ["b"], "problem": ["a"],
    }  # fmt: skip
    assert found["problem"].failing[0].value == "B and C are both '甲'"
    assert found["length"].severity == "warning"
    assert found["length"].observed == "1 of 4 (25.0 %) not as expected"
    assert (found["length"].remedy, found["text"].remedy) == ("not wrong", "mend it")


def test_a_share_above_its_bound_is_a_warning_that_shows_the_share() -> None:
    checked = outcome(row("a", failed="timeout"), row("b", failed="timeout"), row("c")).checked
    [found] = checked.broken("warning")
    assert (found.column, found.observed) == ("failed", "2 of 3 (66.7 %) not as expected")
    assert ([line.value for line in found.failing], checked.broken("failure")) == (["timeout", "timeout"], [])


def test_no_rows_break_only_the_expectation_that_there_are_some() -> None:
    checked = outcome().checked
    assert [found.expectation for found in checked.expectations if not found.success] == [
        "expect_table_row_count_to_be_between"
    ]


def test_no_more_rows_are_named_than_asked_for_but_all_are_counted() -> None:
    checked = outcome(*(row(f"r{number:02d}", problem="x") for number in range(30)), failing_rows=20).checked
    [found] = checked.broken("failure")
    assert (found.unexpected, [line.row for line in found.failing]) == (30, [f"r{number:02d}" for number in range(20)])


def test_a_long_value_is_cut_to_a_readable_length() -> None:
    [found] = outcome(row("a", problem="长" * 500)).checked.broken("failure")
    assert len(found.failing[0].value) == 120


def test_the_same_rows_give_the_same_report() -> None:
    rows = [row("a", problem="x"), row("b", length=9)]
    assert outcome(*rows).checked == outcome(*rows).checked
