"""Decisions become items; what breaks its task's rule is refused by name; nobody is its own example."""

import json

import pytest

from stages.build.params import BuildParams
from stages.build.release import build_task, choose_examples, own_field_list, release_digest
from taxpraben.records.content import Content
from taxpraben.records.decision import Decision
from taxpraben.records.draft import Draft
from taxpraben.records.field import Field
from taxpraben.tasks.catalog import find_task
from taxpraben.tasks.rules import broken_rules

PARAMS = BuildParams()
QUESTIONS = [
    "印花税由谁缴纳",
    "车船税何时申报",
    "契税的税率是多少",
    "资源税如何计征",
    "环保税的免税情形",
    "房产税的计税依据",
]


def choice(stem: str, answer: str = "B", options: tuple[str, ...] = ("一", "二", "三", "四")) -> Content:
    return Content(text=stem, answer=answer, choices=list(options), gold=["ABCDE".index(letter) for letter in answer])


def decided(
    number: int, content: Content | None, verdict: str = "accepted", task: str = "TaxSCQ"
) -> tuple[Draft, Decision]:
    draft = Draft(
        draft_id=f"{task}-{number:012d}",
        task=task,
        document_id="doc-book",
        origin="book.pdf",
        slot=f"单选{number}",
        method="parsed",
        status="drafted",
        content=content,
        effective="2026-01-01",
    )
    decision = Decision(
        draft_id=draft.draft_id,
        task=task,
        draft_digest=content.digest if content else "",
        verdict=verdict,
        content=None if verdict == "rejected" else content,
        annotator="annotator-01",
        decided_at="2026-11-30T00:00:00Z",
    )
    return draft, decision


def build(pairs: list[tuple[Draft, Decision]], params: BuildParams = PARAMS, task: str = "TaxSCQ"):
    return build_task(find_task(task), [draft for draft, _ in pairs], [decision for _, decision in pairs], params)


def test_an_accepted_draft_becomes_an_item_that_remembers_where_it_came_from() -> None:
    [item] = build([decided(1, choice("印花税由谁缴纳"))]).items
    assert (item.answer, item.gold, item.origin, item.effective) == ("B", [1], "book.pdf", "2026-01-01")
    assert item.query == find_task("TaxSCQ").prompts[item.prompt]


@pytest.mark.parametrize(
    ("day", "effective", "repealed", "kept"),
    [
        ("2026-01-01", "2026-01-01", "", True),
        ("2025-12-31", "2026-01-01", "", False),
        ("2026-06-30", "2026-01-01", "2026-07-01", True),
        ("2026-07-01", "2026-01-01", "2026-07-01", False),
        ("2000-01-01", "", "", True),  # the source states no dates: kept, and counted as undated
    ],
)
def test_a_release_for_a_day_holds_what_was_in_force_on_it(day: str, effective: str, repealed: str, kept: bool) -> None:
    draft, decision = decided(1, choice("印花税由谁缴纳"))
    draft = draft.model_copy(update={"effective": effective, "repealed": repealed})
    built = build([(draft, decision)], BuildParams(in_force_on=day))
    assert (len(built.items), built.not_in_force) == ((1, 0) if kept else (0, 1))
    assert built.undated == int(not effective)


def test_a_day_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="in_force_on"):
        BuildParams(in_force_on="2026-02-30")


def test_a_rejected_draft_gives_no_item_and_is_counted() -> None:
    built = build([decided(1, choice("甲"), "rejected"), decided(2, choice("乙"))])
    assert (len(built.items), built.rejected, built.refused) == (1, 1, [])


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (choice("题", options=("一", "二", "二", "四")), "two options have the same text '二'"),
        (choice("题", options=("一", "二", "三")), "3 options instead of 4"),
        (choice("题", answer="AB"), "2 right options instead of 1 to 1"),
        (choice("题").model_copy(update={"gold": [7]}), "points outside the 4 options"),
        (choice("题").model_copy(update={"answer": "C"}), "the answer 'C' is not the letters of gold"),
        (choice("  "), "the text is empty"),
    ],
)
def test_a_content_that_breaks_a_rule_is_refused_with_the_reason(content: Content, fault: str) -> None:
    built = build([decided(1, content)])
    assert built.items == []
    assert any(fault in reason for reason in built.refused[0].reasons)


def test_number_answers_must_be_plain_numbers() -> None:
    assert broken_rules(Content(text="应纳税额？", answer="-72.75"), find_task("TaxCalc")) == []
    assert "not a plain number" in broken_rules(Content(text="应纳税额？", answer="约3万"), find_task("TaxCalc"))[0]


def test_fields_must_be_there_and_of_their_kind() -> None:
    spec = find_task("TaxInspect")
    whole = {"犯罪行为": "虚开发票", "所犯罪名": "虚开发票罪", "处罚结果": "罚款"}
    assert broken_rules(Content(text="案情", answer=json.dumps(whole)), spec) == []
    assert broken_rules(Content(text="案情", answer=json.dumps({**whole, "处罚结果": ""})), spec) == [
        "field '处罚结果': empty"
    ]
    assert (
        "not one of its labels"
        in broken_rules(Content(text="案情", answer=json.dumps({**whole, "所犯罪名": "盗窃罪"})), spec)[0]
    )
    assert "is not asked for" in broken_rules(Content(text="案情", answer=json.dumps({**whole, "备注": "无"})), spec)[0]


def test_an_item_with_its_own_fields_asks_for_them_in_its_prompt() -> None:
    fields = [Field(name="核心思路", kind="text"), Field(name="节税额", kind="number", unit="万元")]
    assert own_field_list('请补全。{"核心思路": , "原年收入": }', fields) == '请补全。{"核心思路": , "节税额": }'


def test_no_item_is_its_own_example_nor_shown_its_near_duplicate() -> None:
    twins = {"a": "某商店二月销售收入十万元应纳增值税多少", "b": "某商店三月销售收入十万元应纳增值税多少"}
    texts = {**twins, **{str(n): text for n, text in enumerate(QUESTIONS)}}
    examples = choose_examples(texts, PARAMS)
    assert all(example not in ("", item) for item, example in examples.items())
    assert examples["a"] != "b"
    assert examples["b"] != "a"


def test_most_items_share_one_example_so_that_an_engine_computes_it_once() -> None:
    examples = list(choose_examples({str(n): text for n, text in enumerate(QUESTIONS)}, PARAMS).values())
    assert max(examples.count(example) for example in examples) == len(QUESTIONS) - 1


def test_a_lone_item_has_no_example() -> None:
    assert choose_examples({"only": "印花税"}, PARAMS) == {"only": ""}


def test_the_same_decisions_give_the_same_release_in_any_order() -> None:
    pairs = [decided(number, choice(stem)) for number, stem in enumerate(QUESTIONS)]
    assert release_digest(build(pairs).items) == release_digest(build(pairs[::-1]).items)


def test_another_seed_draws_other_prompts_or_examples() -> None:
    pairs = [decided(number, choice(stem)) for number, stem in enumerate(QUESTIONS)]
    assert release_digest(build(pairs).items) != release_digest(build(pairs, BuildParams(seed=1)).items)


def test_a_limit_keeps_that_many_items_and_counts_the_rest() -> None:
    pairs = [decided(number, choice(stem)) for number, stem in enumerate(QUESTIONS)]
    built = build(pairs, BuildParams(items_per_task=4))
    assert (len(built.items), built.left_out) == (4, 2)


def test_a_decision_without_its_draft_is_refused_with_the_remedy() -> None:
    _, decision = decided(1, choice("题"))
    built = build_task(find_task("TaxSCQ"), [], [decision], PARAMS)
    assert "its draft is gone" in built.refused[0].reasons[0]
