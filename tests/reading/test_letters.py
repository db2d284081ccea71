"""Choices: what a person reads in an answer (expected letters set by hand)."""

from __future__ import annotations

import pytest

from taxpraben.reading import read_answer

TOPICS = ["申报缴纳", "发票管理", "出口退税", "税收优惠", "稽查处罚"]

SINGLE = [
    # the final or corrected answer wins
    ("B项看似合理，但B项遗漏了时限。因此答案是（D）", "D"),
    ("答案A不正确，正确答案应为B", "B"),
    ("应当选 A。更正：应当选 B。", "B"),
    ("先考虑A，但是A不符合规定，最终答案：C", "C"),
    # rejected options are no answers
    ("不应选B，而应选D", "D"),
    ("答案不是B而是D", "D"),
    ("经分析，A、B、D均不符合题意，故选C。", "C"),
    ("首先排除A和B，C与D之间，C更符合规定", "C"),
    ("可以排除A、B、D", "C"),
    # letters with marks, decoration, width and case
    ("正确选项是 a", "A"),
    ("答案：Ｄ", "D"),
    ("答案选【C】", "C"),
    ("**答案**：`B`", "B"),
    ("$\\boxed{\\text{C}}$", "C"),
    ("Ⓑ", "B"),
    ("<answer>B</answer>", "B"),
    ("【答案】C【解析】A项错误，B项过于绝对", "C"),
    ("答案是：\n\nC", "C"),
    ("The correct answer is (b).", "B"),
    ("Option C is the correct one because a company must pay tax", "C"),
    # letters that are no options
    ("Let me check the VAT rules first. 答案：D", "D"),
    ("选项C是正确的，因为A公司属于居民企业", "C"),
    # the answer first, reasons after
    ("我认为是B。理由：A 项中企业未办理登记", "B"),
    ("B 解析：本题考查纳税义务发生时间", "B"),
    ("C\n\nC\n\nC", "C"),
    # run-on text after the first marked answer
    ("[正确答案]B<eoa>\n请你回答：\n下列哪项正确？A:甲;B:乙\n[正确答案]C<eoa>", "B"),
    ("答案：A\n\n问题：下列说法错误的是\n答案：D", "A"),
    ("C<|im_end|>\n<|im_start|>user\n下一题选什么？答案：A", "C"),
    # nothing is picked
    ("答案：A或B", None),
    ("答案：ABC", None),
    ("答案：F", None),
    ("无法确定", None),
    ("A. 甲\nB. 乙\nC. 丙\nD. 丁", None),
    ("A、B、C、D 四个选项都有道理", None),
]

SETS = [
    ("答案：A，D", "AD"),
    ("ＢＤ", "BD"),
    ("E、C、A", "ACE"),
    ("选择A和C", "AC"),
    ("A、B、D都对", "ABD"),
    ("本题正确的有ABD", "ABD"),
    ("答案: a c e", "ACE"),
    ("A正确；B错误；C正确；D错误；E错误", "AC"),
    ("A：对\nB：错\nC：对\nD：错\nE：错", "AC"),
    ("A√ B× C√ D× E×", "AC"),
    ("A and D are correct. B and C are incorrect.", "AD"),
    ("除C以外，其他选项都正确", "ABDE"),
    ("只有C错误，其他选项均正确", "ABDE"),
    ("错误的是C，其余都正确", "ABDE"),
    ("以上选项都正确", "ABCDE"),
    ("全选", "ABCDE"),
    ("正确选项：A、C；错误选项：B、D、E", "AC"),
    ("A. 甲公司\nC. 丙公司", "AC"),
    ("属于视同销售的有：A. 捐赠、B. 投资、D. 分配", "ABD"),
    ("B", "B"),
    ("答案：无", None),
]


@pytest.mark.parametrize(("text", "letter"), SINGLE)
def test_single_choice_is_read_as_a_person_reads_it(text: str, letter: str | None) -> None:
    assert read_answer("single", text, letters="ABCD").value == letter


@pytest.mark.parametrize(("text", "letters"), SETS)
def test_multiple_choice_is_read_as_sorted_letters(text: str, letters: str | None) -> None:
    assert read_answer("set", text, letters="ABCDE").value == letters


@pytest.mark.parametrize(("letters", "text", "picked"), [("ABCDEFGHIJ", "答案：J", "J"), ("ABCDEFGHIJKLM", "M", "M")])
def test_longer_alphabets_are_read_to_their_last_letter(letters: str, text: str, picked: str) -> None:
    assert read_answer("single", text, letters=letters).value == picked


@pytest.mark.parametrize(
    ("text", "letter"),
    [("出口退税", "C"), ("主题为发票管理。", "B"), ("D.税收优惠", "D"), ("申报 缴纳", "A"), ("其他", None)],
)
def test_option_text_stands_for_its_letter(text: str, letter: str | None) -> None:
    assert read_answer("single", text, letters="ABCDE", choices=TOPICS).value == letter


def test_verdicts_are_turned_round_where_the_question_asks_for_what_is_wrong() -> None:
    text = "A项说法正确；B项说法错误；C项说法正确；D项说法正确"
    assert read_answer("single", text, letters="ABCD", question="下列说法错误的是（ ）").value == "B"
    assert read_answer("single", text, letters="ABCD", question="下列说法不正确的是？").value == "B"


def test_charge_with_article_in_digits_is_its_letter() -> None:
    labels = ["刑法第二百零一条", "刑法第二百零三条", "刑法第二百零五条"]
    assert read_answer("set", "刑法第205条", letters="ABC", choices=labels).value == "C"


@pytest.mark.parametrize(
    ("form", "text", "strict"),
    [
        ("single", "B", "B"),
        ("single", " B\n", "B"),
        ("single", "b", None),
        ("single", "B.", None),
        ("single", "AB", None),
        ("set", "AC", "AC"),
        ("set", "CA", None),
        ("set", "A、C", None),
    ],
)
def test_strict_takes_the_asked_form_only(form: str, text: str, strict: str | None) -> None:
    assert read_answer(form, text, letters="ABCD").strict_value == strict  # type: ignore[arg-type]


def test_evidence_is_a_stretch_of_the_answer_as_given() -> None:
    text = "分析如下……综上，**答案**：（Ｃ）。"
    result = read_answer("single", text, letters="ABCD")
    assert result.value == "C"
    assert result.evidence
    assert result.evidence in text
