from __future__ import annotations

from taxpraben.tasks.catalog import find_task
from taxpraben.tasks.rendering import CUT_MARK, passage_length, render
from tests.infer.samples import make_item, make_text_item

SCQ, READ, SUM = find_task("TaxSCQ"), find_task("TaxRead"), find_task("TaxSum")


def test_zero_shot_is_query_text_and_the_place_for_the_answer() -> None:
    item = make_item(1, query="选一个。", text="题目 A.甲 B.乙")
    assert render(SCQ, item) == "选一个。\n\n文本：题目 A.甲 B.乙\n\n答案："


def test_one_shot_shows_the_example_with_its_answer_before_the_text() -> None:
    item = make_item(1, query="选一个。", text="第一题")
    example = make_item(2, text="第二题", answer="C")
    assert render(SCQ, item, example) == ("选一个。\n\n示例文本：第二题\n\n示例答案：C\n\n文本：第一题\n\n答案：")


def test_items_with_the_same_example_begin_alike() -> None:
    example = make_item(9)
    first, second = (render(SCQ, make_item(number), example) for number in (1, 2))
    shared = first.index("\n\n文本：")
    assert first[:shared] == second[:shared]
    assert "示例答案" in first[:shared]


def test_a_cut_takes_from_the_passage_and_leaves_the_question() -> None:
    item = make_text_item(1, "TaxRead", "甲公司设立于杭州。" * 5 + "问题：甲公司在哪里？", "杭州")
    assert passage_length(READ, item) == 45  # five sentences of nine characters
    assert f"文本：甲公司设立{CUT_MARK}问题：甲公司在哪里？\n" in render(READ, item, kept=5)
    assert CUT_MARK not in render(READ, item, kept=45)


def test_only_the_last_question_label_ends_the_passage() -> None:
    item = make_text_item(1, "TaxRead", "常见问题：如何开票。问题：是什么？", "开票")
    assert passage_length(READ, item) == len("常见问题：如何开票。")


def test_a_text_without_a_question_is_all_passage() -> None:
    item = make_text_item(1, "TaxSum", "某市税务局发布公告。", "公告")
    assert passage_length(SUM, item) == len(item.text)
