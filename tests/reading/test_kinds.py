"""Kinds of answers that readers get wrong, several cases of each (what a person reads in them, set by hand)."""

from __future__ import annotations

import pytest

from taxpraben.reading import read_answer
from taxpraben.records.field import Field

TEN = [
    "营改增前",
    "出口货物",
    "进口货物",
    "跨境服务",
    "免税商品",
    "农业产品",
    "资源综合",
    "小微企业",
    "高新企业",
    "公益捐赠",
]

CHOICES = {
    "the final or corrected answer wins": [
        ("single", "ABCD", "起初觉得是A，复核后改为C", "C"),
        ("single", "ABCD", "我认为答案是A。等等，重新核对条款后，正确答案是D。", "D"),
        ("single", "ABCD", "对不起，我之前说的A有误，答案是B", "B"),
        ("single", "ABCD", "B选项不成立，因为已过申报期。由此可见，答案是 (A)", "A"),
    ],
    "a rejected option is no answer": [
        ("single", "ABCD", "A不对，B不对，D不对，所以是C", "C"),
        ("single", "ABCD", "因此本题答案不是A，也不是C，而是B", "B"),
        ("single", "ABCD", "显然不是A、B、C", "D"),
        ("single", "ABCD", "(A) is wrong, so I pick (C).", "C"),
        ("single", "ABCD", "The answer is not A but B.", "B"),
        (
            "single",
            "ABCD",
            "I choose option B. Option A is incorrect. Option D is also wrong because of the term.",
            "B",
        ),
        ("set", "ABCDE", "选AC，不选B、D、E", "AC"),
        ("set", "ABCDE", "答案：ABD（C错误）", "ABD"),
        ("set", "ABCDE", "排除B和D，其余入选", "ACE"),
    ],
    "separators of every kind": [
        ("set", "ABCDE", "A/C/E", "ACE"),
        ("set", "ABCDE", "A C E", "ACE"),
        ("set", "ABCDE", "A+C", "AC"),
        ("set", "ABCDE", "A，C，以及E", "ACE"),
        ("set", "ABCDE", '["A", "C"]', "AC"),
        ("set", "ABCDE", "1. A\n2. C", "AC"),
        ("set", "ABCDE", "- A\n- D", "AD"),
        ("set", "ABCDE", "A\nC\nD", "ACD"),
        ("set", "ABCDE", "\n\nA、B、C\n\n解释：\n\nA、B、", "ABC"),
        ("set", "ABCDEFGHIJKLM", "A 和 M", "AM"),
        ("set", "ABCDEFGHIJ", "HJ", "HJ"),
    ],
    "case and width": [
        ("single", "ABCDEFGHIJ", "应选（j）", "J"),
        ("single", "ABCDEFGHIJKLM", "故选Ｍ。", "M"),
        ("single", "ABCD", "ａ", "A"),
        ("set", "ABCDE", "答案为ＡＣＥ。", "ACE"),
        ("set", "ABCDE", "ace", "ACE"),
    ],
    "Markdown and LaTeX": [
        ("single", "ABCDE", "**Answer:** E", "E"),
        ("single", "ABCD", "### 最终答案\nC", "C"),
        ("single", "ABCD", "$$\\boxed{\\mathbf{B}}$$", "B"),
        ("single", "ABCD", "\\boxed{\\text{(C)}}", "C"),
        ("single", "ABCD", "> **B**", "B"),
        ("set", "ABCDE", "\\boxed{A, C, D}", "ACD"),
        ("set", "ABCDE", "答案：$A,\\ C$", "AC"),
        ("set", "ABC", "| 选项 | 判断 |\n|---|---|\n| A | 正确 |\n| B | 错误 |\n| C | 正确 |", "AC"),
    ],
    "verdicts on each option": [
        ("set", "ABCDE", "A. 正确 B. 错误 C. 正确 D. 错误 E. 正确", "ACE"),
        ("set", "ABCDE", "A✓ B✗ C✓ D✗ E✗", "AC"),
        ("set", "ABCDE", "A、B正确，C、D、E错误", "AB"),
        ("set", "ABCDE", "A对 B错 C对 D错 E错", "AC"),
        ("single", "ABCD", "A项没有对甲公司处罚；B项的意见是：对乙公司从轻；C项；D项", None),
        ("set", "ABCDE", "A属于，B不属于，C属于，D不属于，E不属于", "AC"),
        ("set", "ABCDE", "先看A，正确；再看B，不正确；C也正确；D、E不正确。", "AC"),
    ],
    "all but": [
        ("set", "ABCDE", "除A、B外，其余各项均符合", "CDE"),
        ("set", "ABCDE", "B以外的选项都正确", "ACDE"),
        ("set", "ABCDE", "C错误，其余正确", "ABDE"),
        ("set", "ABCDE", "不正确的是B，其他均正确", "ACDE"),
        ("set", "ABCDE", "所有选项均符合题意", "ABCDE"),
    ],
    "a letter inside a word is no option": [
        ("single", "ABCDEFGHIJKLM", "According to the Law, the answer is H", "H"),
        ("single", "ABCDEFGHIJKLM", "I am glad to help. 选项K符合", "K"),
        ("single", "ABCD", "\nThank you for asking about deductions.", None),
    ],
    "nothing is picked": [
        ("single", "ABCD", "没有正确选项", None),
        ("single", "ABCD", "A和B都有可能", None),
        ("single", "ABCD", "需要结合合同条款判断。", None),
        ("single", "ABCD", "【解析】A项错误，B项错误。 <eoe>\n【答案】 A, B <eoa>", None),
    ],
}

TEXTS = {
    "letter with its text": [
        ("single", "D.跨境服务", "D"),
        ("single", "J、公益捐赠。", "J"),
        ("set", "B.出口货物\nH.小微企业", "BH"),
    ],
    "text instead of the letter": [
        ("single", "小微企业", "H"),
        ("single", "属于“免税商品”", "E"),
        ("set", "农业产品、公益捐赠", "FJ"),
    ],
    "text that is none of the options": [("single", "房产交易", None), ("set", "房产交易、车辆购置", None)],
}

NUMBERS = [
    # thousands, width, decoration
    ("1,234,567.89", "元", "1234567.89"),
    ("12\u00a0345.6元", "元", "12345.6"),
    ("１，２３４．５元", "元", "1234.5"),
    ("**36.5**万元", "万元", "36.5"),
    ("36.5 \\text{万元}", "万元", "36.5"),
    ("$\\boxed{36.50}$", "", "36.5"),
    # signs and shares
    ("负的3.2万元", "万元", "-3.2"),
    ("－３．５万元", "万元", "-3.5"),
    ("百分之十三点五", "%", "13.5"),
    ("千分之五", "%", "0.5"),
    # units by the field
    ("32000万元", "亿元", "3.2"),
    ("应纳税额为500,000.00元（即50万元）", "万元", "50"),
    ("税额50万元，占收入的25%", "万元", "50"),
    ("人民币叁拾陆万伍仟元整", "万元", "36.5"),
    ("十二万三千元", "元", "123000"),
    # sums
    ("税额=（1000－400）×25％＝150（万元）", "万元", "150"),
    ("20×5%＝1（万元），20×8%＝1.6（万元），共2.6万元", "万元", "2.6"),
    ("75+60=135元", "元", "135"),
    # years and articles are no answers, nor is what is taken back
    ("2028年应缴增值税12万元", "万元", "12"),
    ("第3题：8万元", "万元", "8"),
    ("答案不是5万元，而是6万元", "万元", "6"),
    ("原算得5万元有误，更正为6万元", "万元", "6"),
    # durations and counts
    ("有期徒刑三年六个月", "个月", "42"),
    ("[刑期]24月<eoa>", "个月", "24"),
    ("15日内", "日", "15"),
    ("30000吨", "万吨", "3"),
    # ranges, bounds and several candidates are unread
    ("5万至6万元", "万元", None),
    ("5-6万元", "万元", None),
    ("不超过5万元", "万元", None),
    ("5万元左右", "万元", None),
    ("[刑期]3-10年<eoa>", "个月", None),
    ("自2028年3月1日起", "个月", None),
    ("甲5万元，乙7万元", "万元", None),
]


@pytest.mark.parametrize(
    ("form", "letters", "text", "picked"),
    [
        pytest.param(*case, id=f"{kind}-{number}")
        for kind, cases in CHOICES.items()
        for number, case in enumerate(cases)
    ],
)
def test_choice_is_read_as_a_person_reads_it(form: str, letters: str, text: str, picked: str | None) -> None:
    assert read_answer(form, text, letters=letters).value == picked  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("form", "text", "picked"),
    [pytest.param(*case, id=f"{kind}-{number}") for kind, cases in TEXTS.items() for number, case in enumerate(cases)],
)
def test_option_text_is_read_as_a_person_reads_it(form: str, text: str, picked: str | None) -> None:
    assert read_answer(form, text, letters="ABCDEFGHIJ", choices=TEN).value == picked  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "unit", "value"), NUMBERS)
def test_number_is_read_as_a_person_reads_it(text: str, unit: str, value: str | None) -> None:
    prompt = "将答案写在[刑期]与<eoa>之间，例如[刑期]6月<eoa>。"
    result = read_answer("number", text, unit=unit, prompt=prompt)
    assert (result.value, result.status) == (value, "read" if value else "unread"), result


def test_question_for_what_is_wrong_turns_all_but_round() -> None:
    wrong = "下列说法中错误的有（ ）"
    assert read_answer("set", "只有C错误，其他选项均正确", letters="ABCDE", question=wrong).value == "C"


@pytest.mark.parametrize(
    "text", ["B：按月申报并缴纳税款，期限为次月十五日以内。", "按月申报并缴纳税款，期限为次月十五日以内"]
)
def test_option_restated_alone_is_an_answer_and_no_echo(text: str) -> None:
    options = ["按次申报", "按月申报并缴纳税款，期限为次月十五日以内", "按年申报", "无需申报"]
    prompt = "选出正确的一项。" + "".join(f"{letter}:{option};" for letter, option in zip("ABCD", options, strict=True))
    result = read_answer("single", text, letters="ABCD", choices=options, prompt=prompt)
    assert (result.value, result.status) == ("B", "read")
    every = "\n".join(f"{letter}:{option}" for letter, option in zip("ABCD", options, strict=True))
    assert read_answer("single", every, letters="ABCD", choices=options, prompt=prompt).value is None


def test_span_copied_from_the_passage_is_no_echo() -> None:
    copied = "纳税人应当自纳税义务发生之日起十五日内向主管税务机关申报"
    passage = (
        f"文本：关于申报期限，{copied}，逾期按日加收滞纳金；因不可抗力延期的，障碍消除后补报。问题：期限如何规定？"
    )
    assert read_answer("span", copied, question=passage, prompt=f"请摘录原文。\n{passage}").value == copied
    assert read_answer("span", passage, question=passage, prompt=f"请摘录原文。\n{passage}").value is None


def test_label_that_the_prompt_asks_for_marks_a_line_too() -> None:
    told = "将答案写在[类别]与<eoa>之间，例如[类别]免税商品<eoa>。"
    result = read_answer(
        "single", "类别：小微企业\n依据：年度应税收入不高。", letters="ABCDEFGHIJ", choices=TEN, prompt=told
    )
    assert result.value == "H"
    told = "将答案写在[期限]与<eoa>之间。"
    assert read_answer("span", "期限：十五日内\n理由见上文", prompt=told).value == "十五日内"
    assert read_answer("span", "先作分析。\n[期限]十五日内<eoa>", prompt=told).value == "十五日内"


def test_example_of_the_repeated_instruction_is_no_answer() -> None:
    told = "将答案写在[金额]与<eoa>之间，例如[金额]500元<eoa>。"
    assert read_answer("number", f"请{told}\n答案：720元<eoa>", unit="元", prompt=told).value == "720"
    assert read_answer("number", f"请计算后{told}", unit="元", prompt=told).value is None


@pytest.mark.parametrize(
    ("form", "text", "prompt"),
    [
        ("single", "选出正确的一项。A:按次;B:按月;C:按年;D:不申报", "选出正确的一项。A:按次;B:按月;C:按年;D:不申报"),
        ("single", "答案：A或B", ""),
        ("single", "您好！", ""),
        ("number", "请补充材料。", ""),
        ("number", "根据第八条，自2028年起执行", ""),
        ("span", "<eoa>", "[期限]与<eoa>"),
    ],
)
def test_model_is_not_asked_where_there_is_nothing_to_read(form: str, text: str, prompt: str) -> None:
    def ask(prompt: str) -> str:
        raise AssertionError(prompt)

    assert read_answer(form, text, letters="ABCD", unit="元", prompt=prompt, ask=ask).status == "unread"  # type: ignore[arg-type]


FIELDS = [Field(name="争议焦点", kind="text", aliases=["焦点"]), Field(name="处理意见", kind="text", aliases=["意见"])]
MIXED = [Field(name="思路", kind="text"), Field(name="税额", kind="number", unit="万元")]
BOTH = {"争议焦点": "收入时点", "处理意见": "补缴税款"}


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("{争议焦点：收入时点，处理意见：补缴税款}", "json_repaired"),
        ('{"争议焦点":"收入时点" "处理意见":"补缴税款"}', "json_repaired"),
        ('{"争议焦点":"收入时点", // 注\n"处理意见":"补缴税款"}', "json_repaired"),
        ('{\\"争议焦点\\": \\"收入时点\\", \\"处理意见\\": \\"补缴税款\\"}', "json_repaired"),
        ('{"争议焦点":"收入时点","处理意见":"补缴税款"', "truncated"),
        ('[{"字段":"争议焦点","内容":"收入时点"},{"字段":"处理意见","内容":"补缴税款"}]', None),
        ('{"焦点":"收入时点","意见":["补缴税款"]}', "listed"),
        ("【争议焦点】收入时点\n【处理意见】补缴税款", "labelled"),
        ("一、争议焦点\n收入时点\n\n二、处理意见\n补缴税款", "labelled"),
        ("### 争议焦点\n收入时点\n\n### 处理意见\n补缴税款", "labelled"),
        ("- **争议焦点**：收入时点\n- **处理意见**：补缴税款", "labelled"),
        ("| 字段 | 内容 |\n|---|---|\n| 争议焦点 | 收入时点 |\n| 处理意见 | 补缴税款 |", "labelled"),
        ("| 争议焦点 | 处理意见 |\n|---|---|\n| 收入时点 | 补缴税款 |", "labelled"),
        ("<争议焦点>收入时点</争议焦点><处理意见>补缴税款</处理意见>", "labelled"),
        ("本案争议焦点是收入时点，处理意见为补缴税款", "labelled"),
        ("本案中，争议焦点是收入时点，处理意见为补缴税款", "labelled"),
    ],
)
def test_fields_are_read_whatever_the_syntax_and_repairs_are_flagged(text: str, flag: str | None) -> None:
    result = read_answer("fields", text, fields=FIELDS)
    assert result.value == BOTH, result
    assert flag in result.flags if flag else "json_repaired" not in result.flags


def test_number_in_an_object_of_its_own_is_converted_and_none_is_invented() -> None:
    nested = read_answer("fields", '{"思路":"拆分","税额":{"金额":36.5,"单位":"万元"}}', fields=MIXED)
    assert nested.value == {"思路": "拆分", "税额": "36.5"}
    ranged = read_answer("fields", '{"思路":"拆分","税额":"36万至40万元"}', fields=MIXED)
    assert ranged.value == {"思路": "拆分", "税额": None}
    assert "no_number:税额" in ranged.flags
