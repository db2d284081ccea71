import pytest

from stages.ingest.dates import amended_date
from stages.ingest.outcome import Place
from stages.ingest.paper import markdown_paper
from stages.ingest.statutes import has_articles, read_statute

PLACE = Place("rules", "official", "rule.md")
RULE = """# 虚构水费征收办法

2024年3月5日 虚构区水务委员会公布

## 第一章　总则

第一条　为了征收水费，制定本办法。

**第二条**　水费按月缴纳。

有下列情形之一的，免缴水费：

(一)用水不足一吨的；

第三条规定的情形除外。

**第二条之一**
逾期缴纳的，加收一元。

第三条
之一　本条的头写在两行。

## 第二章　附则

第四条　本办法自2024年5月1日起施行。

附件：收费标准表

| 类别 | 元 |
| --- | --- |
| 甲 | 2 |
"""


def _labels_and_texts(text: str) -> dict[str, str]:
    document = read_statute(PLACE, markdown_paper(text)).documents[0]
    return {part.label: part.text for part in document.parts if part.kind == "article"}


def test_articles_hold_their_paragraphs_and_items() -> None:
    assert _labels_and_texts(RULE)["第二条"] == (
        "水费按月缴纳。\n有下列情形之一的，免缴水费：\n(一)用水不足一吨的；\n第三条规定的情形除外。"
    )


def test_inserted_articles_are_found_bold_or_not_and_over_a_line_break() -> None:
    articles = _labels_and_texts(RULE)
    assert articles["第二条之一"] == "逾期缴纳的，加收一元。"
    assert articles["第三条之一"] == "本条的头写在两行。"


def test_chapter_headings_and_annexes_are_no_part_of_an_article() -> None:
    document = read_statute(PLACE, markdown_paper(RULE)).documents[0]
    articles = [part for part in document.parts if part.kind == "article"]
    assert articles[-1].text == "本办法自2024年5月1日起施行。"
    assert not any("附则" in part.text or "| 甲 |" in part.text for part in articles)
    assert [part.label for part in document.parts if part.kind == "section"] == ["附件：收费标准表"]


def test_a_table_after_the_closing_article_is_an_annex_without_its_word() -> None:
    text = "# 虚构税法\n第一条　纳税。\n第二条　本法自2020年1月1日起施行。\n虚构税税率表（一）\n| 级数 | 税率 |"
    assert _labels_and_texts(text)["第二条"] == "本法自2020年1月1日起施行。"


def test_dates_come_from_the_head_and_the_closing_article() -> None:
    document = read_statute(PLACE, markdown_paper(RULE)).documents[0]
    assert (document.title, document.published, document.effective) == ("虚构水费征收办法", "2024-03-05", "2024-05-01")


def test_front_matter_states_number_issuer_and_dates() -> None:
    head = '---\ntitle: "甲办法"\ndoc_number: 甲令〔2024〕1号\nissuer: 甲委\npublished: "2024-02-01"\n---\n'
    document = read_statute(PLACE, markdown_paper(head + "第一条　一。\n第二条　二。")).documents[0]
    assert (document.title, document.number, document.publisher) == ("甲办法", "甲令〔2024〕1号", "甲委")
    assert document.published == "2024-02-01"


def test_each_article_stands_in_the_text_at_its_offset() -> None:
    document = read_statute(PLACE, markdown_paper(RULE)).documents[0]
    for part in document.parts:
        assert document.text[part.start : part.start + len(part.text)] == part.text


def test_a_jump_in_the_numbers_is_quarantined_and_the_articles_are_kept() -> None:
    harvest = read_statute(PLACE, markdown_paper("# 甲\n第一条　一。\n第三条　三。"))
    assert [row.where for row in harvest.quarantined] == ["第三条"]
    assert "jump" in harvest.quarantined[0].cause
    assert len(harvest.documents[0].parts) == 2


def test_a_table_of_contents_opens_no_article_and_no_annex() -> None:
    text = "# 甲法\n目　录\n第一章　总则\n第二章　附则\n附件\n第一章　总则\n第一条　一。\n第二章　附则\n第二条　二。"
    assert _labels_and_texts(text) == {"第一条": "一。", "第二条": "二。"}


def test_a_text_without_articles_is_known_as_such() -> None:
    assert not has_articles(markdown_paper("# 通知\n一、时间\n依照第三条办理。"))


@pytest.mark.parametrize(
    ("head", "amended"),
    [
        (
            "（2020年3月1日通过　根据2021年4月2日《修改决定》第一次修正　2023年5月6日第二次修订）",
            "2023-05-06",
        ),
        ("2020年3月1日示范省人大常委会通过", ""),
        ("2020年3月1日公布，2021年2月30日修订", ""),  # no such day
    ],
)
def test_the_last_amendment_names_the_version(head: str, amended: str) -> None:
    assert amended_date([head]) == amended


def test_an_amended_text_applies_from_its_amendment_and_not_from_the_first_day_of_the_law() -> None:
    text = (
        "# 示范税法（虚构）\n（2018年1月1日通过　根据2022年6月7日《决定》修正）\n"
        "第一条　虚构税按年征收。\n第二条　本法自2018年3月1日起施行。"
    )
    [document] = read_statute(PLACE, markdown_paper(text)).documents
    assert (document.effective, document.amended, document.applies_from) == ("2018-03-01", "2022-06-07", "2022-06-07")
