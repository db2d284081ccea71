"""Two benchmarks over their common models. Ranks by hand; correlations by their formulas, beside each."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.main import app
from stages.rank.rank_comparison import ComparisonError, RankPair, compare_ranks, read_columns

A = {"m1": 0.9, "m2": 0.8, "m3": 0.7, "m4": 0.6, "only-a": 0.99}
B = {"m1": 0.1, "m2": 0.4, "m3": 0.3, "m4": 0.2, "only-b": 0.5}


def test_only_models_that_both_evaluated_are_ranked() -> None:
    found = compare_ranks([A], [B])
    # Without only-a, m1 is first on A; without only-b, m2 is first on B.
    assert found.rows == [RankPair("m2", 2, 1), RankPair("m3", 3, 2), RankPair("m4", 4, 3), RankPair("m1", 1, 4)]
    assert [row.decline for row in found.rows] == [-1, -1, -1, 3]
    assert (found.only_first, found.only_second) == (["only-a"], ["only-b"])
    # rho = 1 - 6 * (1 + 1 + 1 + 9) / (4 * 15); tau: three pairs agree, three do not.
    assert found.spearman == pytest.approx(1 - 6 * 12 / 60)
    assert found.kendall == pytest.approx(0.0)


def test_ranks_of_several_metrics_are_averaged_and_halves_go_up() -> None:
    # Ranks of x: 2 and 1, average 1.5, so 2; of y: 1 and 3, so 2; of z: 3 and 2, average 2.5, so 3.
    found = compare_ranks([{"x": 2, "y": 3, "z": 1}, {"x": 3, "y": 1, "z": 2}], [{"x": 3, "y": 2, "z": 1}])
    assert {row.model: row.first for row in found.rows} == {"x": 2, "y": 2, "z": 3}


def test_equal_values_share_the_better_place() -> None:
    found = compare_ranks([{"x": 1, "y": 1, "z": 0}], [{"x": 3, "y": 2, "z": 1}])
    assert {row.model: row.first for row in found.rows} == {"x": 1, "y": 1, "z": 3}


def test_orders_without_variance_have_no_correlation() -> None:
    found = compare_ranks([{"x": 1, "y": 1, "z": 1}], [{"x": 3, "y": 2, "z": 1}])
    assert (found.spearman, found.kendall) == (None, None)


def test_fewer_than_three_joint_models_are_refused() -> None:
    with pytest.raises(ComparisonError, match="only 1 models are in both"):
        compare_ranks([{"x": 1, "y": 2, "z": 3}], [{"x": 1}])


def test_a_bad_cell_is_named_with_its_row(tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    path.write_text("\ufeffmodel,score\nx,0.5\ny,high\n", encoding="utf-8")
    with pytest.raises(ComparisonError, match=r"other.csv, row 3: score is no number: 'high'"):
        read_columns(path, [], "zero-shot", "overall")
    with pytest.raises(ComparisonError, match="no column 'points'; columns are model, score"):
        read_columns(path, ["points"], "zero-shot", "overall")


def test_a_setting_column_chooses_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("setting,model,avg\nzero-shot,x,0.5\none-shot,x,0.7\n", encoding="utf-8")
    assert read_columns(path, [], "one-shot", "overall") == [{"x": 0.7}]


def test_the_command_prints_both_ranks_and_what_was_left_out(tmp_path: Path) -> None:
    for name, column in (("a.csv", A), ("b.csv", B)):
        lines = "".join(f"{model},{value}\n" for model, value in column.items())
        (tmp_path / name).write_text(f"model,score\n{lines}", encoding="utf-8")
    result = CliRunner().invoke(app, ["compare-ranks", str(tmp_path / "a.csv"), str(tmp_path / "b.csv")])
    assert result.exit_code == 0
    assert [line.split() for line in result.output.splitlines()][2] == ["m2", "2", "1", "-1"]
    assert "only in a.csv, left out: only-a" in result.output
