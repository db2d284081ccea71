from __future__ import annotations

import json

from stages.infer.typical import most_frequent, most_frequent_of_the_others, most_like_the_others, typical_answers
from taxpraben.tasks.catalog import find_task
from tests.infer.samples import make_item, make_text_item


def test_the_most_frequent_answer_is_counted_without_the_items_own() -> None:
    answers = {"1": "A", "2": "A", "3": "B", "4": "B", "5": "C"}
    # A and B tie at two; without its own answer an A sees B ahead and a B sees A ahead; C sees the tie, A by text
    assert most_frequent_of_the_others(answers) == {"1": "B", "2": "B", "3": "A", "4": "A", "5": "A"}


def test_letters_get_the_majority_class_for_every_item() -> None:
    # as sklearn's DummyClassifier(strategy="most_frequent"): on balanced classes it is right once in a class
    assert most_frequent({"1": "B", "2": "A", "3": "B", "4": "A"}) == dict.fromkeys("1234", "A")


def test_an_answer_that_no_other_item_has_is_never_given_back_to_its_item() -> None:
    answers = {str(number): f"第{number}种独有的答案" for number in range(20)}
    for typical in (most_frequent_of_the_others(answers), most_like_the_others(answers)):
        assert all(typical[name] != own for name, own in answers.items())
        assert set(typical.values()) <= set(answers.values())


def test_the_text_most_like_its_half_is_chosen() -> None:
    answers = {str(number): "应当自发生之日起十五日内申报纳税" for number in range(10)} | {"x": "无关的另一句话"}
    typical = most_like_the_others(answers)
    assert set(typical.values()) == {"应当自发生之日起十五日内申报纳税"}


def test_the_only_item_of_a_task_gets_no_answer() -> None:
    assert typical_answers(find_task("TaxSCQ"), [make_item(1)]) == {"TaxSCQ-001": ""}
    assert typical_answers(find_task("TaxSum"), [make_text_item(1, "TaxSum", "文", "答")]) == {"TaxSum-001": ""}


def test_fields_are_filled_one_by_one_and_labels_by_frequency() -> None:
    crimes = ["逃税罪", "逃税罪", "虚开发票罪", "逃税罪"]
    items = [
        make_text_item(
            number,
            "TaxInspect",
            "案情",
            json.dumps(
                {"犯罪行为": f"行为{number}", "所犯罪名": crime, "处罚结果": f"罚款{number}万元"}, ensure_ascii=False
            ),
        )
        for number, crime in enumerate(crimes)
    ]
    typical = typical_answers(find_task("TaxInspect"), items)
    found = json.loads(typical["TaxInspect-002"])
    assert list(found) == ["犯罪行为", "所犯罪名", "处罚结果"]
    assert found["所犯罪名"] == "逃税罪"
    assert found["犯罪行为"] != "行为2"
