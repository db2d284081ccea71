"""Answers and references by seed for the scoring benchmark: clauses of tax words, a realistic mix of lengths."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

_WORDS = re.findall(
    r"\S+",
    "纳税人 增值税 申报 发票 企业 所得税 应当 可以 抵扣 进项 税额 规定 期限 办理 登记 优惠 政策 备案 小规模 "
    "一般 计税 销售额 免征 减按 征收率 财产 租赁 合同 印花税 土地 房产 扣除 专项 附加 子女 教育 继续 住房 "
    "贷款 利息 赡养 老人 汇算 清缴 补税 退税 电子 税务局 窗口 提交 资料 证明 复印件 单位 个人 收入 劳务 报酬 "
    "滞纳金 处罚 稽查 风险 虚开 隐匿 账簿 核定 季度 年度 次月 十五日内 主管 机关 出口 零税率 预缴 分摊 折旧",
)


@dataclass(frozen=True)
class Answered:
    """One call of a metric: the pairs (reference, candidate) of one model, setting and run."""

    model: int
    setting: int
    run: int
    pairs: list[tuple[str, str]]


def make_text(draw: random.Random, least: int, most: int) -> str:
    """Clauses up to a length that is short more often than long, as answers are (Table C3: labels of 11 to 800)."""
    wanted = least + int((most - least) * draw.betavariate(1.6, 2.8))
    clauses: list[str] = []
    while sum(map(len, clauses)) + len(clauses) < wanted:
        words = "".join(draw.choices(_WORDS, k=draw.randint(2, 5)))
        clauses.append(words + (f"{draw.randint(1, 9999)}元" if draw.random() < 0.15 else ""))
    return "，".join(clauses)[: max(wanted - 1, 1)] + "。"


def make_answers(
    models: int, settings: int, runs: int, items: int, differ: bool, seed: int = 20261130
) -> list[Answered]:
    """Every model's answers to the same items; a third of an answer's clauses stand in the reference.

    Args:
        models: models under test.
        settings: zero-shot, one-shot.
        runs: repetitions.
        items: references.
        differ: whether the runs of one model and setting give other answers, or five times the same.
        seed: of everything.
    """
    draw = random.Random(seed)
    references = [make_text(draw, 40, 120) for _ in range(items)]
    calls: list[Answered] = []
    for model in range(models):
        for setting in range(settings):
            first = [_answer(draw, reference) for reference in references]
            for run in range(runs):
                said = [_answer(draw, reference) for reference in references] if differ else first
                calls.append(Answered(model, setting, run, list(zip(references, said, strict=True))))
    return calls


def _answer(draw: random.Random, reference: str) -> str:
    kept = [clause for clause in reference.strip("。").split("，") if draw.random() < 0.35]
    return "，".join([*kept, make_text(draw, 30, 100)])
