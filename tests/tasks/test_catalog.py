"""Every task folder is whole and says what Table 1 and Table C3 of the paper say."""

import shutil
from pathlib import Path

import pytest
import yaml

from taxpraben.tasks.catalog import TASKS_FOLDER, TaskError, find_task, load_catalog, load_task

# Table 1: dataset, level, size, NLP type.
TABLE_1 = [
    ("TaxRecite", "KM", 200, "GEN"),
    ("TaxSum", "KU", 1000, "GEN"),
    ("TaxTopic", "KU", 1000, "CLS"),
    ("TaxRead", "KU", 1000, "GEN"),
    ("TaxCalc", "KA", 500, "REA"),
    ("TaxSCQ", "KA", 700, "CLS"),
    ("TaxMCQ", "KA", 400, "CLS"),
    ("TaxQA", "KA", 700, "GEN"),
    ("TaxBoard", "KA", 500, "GEN"),
    ("TaxCrime", "KA", 200, "CLS"),
    ("TaxOpinion", "KA", 500, "GEN"),
    ("TaxRisk", "KA", 200, "GEN"),
    ("TaxInspect", "KA", 200, "GEN"),
    ("TaxPlan", "KA", 200, "REA"),
]


def copy_task(to: Path, name: str = "tax_risk", domain: str = "tax") -> Path:
    folder = to / domain / name
    shutil.copytree(TASKS_FOLDER / "tax" / "tax_risk", folder)
    return folder


def change(path: Path, **values: object) -> None:
    raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    path.write_text(yaml.safe_dump({**raw, **values}, allow_unicode=True), encoding="utf-8")


def test_the_catalogue_is_table_1_in_its_order() -> None:
    tax = [spec for spec in load_catalog().values() if spec.domain == "tax"]
    assert [(spec.name, spec.level, spec.size, spec.nlp_type) for spec in tax] == TABLE_1


def test_summaries_and_questions_get_300_new_tokens_and_the_rest_200() -> None:
    longer = {spec.name for spec in load_catalog().values() if spec.limits.new_tokens == 300}
    assert longer == {"TaxSum", "TaxQA", "TaxBoard", "TaxOpinion"}
    assert {spec.limits.input_tokens for spec in load_catalog().values()} == {2048}


def test_labels_and_letters_cover_each_other() -> None:
    assert find_task("TaxTopic").letters == "ABCDEFGHIJ"
    assert find_task("TaxCrime").letters == "ABCDEFGHIJKLM"
    assert find_task("TaxSCQ").letters == "ABCD"
    assert find_task("TaxMCQ").letters == "ABCDE"


def test_tax_crime_may_have_two_right_articles() -> None:
    assert find_task("TaxCrime").gold_size == (1, 2)


def test_the_printed_name_and_the_gold_name_of_a_risk_field_are_one_field() -> None:
    names = {name: field.name for field in find_task("TaxRisk").fields for name in (field.name, *field.aliases)}
    assert names["风险对应的解决方案"] == names["对应的解决措施"] == names["措施"]


def test_an_unknown_task_gets_a_suggestion() -> None:
    with pytest.raises(TaskError, match="did you mean 'TaxRecite'"):
        find_task("TaxRecit")


def test_a_new_task_is_one_folder_and_a_new_domain_one_more(tmp_path: Path) -> None:
    for name, domain in (("tax_risk", "tax"), ("audit_risk", "finance")):
        change(copy_task(tmp_path, name, domain) / "task.yaml", name=name, domain=domain)
    assert sorted(load_catalog(tmp_path)) == ["audit_risk", "tax_risk"]
    assert find_task("audit_risk", tmp_path).domain == "finance"


def test_two_folders_with_one_name_are_refused(tmp_path: Path) -> None:
    copy_task(tmp_path, "one")
    copy_task(tmp_path, "two")
    with pytest.raises(TaskError, match="'TaxRisk' is taken"):
        load_catalog(tmp_path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    folder = copy_task(tmp_path)
    (folder / "prompts.yaml").unlink()
    with pytest.raises(TaskError, match=r"prompts\.yaml: missing"):
        load_task(folder)


def test_a_misspelt_key_gets_a_suggestion(tmp_path: Path) -> None:
    folder = copy_task(tmp_path)
    change(folder / "task.yaml", limitss={"new_tokens": 1})
    with pytest.raises(TaskError, match=r"limitss.*did you mean 'limits'"):
        load_task(folder)


def test_a_score_group_with_an_unknown_field_is_refused(tmp_path: Path) -> None:
    folder = copy_task(tmp_path)
    change(folder / "task.yaml", score={"groups": [{"metric": "bertscore", "fields": ["税务风险点"]}]})
    with pytest.raises(TaskError, match="税务风险点"):
        load_task(folder)


def test_a_score_rule_needs_metrics_or_groups_not_both(tmp_path: Path) -> None:
    folder = copy_task(tmp_path)
    change(folder / "task.yaml", score={})
    with pytest.raises(TaskError, match="either metrics or groups"):
        load_task(folder)


def test_a_choice_task_without_options_is_refused(tmp_path: Path) -> None:
    folder = copy_task(tmp_path)
    change(folder / "task.yaml", form="single", fields=[], score={"metrics": ["accuracy"]})
    with pytest.raises(TaskError, match="needs options or labels"):
        load_task(folder)
