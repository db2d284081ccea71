"""Table 6 of the paper follows from its Table G by the task files' formulas; source: data/reference."""

from __future__ import annotations

from pathlib import Path

import pytest

from stages.rank.paper import (
    TABLE_6,
    TABLE_G,
    PaperTableError,
    Published,
    compare_published,
    rank_published,
    read_table_6,
    read_table_g,
    report,
)
from taxpraben.metrics import metric_class
from taxpraben.tasks.catalog import load_catalog

ROOT = Path(__file__).parents[2] / "data" / "reference"
TASKS = [task for task in load_catalog().values() if task.domain == "tax"]
FAULTS = {
    ("zero-shot", "KA", "Atom"),
    ("zero-shot", "GEN", "Atom"),
    ("one-shot", "KU", "Mistral-V0.3"),
    ("one-shot", "GEN", "Mistral-V0.3"),
}


def test_224_of_228_cells_of_table_6_follow_from_table_g_and_the_four_others_are_these() -> None:
    means = rank_published(read_table_g(ROOT / TABLE_G), TASKS, metric_class)
    differences = compare_published(means, read_table_6(ROOT / TABLE_6))
    assert len(differences) == 228
    assert {(each.setting, each.group, each.model) for each in differences if not each.agrees} == FAULTS


def test_printed_check_names_the_four_cells() -> None:
    text = report(ROOT)
    assert text.startswith("224 of 228 cells")
    assert "Atom, zero-shot, KA: printed 0.225, from Table G 0.260" in text
    assert "Mistral-V0.3, one-shot, GEN: printed 0.428, from Table G 0.435" in text


def test_group_without_one_of_its_datasets_is_left_out() -> None:
    rows = [row for row in read_table_g(ROOT / TABLE_G) if row.dataset != "TaxPlan"]
    groups = {group for _, group, _ in rank_published(rows, TASKS, metric_class)}
    assert groups == {"KM", "KU", "CLS", "GEN"}  # KA, REA and overall hold TaxPlan


def test_dataset_that_lacks_a_metric_is_named() -> None:
    rows = [Published("zero-shot", "TaxRecite", "BERTScore", "M", 0.5)]
    with pytest.raises(PaperTableError, match="TaxRecite lacks 'BARTScore'"):
        rank_published(rows, TASKS, metric_class)


def test_missing_or_malformed_table_is_named_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(PaperTableError, match="git checkout"):
        read_table_g(tmp_path / "none.csv")
    (tmp_path / "bad.csv").write_text("setting,group,model,value\nzero-shot,KM,M,high\n", encoding="utf-8")
    with pytest.raises(PaperTableError, match="line 2: value 'high'"):
        read_table_6(tmp_path / "bad.csv")
