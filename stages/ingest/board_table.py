"""Message boards as tables: a question and its official answer a row."""

from __future__ import annotations

import re

from stages.ingest.dates import iso_date
from stages.ingest.outcome import Harvest, Place, new_document
from stages.ingest.tables import TableError, read_rows
from taxpraben.records.document import Document, DocumentPart
from taxpraben.text.normalise import tidy
from taxpraben.text.shingles import fold

_TITLE = ("title", "标题", "主题")
_QUESTION = ("question", "desc", "content_question", "问题", "留言内容", "咨询内容", "问题内容", "提问")
_ANSWER = ("answer", "reply", "content", "答案", "答复", "回复", "答复内容", "回复内容", "解答")
_DATE = ("push_time", "date", "publish_date", "pubdate", "time", "发布日期", "答复时间", "回复时间", "时间", "日期")
_PUBLISHER = ("publisher", "source", "答复单位", "回复单位", "单位", "来源")
_FILLER = {"", "暂无", "无", "略", "暂无答复", "暂无回复", "暂无内容", "null", "none", "nan", "-", "--"}
_ASKED = re.compile(r"^\s*(?:问|问题|咨询内容)\s*[:：]\s*")
_ANSWERED = re.compile(r"^\s*(?:答|答复|回复|解答)\s*[:：]\s*[“\"]?")


def read_board_table(place: Place, data: bytes, suffix: str, publisher: str = "") -> Harvest:
    """One document of kind ``board`` a row, with a part of kind ``exchange``; columns are known by their heads.

    ``问：`` and ``答：`` are stripped; a question that only repeats the title, or none, is the title. Rows with filler
    (暂无) instead of an answer go to quarantine.

    Raises:
        TableError: no column for the answer, or none for question or title.
    """
    harvest = Harvest()
    rows = read_rows(data, suffix, place, harvest)
    columns = set().union(*(cells for _, cells in rows)) if rows else set()
    answer_name = next((name for name in _ANSWER if name in columns), "")
    question_name = next((name for name in _QUESTION if name in columns and name != answer_name), "")
    title_name = next((name for name in _TITLE if name in columns), "")
    if not answer_name or not (question_name or title_name):
        raise TableError(
            f"no columns for question ({', '.join(_QUESTION + _TITLE)}) and answer ({', '.join(_ANSWER)}) "
            f"among {', '.join(sorted(columns)) or 'no columns'}"
        )
    for line, cells in rows:
        title = tidy(cells.get(title_name, "")).replace("\n", " ")
        question = _ASKED.sub("", tidy(cells.get(question_name, "")))
        answer = strip_answer(cells.get(answer_name, ""))
        where = f"line {line}"
        if answer.lower() in _FILLER:
            cause = f"the answer is filler ({answer})" if answer else "the row has no answer"
            harvest.set_aside(place, where, cause, "leave out the row or add the answer", title or question)
            continue
        if question.lower() in _FILLER or fold(question) == fold(title):
            question = title
        if not question:
            harvest.set_aside(place, where, "the row has no question", "leave out the row or add one", answer)
            continue
        spot = place.inside(str(line))
        harvest.documents.append(
            exchange_document(
                spot,
                title or question[:60],
                question,
                answer,
                published=next((iso_date(cells[name]) for name in _DATE if cells.get(name)), ""),
                publisher=next((cells[name] for name in _PUBLISHER if cells.get(name)), publisher),
            )
        )
    return harvest


def strip_answer(text: str) -> str:
    """The answer without ``答：`` before it and without quotation marks around the whole."""
    text = tidy(text)
    opened = bool(re.match(r"\s*(?:答|答复|回复)\s*[:：]\s*[“\"]", text))
    text = _ANSWERED.sub("", text).strip()
    return text[:-1].strip() if opened and text.endswith(("”", '"')) else text


def exchange_document(place: Place, title: str, question: str, answer: str, **more: str) -> Document:
    """A board document with its one part of kind ``exchange``, labelled 问答."""
    text = f"问：{question}\n答：{answer}"
    part = DocumentPart(kind="exchange", label="问答", text=text, data={"question": question, "answer": answer})
    return new_document(place, "board", title, text, [part], **more)
