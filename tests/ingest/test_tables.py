import pytest

from stages.ingest.board_table import read_board_table
from stages.ingest.exam_table import read_exam_table
from stages.ingest.outcome import Harvest, Place
from stages.ingest.tables import TableError

PLACE = Place("set", "books", "set.csv")


def _exam(text: str, suffix: str = ".csv", charset: str = "utf-8") -> Harvest:
    return read_exam_table(PLACE, text.encode(charset), suffix, "题集", None)


def _answers(harvest: Harvest) -> dict[str, object]:
    return {part.label: part.data["answer"] for document in harvest.documents for part in document.parts}


HEAD = "id,question,A,B,C,D,answer\n"


@pytest.mark.parametrize("charset", ["utf-8", "utf-8-sig", "gb18030"])
def test_a_set_is_read_whatever_its_charset(charset: str) -> None:
    harvest = _exam(HEAD + '0,"镕镇的税率是（）。\n请选择",一,二,三,四,D\n1,乙（）,一,二,三,四,A\n', charset=charset)
    assert _answers(harvest) == {"单选1": "D", "单选2": "A"}
    part = harvest.documents[0].parts[0]
    assert part.data["stem"] == "镕镇的税率是（）。 请选择"
    assert part.data["options"] == ["一", "二", "三", "四"]


def test_letters_of_multiple_choices_are_read_in_all_their_forms() -> None:
    harvest = _exam(HEAD + '0,甲,一,二,三,四,"A,D"\n1,乙,一,二,三,四,ABD\n2,丙,一,二,三,四,选项BC\n')
    assert _answers(harvest) == {"多选1": "AD", "多选2": "ABD", "多选3": "BC"}


def test_rows_that_break_their_kind_are_set_aside_with_their_line_and_cause() -> None:
    harvest = _exam(
        HEAD + '0,甲,一,二,三,四,"A,D"\n1,乙,一,二,三,四,B\n2,丙,对,错,,,A\n3,丁,一,二,三,,"A,E"\n4,,一,二,三,四,AB\n'
        "5,戊,一,一,三,四,AB\n6,己,一,二,三,四,\n7,甲,一,二,三,四,AD\n"
    )
    assert {row.where: row.cause for row in harvest.quarantined} == {
        "line 3": "a multiple choice with one letter (B)",
        "line 4": "a true-false question (two options)",
        "line 5": "the answer AE names an option that is not there (3 options)",
        "line 6": "the question has no stem",
        "line 7": "two options are the same",
        "line 8": "the row has no answer",
        "line 9": "the same question as line 2",
    }
    assert _answers(harvest) == {"多选1": "AD"}


def test_choices_as_a_python_dict_string_are_read() -> None:
    choices = "{'A': '一', 'B': '二', 'C': '三'}"
    line = f'{{"type": "单项选择题", "question": "甲", "choices": "{choices}", "answer": "C"}}\n'
    harvest = _exam(line + '{"type": "判断题", "question": "乙", "answer": "A"}\nno json\n', suffix=".jsonl")
    assert harvest.documents[0].parts[0].data["options"] == ["一", "二", "三"]
    assert [row.where for row in harvest.quarantined] == ["line 3", "line 2"]


def test_a_set_without_answers_is_set_aside_whole() -> None:
    harvest = _exam("question,A,B,C\n甲,一,二,三\n")
    assert harvest.documents == []
    assert "no answer column; 1 questions" in harvest.quarantined[0].cause


def test_a_table_without_questions_names_its_columns() -> None:
    with pytest.raises(TableError, match="among x, y"):
        _exam("x,y\n1,2\n")


def _board(text: str, charset: str = "utf-8") -> Harvest:
    return read_board_table(Place("board", "sites", "b.csv"), text.encode(charset), ".csv")


@pytest.mark.parametrize("charset", ["utf-8", "gbk"])
def test_a_board_gives_one_document_a_row_without_the_answer_mark(charset: str) -> None:
    harvest = _board(
        "title,desc,push_time,content\n水费,问：水费几元？,发布日期：2018-07-26 10:45,答：“每吨两元。”\n", charset
    )
    document = harvest.documents[0]
    assert document.parts[0].data == {"question": "水费几元？", "answer": "每吨两元。"}
    assert (document.kind, document.origin, document.published) == ("board", "b.csv#2", "2018-07-26")


def test_a_row_without_a_question_of_its_own_asks_its_title() -> None:
    document = _board("标题,答复内容\n水费几元？,答：两元。\n").documents[0]
    assert document.parts[0].data["question"] == "水费几元？"


def test_filler_and_empty_answers_are_set_aside() -> None:
    harvest = _board("title,content\n甲,暂无\n乙,\n丙,答：暂无\n丁,两元。\n")
    assert [row.where for row in harvest.quarantined] == ["line 2", "line 3", "line 4"]
    assert len(harvest.documents) == 1


def test_a_table_that_is_no_board_says_what_it_lacks() -> None:
    with pytest.raises(TableError, match="answer"):
        _board("a,b\n1,2\n")
