"""Questions of a fictitious tax, grown from templates by seed: what the rendered exam books are printed from."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Literal

Kind = Literal["single", "multiple", "calculation"]
LETTERS = "ABCDE"
TAXES = ("清溪税", "望山税", "云桥税", "听雨税", "南坡税", "竹径税")
GOODS = ("竹编灯笼", "手工瓷碗", "桑皮纸伞", "木制风车", "棉麻布鞋", "陶土茶壶", "藤编书箱", "铜制风铃")
FIRMS = ("甲公司", "乙公司", "丙商行", "丁合作社", "戊工作室", "己贸易公司")
ACTS = (
    "将自产货物用于市场推广",
    "向境外单位出租仓库", "受托加工后收取的加工费", "无偿转让商标使用权", "以旧换新方式销售货物",
    "从农户处收购原料自用",
    "向职工食堂供应饮用水", "展销会上出售的样品", "代其他单位收取的押金", "因质量问题收回的退货",
    "举办培训取得的报名费", "出租自有车辆的租金", "承接修缮工程的价款", "向学校捐赠的图书", "出售使用过的办公桌椅",
    "在本省范围内移送货物", "提供仓储服务的收入", "销售包装物的收入", "取得的财政补贴", "逾期未退还的押金",
)  # fmt: skip
SAYINGS = (
    "按月申报的，应当自期满之日起十五日内申报", "纳税地点为机构所在地", "以人民币以外货币结算的，应当折合成人民币",
    "纳税义务发生时间为收讫销售款的当天", "扣缴义务人应当按次解缴税款", "减免税项目应当单独核算",
    "逾期申报的，按日加收滞纳金",
    "总机构和分支机构不在同一地的，分别申报", "起征点由省级人民政府确定", "当期不足抵减的，可以结转下期继续抵减",
    "电子申报与纸质申报具有同等效力", "凭证保存期限为十年", "计税依据为不含税销售额", "兼营不同项目的，从高适用税率",
)  # fmt: skip


@dataclass(frozen=True)
class Question:
    """A question as it is to be read back.

    Attributes:
        chapter: from 1.
        number: within its chapter and kind, from 1.
        answer: sorted letters, or a calculation's number.
    """

    chapter: int
    kind: Kind
    number: int
    stem: str
    options: tuple[str, ...]
    answer: str
    unit: str
    explanation: str


def make_questions(seed: int = 7, chapters: int = 4, each: tuple[int, int, int] = (26, 14, 10)) -> list[Question]:
    """Questions in order of print: so many single choices, multiple choices and calculations a chapter."""
    draw = random.Random(seed)
    out: list[Question] = []
    seen: set[str] = set()
    for chapter in range(1, chapters + 1):
        for kind, count in zip(("single", "multiple", "calculation"), each, strict=True):
            for number in range(1, count + 1):
                question = _make(draw, chapter, kind, number)
                while question.stem in seen:
                    question = _make(draw, chapter, kind, number)
                seen.add(question.stem)
                out.append(question)
    return out


def _make(draw: random.Random, chapter: int, kind: Kind, number: int) -> Question:
    tax, firm, good, year = draw.choice(TAXES), draw.choice(FIRMS), draw.choice(GOODS), draw.randint(2021, 2026)
    rate, income, month = draw.randint(2, 17), draw.randint(12, 980), draw.randint(1, 12)
    if kind == "calculation":
        cost = draw.randint(1, income - 1)
        stem = (
            f"{firm}{year}年{month}月销售{good}取得不含税收入{income}万元，购入原料支出{cost}万元，取得合规凭证。"
            f"假设{tax}以收入减除原料支出后的余额为计税依据，税率为{rate}%。该公司当月应缴纳{tax}（　）元。"
        )
        tax_due = (income - cost) * rate * 100
        reason = f"应纳税额=（{income}-{cost}）×{rate}%×10000={tax_due}（元）。"
        return Question(chapter, kind, number, stem, (), str(tax_due), "元", reason)
    shape = draw.randrange(3)
    if kind == "single" and shape == 0:
        right = income * rate
        values = draw.sample(
            sorted({right + step * rate for step in (-3, -2, -1, 1, 2, 3) if right + step * rate > 0}), 3
        )
        options = [f"{value / 100:.2f}万元" for value in draw.sample([right, *values], 4)]
        stem = f"{firm}{year}年{month}月销售{good}取得收入{income}万元，{tax}税率为{rate}%，应缴纳{tax}（　）。"
        letter = LETTERS[options.index(f"{right / 100:.2f}万元")]
        return Question(
            chapter, kind, number, stem, tuple(options), letter, "", f"{income}×{rate}%={right / 100:.2f}（万元）。"
        )
    count = 4 if kind == "single" else draw.choice((4, 5))
    right_count = 1 if kind == "single" else draw.randint(2, count - 1)
    if shape == 1:
        pool, asked = ACTS, f"{firm}{year}年发生的下列业务中，应当缴纳{tax}的"
    else:
        pool, asked = SAYINGS, f"关于{tax}{year}年第{month}号公告所定的征收管理，下列说法正确的"
    options = draw.sample(pool, count)
    answer = "".join(sorted(draw.sample(LETTERS[:count], right_count)))
    stem = f"{asked}{'是' if kind == 'single' else '有'}（　）。"
    reason = (
        f"依照{tax}征收办法（虚构）第{draw.randint(3, 48)}条，{'、'.join(f'选项{letter}' for letter in answer)}正确。"
    )
    return Question(chapter, kind, number, stem, tuple(options), answer, "", reason)
