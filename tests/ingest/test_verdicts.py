import json

import pytest

from stages.ingest.outcome import Place
from stages.ingest.verdicts import VerdictError, cited_articles, facts_found, parse_verdict, read_verdict

PLACE = Place("verdicts", "official", "v.json")
FACTS = (
    "公诉机关指控，被告人孙虚拟犯罪。\n"
    "经审理查明，被告人孙虚拟让他人虚开发票，税额3万元，并供述了上述事实，退缴税款。\n"
    "上述事实，有证据证实。"
)
REASONS = (
    "本院认为，其行为已构成虚开发票罪。依照《中华人民共和国刑法》第二百零五条之一第一款、第六十七条第三款、"
    "《中华人民共和国刑事诉讼法》第二百零一条之规定，判决如下："
)
RULING = "被告人孙虚拟犯虚开发票罪，判处拘役三个月。"
HTML = (
    "<a type='dir' name='WBSB'></a><div>虚构区人民法院</div><div>刑事判决书</div><div>（2025）虚01刑初9号</div>"
    "<a type='dir' name='DSRXX'></a><div>被告人孙虚拟，男。</div><a type='dir' name='AJJBQK'></a>"
    + "".join(f"<div>{line}</div>" for line in FACTS.split("\n"))
    + f"<a type='dir' name='CPYZ'></a><div>{REASONS}</div><a type='dir' name='PJJG'></a><div>{RULING}</div>"
)
ANCHORS = {"Title": "孙虚拟虚开发票一审刑事判决书", "PubDate": "2025-06-01", "Html": HTML}
FIELDS = {
    "s1": "孙虚拟虚开发票一审刑事判决书", "s2": "虚构区人民法院", "s7": "（2025）虚01刑初9号", "s17": ["孙虚拟"],
    "s22": "虚构区人民法院", "s25": FACTS, "s26": REASONS, "s27": RULING, "s31": "2025-05-20", "s41": "2025-06-01",
}  # fmt: skip
_ESCAPED = json.dumps(ANCHORS, ensure_ascii=False).replace("</", "<\\/")
PAGE = f"<html><script>var jsonHtmlData = {json.dumps(_ESCAPED, ensure_ascii=False)};</script></html>"


@pytest.mark.parametrize(
    "text", [json.dumps(ANCHORS), json.dumps(FIELDS), PAGE, json.dumps({"id": "1", "source": json.dumps(ANCHORS)})]
)
def test_the_record_forms_give_the_same_facts_articles_and_charge(text: str) -> None:
    document = read_verdict(PLACE, text)[0].documents[0]
    part = document.parts[0]
    assert part.kind == "facts"
    assert part.text == "被告人孙虚拟让他人虚开发票，税额3万元，并供述了上述事实，退缴税款。"
    assert part.data == {"articles": ["刑法第二百零五条之一", "刑法第六十七条"], "charge": "虚开发票罪"}
    assert (document.publisher, document.number) == ("虚构区人民法院", "（2025）虚01刑初9号")
    assert document.published == "2025-06-01"


def test_articles_of_other_laws_are_not_counted_as_criminal_law() -> None:
    reasons = "依照《中华人民共和国税收征收管理法》第六十三条、《中华人民共和国刑法》第二百零一条第一款、第四款之规定"
    assert cited_articles(reasons) == ["刑法第二百零一条"]


def test_articles_keep_the_order_in_which_they_are_cited() -> None:
    assert cited_articles("依照刑法第二百一十条第一款、第二百六十四条之规定") == [
        "刑法第二百一十条",
        "刑法第二百六十四条",
    ]


def test_facts_without_the_usual_words_are_the_whole_section() -> None:
    assert facts_found("被告人逃税5万元。") == "被告人逃税5万元。"


def test_a_file_of_another_form_is_refused_by_name() -> None:
    with pytest.raises(VerdictError, match="known forms"):
        parse_verdict('{"a": 1}')
    with pytest.raises(VerdictError, match="jsonHtmlData"):
        parse_verdict("<html></html>")


def test_a_verdict_without_criminal_law_is_kept_and_quarantined_by_name() -> None:
    harvest, _ = read_verdict(PLACE, json.dumps({**FIELDS, "s26": "依照民法典第一条"}))
    assert "Criminal Law" in harvest.quarantined[0].cause
