"""The release for other tools: the paper's rows, the questions as asked, task files that name what exists."""

import ast
import json

import pytest
import yaml
from published_world import item, small_release

from stages.publish.exports.bundle import bundle
from stages.publish.exports.lm_eval import task_files
from stages.publish.exports.opencompass import dataset_config
from stages.publish.exports.paper_format import json_lines, paper_row
from stages.publish.exports.questions import question_row
from taxpraben.tasks.catalog import find_task, load_catalog
from taxpraben.tasks.rendering import render as asked

TASKS = list(load_catalog().values())


def test_a_single_choice_row_has_the_papers_keys_with_letters_and_one_index() -> None:
    row = paper_row(small_release()["TaxSCQ"][0], find_task("TaxSCQ"))
    assert list(row) == ["id", "query", "text", "answer", "choices", "gold"]
    assert (row["answer"], row["choices"], row["gold"]) == ("C", ["A", "B", "C", "D"], 2)


def test_a_gold_of_several_options_is_a_list() -> None:
    assert paper_row(small_release()["TaxMCQ"][0], find_task("TaxMCQ"))["gold"] == [0, 3]
    crime = find_task("TaxCrime")
    one = item("TaxCrime", 1, choices=crime.labels, gold=[3], answer="D")
    assert paper_row(one, crime)["gold"] == [3]


@pytest.mark.parametrize("task", ["TaxQA", "TaxCalc"])
def test_a_row_without_options_has_four_keys(task: str) -> None:
    assert list(paper_row(small_release()[task][0], find_task(task))) == ["id", "query", "text", "answer"]


def test_json_lines_keep_chinese_readable_have_no_byte_order_mark_and_one_line_a_row() -> None:
    lines = json_lines([{"id": "a", "text": "第一行\n第二行 𠮷"}, {"id": "b", "text": "\u2028"}])
    assert lines.startswith('{"id": "a", "text": "第一行\\n第二行 𠮷"}\n'.encode())
    assert [json.loads(line)["id"] for line in lines.decode().split("\n")[:-1]] == ["a", "b"]


def test_the_questions_are_those_that_infer_asks() -> None:
    for name, items in small_release().items():
        spec = find_task(name)
        by_id = {row.item_id: row for row in items}
        for row in items:
            exported = question_row(spec, row, by_id)
            assert exported["zero_shot"] == asked(spec, row)
            assert exported["one_shot"] == asked(spec, row, by_id[row.example_id])


def test_without_an_example_the_one_shot_question_is_the_zero_shot_one() -> None:
    row = question_row(find_task("TaxQA"), item("TaxQA", 1), {})
    assert row["one_shot"] == row["zero_shot"] == asked(find_task("TaxQA"), item("TaxQA", 1))


def test_a_task_file_a_task_and_setting_and_a_group_a_setting_name_each_other() -> None:
    files = task_files(TASKS, "0.1.0")
    assert len(files) == 2 * (len(TASKS) + 1)
    for setting in ("zero_shot", "one_shot"):
        group = yaml.safe_load(files[f"taxpraben_{setting}.yaml"])
        assert len(group["task"]) == len(TASKS)
        for name in group["task"]:
            config = yaml.safe_load(files[f"{name}.yaml"])
            assert (config["task"], config["doc_to_text"], config["doc_to_target"]) == (name, setting, "answer")


def test_a_task_file_keeps_the_tasks_limit_of_new_tokens() -> None:
    files = task_files(TASKS, "0.1.0")
    for name, tokens in (("taxqa", 300), ("taxscq", 200), ("taxsum", 300), ("taxplan", 200)):  # section 6.3
        assert yaml.safe_load(files[f"taxpraben_{name}_zero_shot.yaml"])["generation_kwargs"]["max_gen_toks"] == tokens


def test_the_opencompass_configuration_is_python_that_names_each_task_once() -> None:
    tree = ast.parse(dataset_config(TASKS, "0.1.0"))
    [rows] = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "_TASKS"]
    named = ast.literal_eval(rows)
    assert [row[0] for row in named] == [spec.name for spec in TASKS]
    assert {row[0]: row[2] for row in named if row[2]} == {"TaxTopic": "ABCDEFGHIJ", "TaxSCQ": "ABCD"}


def test_the_bundle_has_files_for_tasks_with_items_only_and_equal_bytes_twice() -> None:
    files = bundle(small_release(), TASKS, "0.1.0")
    assert files == bundle(small_release(), TASKS, "0.1.0")
    assert [name for name in files if name.startswith("jsonl/")] == [
        "jsonl/TaxCalc.jsonl", "jsonl/TaxSCQ.jsonl", "jsonl/TaxMCQ.jsonl", "jsonl/TaxQA.jsonl",
    ]  # fmt: skip
    readme = files["README.md"].decode()
    assert "12 items in 4 tasks" in readme
    assert "| TaxSCQ | 税务单项选择题 | KA | single | 3 |" in readme
    assert "{" not in readme
