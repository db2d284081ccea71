import pytest

from stages.ingest.casebook import read_casebook
from stages.ingest.exam_book import read_exam_book
from stages.ingest.exam_text import compact_answers, letters_of, number_of, section_kind, split_options
from stages.ingest.layout import Line
from stages.ingest.outcome import Harvest, Place

PLACE = Place("guide", "books", "guide.pdf")


def _lines(text: str) -> list[Line]:
    """Printed lines; ``=== n`` starts page n."""
    page, out = 1, []
    for line in text.strip().split("\n"):
        if line.startswith("==="):
            page = int(line.split()[1])
        else:
            out.append(Line(line, page))
    return out


BOOK = """
目录
第一章 单项选择题
第三章 计算题
参考答案与解析
=== 2
第一章 单项选择题
每题只有一个正确答案。
1.虚构税的税率是（　）。
A.1%　B.2%　C.3%　D.4%
2.下列各项中，由甲公司缴纳虚构
税的是（）。
=== 3
A、甲公司购货　　B、甲公司
销货
C、丙公司销货　D、丁公司销货
第二章 多项选择题
1．免税的有( )。
(A)水　(B)电
(C)气
第三章 计算题
1.甲公司销售额100万元，税率3%，应纳税额为（　）万元。
2.乙公司有两项业务：（1）收入10元；（2）收入20元。
1.5倍计税，应纳税（ ）元。
=== 4
参考答案与解析
第一章 单项选择题
1.【答案】C
【解析】税率为3%，
见第二条。
2.【答案】B
第二章 多项选择题
1.【答案】A,B
第三章 计算题
1.【答案】3.00万元
2.【答案】45元
"""


def _parts(text: str) -> dict[str, dict[str, object]]:
    return {part.label: part.data for part in read_exam_book(PLACE, "书", _lines(text)).documents[0].parts}


def test_questions_of_three_kinds_are_matched_with_the_key_at_the_back() -> None:
    parts = _parts(BOOK)
    assert {label: (data["kind"], data["answer"]) for label, data in parts.items()} == {
        "单选1": ("single", "C"), "单选2": ("single", "B"), "多选1": ("multiple", "AB"),
        "计算1": ("calculation", "3.00"), "计算2": ("calculation", "45"),
    }  # fmt: skip
    assert parts["单选1"]["explanation"] == "税率为3%，见第二条。"
    assert (parts["计算1"]["unit"], parts["计算2"]["unit"]) == ("万元", "元")


def test_a_question_runs_over_a_page_break_and_keeps_the_page_where_it_starts() -> None:
    part = next(part for part in read_exam_book(PLACE, "书", _lines(BOOK)).documents[0].parts if part.label == "单选2")
    assert part.data["stem"] == "下列各项中，由甲公司缴纳虚构税的是（　）。"
    assert part.data["options"] == ["甲公司购货", "甲公司销货", "丙公司销货", "丁公司销货"]
    assert part.page == 2


def test_a_line_that_starts_with_a_decimal_opens_no_question() -> None:
    assert (
        _parts(BOOK)["计算2"]["stem"] == "乙公司有两项业务：（1）收入10元；（2）收入20元。1.5倍计税，应纳税（　）元。"
    )


def test_nothing_of_a_sound_book_is_set_aside() -> None:
    assert read_exam_book(PLACE, "书", _lines(BOOK)).quarantined == []


def test_keys_after_each_chapter_are_matched_by_chapter() -> None:
    text = """
第一章 水费
一、单项选择题
1.甲（）。
A.1　B.2　C.3
参考答案
一、单项选择题
1.A
第二章 电费
一、单项选择题
1.乙（）。
A.1　B.2　C.3
参考答案
一、单项选择题
1.B
"""
    assert {label: data["answer"] for label, data in _parts(text).items()} == {"第1章单选1": "A", "第2章单选1": "B"}


def test_answers_printed_under_their_question_are_taken() -> None:
    parts = _parts(
        "单项选择题\n1.甲（）。\nA.一　B.二　C.三\n【答案】C\n【解析】因为丙。\n2.乙（）。\nA.一 B.二 C.三\n答案：A"
    )
    assert [(data["answer"], data["explanation"]) for data in parts.values()] == [("C", "因为丙。"), ("A", "")]


def _faults(text: str) -> dict[str, str]:
    """By label, why a part waits for review."""
    harvest = read_exam_book(PLACE, "书", _lines(text))
    parts = harvest.documents[0].parts
    faults = {part.label: str(part.data["fault"]) for part in parts if "fault" in part.data}
    assert harvest.notes["questions that do not pair, for review"] == len(faults)
    return faults


@pytest.mark.parametrize(
    ("change", "label", "fault"),
    [
        (("2.【答案】B\n", ""), "单选2", "no answer was found"),
        (("2.【答案】B", "2.【答案】E"), "单选2", "not there"),
        (("1.【答案】A,B", "1.【答案】A"), "多选1", "one letter"),
        (("1.【答案】C", "1.【答案】CD"), "单选1", "2 letters"),
        (("1.【答案】3.00万元", "1.【答案】3万元或4万元"), "计算1", "not one number"),
        (("A.1%　B.2%　C.3%　D.4%", "A.1%　B.2%"), "单选1", "2 options"),
        (("2.【答案】45元", "2.【答案】45元\n3.【答案】9元"), "计算3", "not found"),
    ],
)
def test_what_does_not_pair_stays_a_part_that_says_why(change: tuple[str, str], label: str, fault: str) -> None:
    text = BOOK.replace(*change)
    assert {found: fault in cause for found, cause in _faults(text).items()} == {label: True}
    part = next(part for part in read_exam_book(PLACE, "书", _lines(text)).documents[0].parts if part.label == label)
    assert part.page > 0
    assert part.text


def test_a_lost_question_stands_in_review_by_its_number_with_the_page_before_it() -> None:
    text = "单项选择题\n1.甲（）。\nA.一 B.二 C.三\n【答案】A\n3.丙（）。\nA.一 B.二 C.三\n【答案】B"
    assert _faults(text) == {"单选2": "the question's number is missing in the book's text"}
    assert len(_parts(text)) == 3


def test_a_question_that_swallowed_the_next_one_is_not_passed_on() -> None:
    text = "单项选择题\n1.甲（）。\nA.一 B.二 C.三\n丙（）。\nA.四 B.五 C.六\n答案\n单项选择题\n1.A 2.B"
    assert set(_faults(text)) == {"单选1", "单选2"}


def test_a_calculation_that_swallowed_the_next_one_is_not_passed_on() -> None:
    text = "计算题\n1.甲应纳税（　）元。\n乙应纳税（　）元。\n参考答案\n计算题\n1.【答案】5元\n2.【答案】6元"
    assert set(_faults(text)) == {"计算1", "计算2"}


def test_a_number_that_lost_its_dot_opens_the_next_question_only_behind_a_finished_one() -> None:
    text = "单项选择题\n1甲于2025年12\n2月购货（）。\nA.一 B.二 C.三\n"
    text += "2乙公司（）。\nA.一 B.二 C.三\n答案\n单项选择题\n1.A 2.B"
    assert _faults(text) == {}
    assert _parts(text)["单选2"]["stem"] == "乙公司（　）。"


def test_answers_printed_in_the_brackets_of_the_stem_are_taken_out_of_it() -> None:
    parts = _parts("单项选择题\n1.甲是（ C ）。\nA.一 B.二 C.三\n多项选择题\n1.乙有（ＡＢ）。\nA.一 B.二 C.三")
    assert [(data["stem"], data["answer"]) for data in parts.values()] == [
        ("甲是（　）。", "C"),
        ("乙有（　）。", "AB"),
    ]


def test_an_answer_behind_the_last_option_is_no_part_of_it() -> None:
    parts = _parts("单项选择题\n1.甲（）。\nA.一 B.二 C.三【答案】B【解析】略。\n2.乙（）。\nA.一 B.二 C.四  答案：C")
    assert [(data["options"], data["answer"]) for data in parts.values()] == [
        (["一", "二", "三"], "B"),
        (["一", "二", "四"], "C"),
    ]


def test_a_key_table_of_numbers_and_letters_is_matched() -> None:
    book = "单项选择题\n1.甲（）。\nA.一 B.二 C.三\n2.乙（）。\nA.一 B.二 C.三\n"
    book += "参考答案\n单项选择题\n题号　1　2\n答案　C　A"
    assert [data["answer"] for data in _parts(book).values()] == ["C", "A"]


def test_an_explanation_that_ends_on_the_letters_is_an_answer() -> None:
    book = "单项选择题\n1.甲（）。\nA.一 B.二 C.三\n参考答案\n单项选择题\n1.【解析】依照规定，选项A错误。故本题选B。"
    assert [data["answer"] for data in _parts(book).values()] == ["B"]


def test_sections_without_one_answer_are_named_and_their_questions_join_no_other() -> None:
    book = "一、单项选择题\n1.甲（）。\nA.一 B.二 C.三\n【答案】A\n"
    book += "二、判断题\n2.乙是纳税人。（　）\n三、计算题\n1.丙应纳税（　）元。\n【答案】5元"
    harvest = read_exam_book(PLACE, "书", _lines(book))
    assert [part.label for part in harvest.documents[0].parts] == ["单选1", "计算1"]
    assert [row.where for row in harvest.quarantined] == ["判断题"]


def test_the_print_is_kept_beside_its_twin_in_one_width() -> None:
    data = _parts("单项选择题\n１．税率１３％（　）。\nＡ．一\nＢ．二\nＣ．三\n【答案】Ａ")["单选1"]
    assert (data["stem"], data["normalised"]) == ("税率１３％（　）。", "税率13%( )。\nA.一\nB.二\nC.三")


@pytest.mark.parametrize(
    "body",
    [
        "甲（）。\nA.一 B.二\nC.三",
        "甲（）。\nA、一　B、二　C、三",
        "甲（）。(A)一(B)二(C)三",
        "甲（）。\nＡ．一\nＢ．二\nＣ．三",
        "甲（）。\nA 一\nB 二\nC 三",
        "甲（）。\n［A］一［B］二［C］三",
        "甲（）。\n【A】一\n【B】二\n【C】三",
        "甲（）。\nⒶ一 Ⓑ二 Ⓒ三",
        "甲（）。\na.一 b.二 c.三",
        "甲（）。\n①一\n②二\n③三",
    ],
)
def test_option_letters_are_known_in_all_their_prints(body: str) -> None:
    assert split_options(body) == ("甲（）。", ["一", "二", "三"])


@pytest.mark.parametrize(
    ("body", "options"),
    [
        (
            "税额为（）。\nA.11.44万元　B11.28万元\nC.11.24万元　D.11.32万元",
            ["11.44万元", "11.28万元", "11.24万元", "11.32万元"],
        ),
        (
            "正确的有（）。\nA按月申报\nB.按季申报\nC.按年申报\nD.按次申报",
            ["按月申报", "按季申报", "按年申报", "按次申报"],
        ),
        (
            "正确的有（）。\nA.按月申报\nB.按季申报\nC.按年申报\nD按次申报",
            ["按月申报", "按季申报", "按年申报", "按次申报"],
        ),
        ("正确的是（）。\nA.甲\nB.乙与\nC公司\nC.丙\nD.丁与\nE公司", ["甲", "乙与C公司", "丙", "丁与E公司"]),
        ("A公司与B公司合并，正确的是（）。\nA.甲\nB.乙\nC.丙", ["甲", "乙", "丙"]),
    ],
)
def test_an_option_letter_whose_mark_ocr_lost_still_counts(body: str, options: list[str]) -> None:
    assert split_options(body)[1] == options


def test_companies_named_by_letters_in_the_stem_are_no_options() -> None:
    stem, options = split_options("A、B、C三家公司合并，纳税人是（）。\nA.A公司\nB.B公司\nC.新公司")
    assert stem == "A、B、C三家公司合并，纳税人是（）。"
    assert options == ["A公司", "B公司", "新公司"]


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("A,D", "AD"),
        ("DBA", "ABD"),
        ("选项ABD", "ABD"),
        ("Ａ、Ｃ", "AC"),
        ("对", ""),
        ("AA", ""),
        ("A。", "A"),
        ("①③", "AC"),
    ],
)
def test_answer_letters_are_read_sorted(text: str, letters: str) -> None:
    assert letters_of(text) == letters


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1,234.50万元", ("1234.50", "万元")),
        ("-72.75", ("-72.75", "")),
        ("13％", ("13", "%")),
        ("3或4", ("", "")),
        ("略", ("", "")),
    ],
)
def test_a_calculation_has_one_number_and_its_unit(text: str, number: tuple[str, str]) -> None:
    assert number_of(text) == number


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        ("1.C 2.B 3.A", [(1, "C"), (2, "B"), (3, "A")]),
        ("1-3 ABD", [(1, "A"), (2, "B"), (3, "D")]),
        ("6.ABD　7.BC", [(6, "ABD"), (7, "BC")]),
        ("1.C，因为税率为3%", []),
    ],
)
def test_compact_keys_are_read_and_prose_is_not(line: str, answers: list[tuple[int, str]]) -> None:
    assert compact_answers(line) == answers


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("一、单项选择题（共10题，每题1分）", "single"),
        ("第二章 多项选择题", "multiple"),
        ("（三）计算题", "calculation"),
        ("不定项选择题", "multiple"),
        ("单项选择题的答法见前言，考生应当注意。", None),
        ("计算应纳税额", None),
    ],
)
def test_section_heads_are_told_from_prose(line: str, kind: str | None) -> None:
    assert section_kind(line) == kind


def _casebook(text: str) -> Harvest:
    return read_casebook(PLACE, "案例集", _lines(text))


def test_cases_have_scenario_before_plan_and_conclusion_over_pages() -> None:
    text = """
目录
案例1 分开核算
案例1 分开核算
【情景】甲公司兼营两
项业务。
【筹划前】缴税70万元。
=== 2
【筹划方案】分开核算，
缴税56万元。
【结论】节税14万元。
案例二 换个办法
案例背景
乙公司出租房屋。
筹划思路：分签合同。
"""
    harvest = _casebook(text)
    first, second = harvest.documents[0].parts
    assert first.label == "案例1"
    roles = {name: first.data[name] for name in ("title", "scenario", "before", "plan", "conclusion")}
    assert roles == {
        "title": "分开核算", "scenario": "甲公司兼营两项业务。", "before": "缴税70万元。",
        "plan": "分开核算，缴税56万元。", "conclusion": "节税14万元。",
    }  # fmt: skip
    assert first.data["figures"] == [
        {"role": "before", "value": "70", "unit": "万元", "clause": "缴税70万元"},
        {"role": "plan", "value": "56", "unit": "万元", "clause": "缴税56万元"},
        {"role": "conclusion", "value": "14", "unit": "万元", "clause": "节税14万元"},
    ]
    assert (second.label, second.data["scenario"], second.data["plan"]) == ("案例2", "乙公司出租房屋。", "分签合同。")
    assert harvest.quarantined == []


def test_a_case_without_a_plan_stays_a_part_that_says_so() -> None:
    (part,) = _casebook("案例1 甲\n【情景】甲公司。").documents[0].parts
    assert str(part.data["fault"]).startswith("the case has no plan")
