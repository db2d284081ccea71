import io
import zipfile

import docx
import pytest

from stages.ingest.official import read_official
from stages.ingest.outcome import Place
from stages.ingest.paper import UnreadableError, html_paper, markdown_paper, read_paper

PLACE = Place("notices", "official", "notice.html")
PAGE = """<html><head><meta name="ArticleTitle" content="关于水费申报的公告">
<meta name="PubDate" content="2025-03-14 09:30">
<meta name="ContentSource" content="虚构水务局">
</head><body><div class="nav">首页</div><div id="zoomcon">
<p>水务公告〔2025〕第3号</p><p>现公告如下：</p><p><b>一、申报时间</b></p><p>　　按季申报。</p>
<table><tr><td>类别</td><td>元</td></tr><tr><td>甲</td><td>2</td></tr></table>
<p>二、减免的计算，依照下列规定办理，并在申报表的备注栏中写明理由和计算的过程，资料留存备查，保存期限十年。</p>
<p>（一）甲类减半。</p><p>本公告自2025年4月1日起施行。</p><p>附件：样表</p><p>虚构水务局</p><p>2025-03-14</p>
</div><div>版权所有</div></body></html>"""


def test_sections_are_split_at_their_numbers_and_carry_their_headings() -> None:
    document = read_official(PLACE, html_paper(PAGE)).documents[0]
    assert [(part.kind, part.label) for part in document.parts] == [("section", "一、申报时间"), ("section", "二")]
    assert document.parts[0].text == "按季申报。\n| 类别 | 元 |\n| --- | --- |\n| 甲 | 2 |"
    assert document.parts[1].text.endswith("本公告自2025年4月1日起施行。")


def test_a_page_tells_title_publisher_number_and_dates() -> None:
    document = read_official(PLACE, html_paper(PAGE)).documents[0]
    assert (document.title, document.publisher, document.number) == (
        "关于水费申报的公告", "虚构水务局", "水务公告〔2025〕第3号",
    )  # fmt: skip
    assert (document.published, document.effective) == ("2025-03-14", "2025-04-01")


def test_navigation_and_copyright_lines_stay_outside() -> None:
    text = read_official(PLACE, html_paper(PAGE)).documents[0].text
    assert "首页" not in text
    assert "版权所有" not in text


def test_a_text_without_numbered_headings_is_one_body() -> None:
    document = read_official(PLACE, markdown_paper("# 解读\n只有一段。")).documents[0]
    assert [(part.kind, part.text) for part in document.parts] == [("body", "只有一段。")]


def test_an_empty_file_is_quarantined() -> None:
    harvest = read_official(PLACE, markdown_paper(""))
    assert harvest.documents == []
    assert harvest.quarantined[0].cause == "no text found"
    assert "taxpraben sources retry" in harvest.quarantined[0].remedy


def test_word_files_give_paragraphs_and_tables_in_order() -> None:
    word = docx.Document()
    word.add_heading("指引", level=0)
    word.add_paragraph("一、谁来申报")
    table = word.add_table(rows=2, cols=2)
    table.cell(0, 0).text, table.cell(1, 1).text = "类别", "12"
    word.add_paragraph("表后的话。")
    buffer = io.BytesIO()
    word.save(buffer)
    paper = read_paper(buffer.getvalue(), ".docx")
    assert paper.title == "指引"
    assert paper.lines == ["一、谁来申报", "| 类别 |  |", "| --- | --- |", "|  | 12 |", "表后的话。"]


def test_a_word_file_that_embeds_a_web_archive_is_read_from_there() -> None:
    word = docx.Document()
    buffer = io.BytesIO()
    word.save(buffer)
    archive = (
        "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=b\n\n--b\n"
        "Content-Type: text/html; charset=utf-8\n"
        "Content-Transfer-Encoding: 8bit\n\n<html><body><p>第一条　正文在里面。</p></body></html>\n--b--\n"
    )
    with zipfile.ZipFile(buffer, "a") as changed:
        changed.writestr("word/afchunk.mht", archive)
    assert read_paper(buffer.getvalue(), ".docx").lines == ["第一条　正文在里面。"]


def test_a_broken_word_file_says_what_helps() -> None:
    with pytest.raises(UnreadableError, match="save it again"):
        read_paper(b"not a zip", ".docx")


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(UnreadableError, match=r"\.docx"):
        read_paper(b"", ".wps")
