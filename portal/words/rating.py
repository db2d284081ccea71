"""The rating of prompts. Chinese first, then English."""

from __future__ import annotations

WORDS: dict[str, tuple[str, str]] = {
    "ratings_title": ("提示词评分", "Rate prompts"),
    "ratings_hint": (
        "每个数据集 20 条提示词，每条按准确、自然、信息量各打 0 到 3 分。",
        "Twenty prompts a dataset; each gets marks from 0 to 3 for accuracy, naturalness and informativeness.",
    ),
    "ratings_none": ("没有分派给您的提示词。", "No prompts were handed to you."),
    "ratings_waiting": ("还有 {count} 条待评", "{count} wait for you"),
    "ratings_all_done": ("全部评完，谢谢！", "All rated. Thank you!"),
    "rate_next": ("评下一条", "Rate the next"),
    "prompt": ("提示词", "Prompt"),
    "prompt_number": ("第 {number} 条", "No. {number}"),
    "place_of": ("{place} / {total}", "{place} of {total}"),
    "marks_given": ("得分", "Marks"),
    "waits": ("待评", "waits"),
    "closed_round": ("本轮已结束，评分不能再改。", "The round is closed; its marks stay as they are."),
    "metric_accuracy": ("准确性（ACC）", "Accuracy (ACC)"),
    "metric_naturalness": ("自然度（NAT）", "Naturalness (NAT)"),
    "metric_informativeness": ("信息量（INF）", "Informativeness (INF)"),
    "metric_text_accuracy": ("符合任务目标，没有错误或偏向", "It meets the task's goal, without error or bias"),
    "metric_text_naturalness": ("通顺自然，像人写的", "It is fluent and natural"),
    "metric_text_informativeness": ("含有完成任务所需的关键信息", "It holds the key information that the task needs"),
    "mark_0": ("很不同意", "strongly disagree"),
    "mark_1": ("不同意", "disagree"),
    "mark_2": ("同意", "agree"),
    "mark_3": ("很同意", "strongly agree"),
    "remark_optional": ("备注（可不填）", "Remark (optional)"),
    "save_marks": ("保存，下一条", "Keep, go on"),
    "marks_missing": ("三项都要打分。", "All three marks are needed."),
    "key_mark": ("给当前一项打分，到下一项", "mark the current metric, go to the next"),
    "key_metric": ("换一项", "another metric"),
    "key_rate": ("保存并到下一条", "keep the marks and go on"),
    "key_note": ("写备注", "write a remark"),
    "key_rate_back": ("回到列表", "back to the list"),
}
