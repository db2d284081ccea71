from collections.abc import Sequence
from pathlib import Path

import pytest

from stages.ingest import adapters
from stages.ingest.adapters import UnknownAdapterError, find_adapter
from stages.ingest.adapters.base import AdapterError, Page
from stages.ingest.bulletins import cases
from stages.ingest.crawl.crawler import Crawl, Trouble
from stages.ingest.exchanges import exchange
from stages.ingest.outcome import Harvest
from stages.ingest.sites import SiteReader

LIST = """<html><head><title>财商资讯 - 虚构税屋</title></head><body><div class="xwt2"><div class="xwt2_a">
<a href="n1.html">一</a></div></div></body></html>"""
ARTICLE = """<html><head><title>一 - 虚构税屋</title></head><body><div class="arcBox"><h1>水费新规</h1>
<div class="articleResource"><span>来源：虚构水务报</span><span>作者：甲</span><span>时间：2026-01-05 08:00</span></div>
<div class="articleDes">摘要一句。</div><div class="arcContent"><p>第一段。</p><p>第二段。</p></div>
<div class="pagelist"><strong>1</strong><a href="n1$2.html">2</a><a href="n1$2.html">下一页</a></div>
<div class="arcAd">广告</div></div></body></html>"""
LATER = '<html><body><h1>水费新规</h1><div class="arcContent"><p>第三段。</p></div></body></html>'
AUTHORITY = """<html><head><meta name="ArticleTitle" content="水费几元">
<meta name="PubDate" content="2026-02-03 09:00:00">
<meta name="ContentSource" content="虚构水务局"></head><body><div id="zoomcon"><p>网友甲：水费几元？</p><p>急。</p>
<p>答：“每吨两元。”</p></div><span class="editer">责任编辑：乙</span></body></html>"""
KINDS = {"Board": "board", "Inspect": "inspect", "Rules": "official", "*": "news"}
ROOT = "http://127.0.0.1:1/"


def _site(
    pages: dict[str, str], troubles: list[Trouble] | None = None, adapters: Sequence[str] = ("shui5", "chinatax")
) -> Harvest:
    reader = SiteReader("site", ROOT, [find_adapter(name) for name in adapters], KINDS)
    for path, html in pages.items():
        reader.take(Page(ROOT + path, path, html))
    return reader.harvest(Crawl(list(pages), troubles or []))


def test_an_article_keeps_the_sites_summary_its_section_and_all_its_pages() -> None:
    harvest = _site({"article/Cai/101_1.html": LIST, "article/Cai/n1.html": ARTICLE, "article/Cai/n1$2.html": LATER})
    (document,) = harvest.documents
    assert (document.title, document.summary, document.category) == ("水费新规", "摘要一句。", "财商资讯")
    assert (document.publisher, document.published, document.kind) == ("虚构水务报", "2026-01-05", "news")
    assert document.text == "第一段。\n第二段。\n第三段。"
    assert document.origin == "article/Cai/n1.html"
    assert harvest.quarantined == []


def test_a_topic_is_known_by_its_folder_where_its_list_was_not_had() -> None:
    pages = {"article/ShuiWuWenDa/n1.html": ARTICLE.replace("pagelist", "x")}
    assert _site(pages).documents[0].category == "税务问答"


def test_an_article_without_its_later_page_is_flagged_and_set_aside_by_name() -> None:
    harvest = _site({"article/Cai/n1.html": ARTICLE})
    assert harvest.documents[0].flags == ["incomplete"]
    assert "n1$2.html" in harvest.quarantined[0].cause


def test_a_later_page_without_its_first_is_set_aside() -> None:
    harvest = _site({"article/Cai/n1$2.html": LATER})
    assert harvest.documents == []
    assert "first page article/Cai/n1.html was not had" in harvest.quarantined[0].cause


def test_a_board_page_pairs_question_and_official_answer() -> None:
    (document,) = _site({"article/Board/b1.html": AUTHORITY}).documents
    assert document.parts[0].data == {"question": "水费几元？\n急。", "answer": "每吨两元。"}
    assert (document.kind, document.publisher) == ("board", "虚构水务局")


def test_a_board_page_without_an_answer_is_set_aside() -> None:
    assert exchange(["网友甲：水费几元？"]) is None
    assert exchange(["答：两元。"]) is None
    harvest = _site({"article/Board/b1.html": AUTHORITY.replace("答：", "")})
    assert "question and answer" in harvest.quarantined[0].cause


BOARD = """<html><head><title>留言 - 虚构局</title></head><body><div class="info"><h1>停车费发票</h1><table>
<tr><td>留言时间</td><td>2026-03-01</td></tr><tr><td>留言内容</td><td>停车费能开票吗？</td></tr>
<tr><td>答复单位</td><td>虚构税务局</td><td>答复时间</td><td>2026-03-04</td></tr>
<tr><td>答复内容</td><td>可以，由收款方开具。</td></tr></table></div></body></html>"""
BOARD_IN_LINES = """<html><body><div class="title">停车费发票</div><p>留言内容：停车费能开票吗？</p>
<p>我是车主。</p><p>答复内容：</p><p>可以，</p><p>由收款方开具。</p><p>答复单位：虚构税务局</p></body></html>"""


def test_the_message_board_is_read_by_its_labels_whatever_its_section() -> None:
    documents = _site({"n1/c1/c2/content.html": BOARD, "n1/c1/c3/content.html": BOARD_IN_LINES}).documents
    assert [document.kind for document in documents] == ["board", "board"]
    assert documents[0].parts[0].data == {"question": "停车费能开票吗？", "answer": "可以，由收款方开具。"}
    assert documents[1].parts[0].data == {
        "question": "停车费能开票吗？\n我是车主。",
        "answer": "可以，\n由收款方开具。",
    }
    assert (documents[0].title, documents[0].publisher, documents[0].published) == (
        "停车费发票", "虚构税务局", "2026-03-04",
    )  # fmt: skip


RULE = """<html><body><h1>停车费征收办法（虚构）</h1><ul><li>文号：虚税发〔2026〕8号</li><li>成文日期：2026-01-05</li>
<li>有效性：部分条款失效</li></ul>
<div class="zscont"><p>第一条　按月缴纳。</p><p>第二条　逾期补缴。</p></div></body></html>"""


def test_the_regulation_library_gives_statutes_with_number_date_and_validity() -> None:
    (document,) = _site({"zcfgk/c1/c2/content.html": RULE}).documents
    assert (document.kind, document.number, document.published) == ("statute", "虚税发〔2026〕8号", "2026-01-05")
    assert [(part.label, part.text) for part in document.parts] == [("第一条", "按月缴纳。"), ("第二条", "逾期补缴。")]
    assert document.flags == ["validity:部分条款失效"]


OLD = """<html><body><ul class="sv"><li class="sv_texth2">2018年05月02日</li></ul><div class="cmain"></div>
<div id="tax_content"><p>旧版公告的正文。</p></div><h1>旧版公告</h1></body></html>"""


def test_an_article_in_the_layout_before_2019_has_its_date_from_the_line_beside_the_title() -> None:
    (document,) = _site({"n1/c1/c2/content.html": OLD}).documents
    assert (document.title, document.text, document.published) == ("旧版公告", "旧版公告的正文。", "2018-05-02")


def test_a_list_asks_for_its_next_page_while_pages_are_full() -> None:
    rows = "".join(f'<li><a href="/c1/c{n}/content.html">x</a></li>' for n in range(3))
    address = ROOT + "chinatax/manuscriptList/c102025?_pageSize=3&_template=index&page=2"
    page = Page(address, "chinatax/manuscriptList/c102025", f'<ul class="list">{rows}</ul>')
    (link,) = find_adapter("chinatax").requests(page)
    assert link.url.endswith("_pageSize=3&_template=index&page=3")
    assert link.listing
    assert find_adapter("chinatax").requests(Page(address, page.path, page.html.replace("<li>", "<p>", 1))) == []


CASE = (
    "经查，虚构示范公司通过隐匿收入进行虚假申报，少缴税款若干元，"
    "税务局依法作出追缴税款、加收滞纳金并处罚款的处理处罚决定，目前已经追缴入库。"
)


def test_a_bulletin_of_several_cases_gives_a_document_for_each() -> None:
    lines = ["近日公布两起案件。", "一、查处甲店偷税案件。", CASE, "二、查处乙店偷税案件。", f"{CASE}另有罚款。"]
    body = "".join(f"<p>{line}</p>" for line in lines)
    page = AUTHORITY.replace("<p>网友甲：水费几元？</p><p>急。</p>\n<p>答：“每吨两元。”</p>", body)
    documents = _site({"article/Inspect/i1.html": page}).documents
    assert [document.title for document in documents] == ["查处甲店偷税案件", "查处乙店偷税案件"]
    assert [document.origin for document in documents] == ["article/Inspect/i1.html#1", "article/Inspect/i1.html#2"]
    assert "近日公布" not in documents[0].text


def test_a_text_with_numbered_headings_but_no_cases_under_them_stays_whole() -> None:
    assert cases(["一、背景", "二、做法"]) == []
    assert cases(["案情一句。", CASE]) == []
    assert [case.number for case in cases(["案例1：甲", CASE, "案例2：乙", CASE])] == [1, 2]


def test_a_page_that_no_longer_fits_its_adapter_is_named() -> None:
    harvest = _site({"article/Cai/n1.html": f"<html><body><p>{'全新的版式，没有正文的标记。' * 4}</p></body></html>"})
    assert harvest.documents == []
    assert harvest.quarantined[0].cause == "adapter shui5: the page lacks a body that the adapter knows"
    assert "adapters/shui5.py" in harvest.quarantined[0].remedy
    assert "taxpraben sources retry" in harvest.quarantined[0].remedy


def test_an_adapter_error_names_site_page_missing_element_and_remedy() -> None:
    page = Page(ROOT, "article/Cai/n1.html", '<div class="arcContent"><p>x</p></div>')
    with pytest.raises(AdapterError, match=r"adapter shui5: article/Cai/n1.html lacks a title \(h1.*compare the page"):
        find_adapter("shui5").article(page)


def test_a_site_whose_pages_mostly_no_longer_fit_is_said_to_have_changed() -> None:
    changed = "<html><body><p>" + "全新的版式" * 12 + "</p></body></html>"
    harvest = _site({f"article/Cai/n{number}.html": changed for number in range(6)})
    assert [row.cause for row in harvest.quarantined if row.where == "site"] == [
        "adapter shui5: fits 0 of 6 article pages; the site has changed"
    ]


def test_a_page_that_breaks_its_adapter_never_stops_the_site(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter = find_adapter("shui5")
    monkeypatch.setattr(type(adapter), "article", lambda self, page: {}["x"])
    harvest = _site({"article/Cai/n1.html": ARTICLE, "article/Board/b1.html": AUTHORITY})
    assert len(harvest.documents) == 1
    assert "KeyError" in harvest.quarantined[0].cause


def test_a_page_made_by_scripts_is_said_to_need_a_browser() -> None:
    harvest = _site({"article/Cai/n1.html": "<html><body><div id=app></div><script>go()</script></body></html>"})
    assert "browser" in harvest.quarantined[0].cause


def test_pages_that_were_not_had_are_set_aside_with_their_referrer() -> None:
    harvest = _site({}, [Trouble("article/Cai/x.html", "answered 404", "article/Cai/101_1.html")])
    assert harvest.quarantined[0].cause == "the page answered 404; linked from article/Cai/101_1.html"


def test_a_closed_site_is_one_quarantined_row() -> None:
    crawled = Crawl(closed="robots.txt answered 503: treated as disallow for now")
    harvest = SiteReader("site", ROOT, [], KINDS).harvest(crawled)
    assert [row.cause for row in harvest.quarantined] == ["robots.txt answered 503: treated as disallow for now"]


DATAPROXY = """<html><head><title>最新文件 - 虚构局</title></head><body><script>
$('#9').jpage({storeDatas:s,totalRecord:40,
proxyUrl:'/module/web/jpage/dataproxy.jsp',perPage:10,ajaxParam:{col:1,path:'/',columnid:77,webname:'虚构局'}})</script>"""
RECORDS = """<datastore><recordset><record><![CDATA[<li><a href='/art/2026/1/5/art_77_1.html'>一</a></li>]]></record>
<record><![CDATA[<li><a href='/art/2026/1/5/art_77_2.html'>二</a></li>]]></record></recordset></datastore>"""


def test_a_bureaus_list_is_asked_of_dataproxy_by_post() -> None:
    links = find_adapter("bureaus:gansu").requests(
        Page(ROOT + "col/col77/index.html", "col/col77/index.html", DATAPROXY)
    )
    assert [link.url.partition("?")[2] for link in links] == [
        "endrecord=30&perpage=10&startrecord=1", "endrecord=40&perpage=10&startrecord=31",
    ]  # fmt: skip
    assert dict(links[0].form) == {"col": "1", "path": "/", "columnid": "77", "webname": "虚构局"}
    assert links[0].origin(ROOT) != links[1].origin(ROOT)


def test_the_records_of_dataproxy_are_rows_of_the_list() -> None:
    adapter = find_adapter("bureaus:gansu")
    page = Page(ROOT + "module/web/jpage/dataproxy.jsp", "module/web/jpage/dataproxy.jsp", RECORDS)
    assert [link.url for link in adapter.requests(page)] == [
        ROOT + "art/2026/1/5/art_77_1.html", ROOT + "art/2026/1/5/art_77_2.html",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("bureau", "path", "html", "following"),
    [
        ("beijing", "zxwj/index.html", "<script>createPageHTML(3, 0, 'index', 'html')</script>", "zxwj/index_1.html"),
        ("beijing", "zxwj/index_1.html", "<script>createPageHTML(3, 1, 'index', 'html')</script>", "zxwj/index_2.html"),
        ("beijing", "zxwj/index_2.html", "<script>createPageHTML(3, 2, 'index', 'html')</script>", None),
        ("beijing", "zxwj/", "", "zxwj/index_1.html"),
        ("guangdong", "zxwj/zxwj.shtml", "", "zxwj/zxwj_1.shtml"),
        ("qinghai", "ui?currentPage=4&pageId=9", "", "ui?currentPage=5&pageId=9"),
        ("qinghai", "ui?pageId=9", "", "ui?currentPage=2&pageId=9"),
    ],
)
def test_lists_of_bureaus_go_on_by_number_or_query(bureau: str, path: str, html: str, following: str | None) -> None:
    row = '<div class="xxgk_tzgg listContent news-list-line"><ul><li><a href="/a.html">x</a></li></ul></div>'
    page = Page(ROOT + path, path, f"<html><body>{row}{html}</body></html>")
    found = [link.url.removeprefix(ROOT) for link in find_adapter(f"bureaus:{bureau}").requests(page) if link.listing]
    assert found == ([following] if following else [])


def test_a_bureaus_list_may_be_json() -> None:
    page = Page(ROOT + "q", "q", '{"data": {"list": [{"title": "一", "docpuburl": "/art/1.html"}]}}')
    assert ROOT + "art/1.html" in [link.url for link in find_adapter("bureaus:fujian").requests(page)]


def test_a_bureaus_article_has_its_columns_name_and_its_own_structure() -> None:
    column = (
        '<html><head><title>最新文件 - 虚构局</title></head><body><ul class="infolist"><li><a href="/a">x</a></li></ul>'
    )
    text = '<div class="TRS_Editor"><p>各单位：</p><p>一、范围</p><p>商户。</p><p>二、时间</p><p>三月起。</p></div>'
    article = f"<html><head><title>停车费通告 - 虚构局</title></head><body>发布：2026-1-5{text}</body></html>"
    pages = {"Rules/index.html": column, "Rules/202601/t20260105_9.html": article}
    (document,) = _site(pages, adapters=["bureaus:shanghai"]).documents
    assert (document.kind, document.category, document.published) == ("official", "最新文件", "2026-01-05")
    assert [part.label for part in document.parts] == ["一、范围", "二、时间"]
    assert document.publisher == "国家税务总局上海市税务局"


def test_a_bureau_page_without_its_body_names_the_row_of_the_table() -> None:
    harvest = _site({"art/2026/1/5/art_1_2.html": "<html><body>" + "新" * 60}, adapters=["bureaus:gansu"])
    assert harvest.quarantined[0].cause.startswith("adapter bureaus:gansu:")
    with pytest.raises(AdapterError, match=r"row gansu of stages/ingest/adapters/bureaus.tsv"):
        find_adapter("bureaus:gansu").article(Page(ROOT, "x", "<html></html>"))


NEW_SITE = """
from stages.ingest.adapters.base import Adapter, Article
from stages.ingest.markup import lines_of


class Square(Adapter):
    name = "square"
    extracts = "title and text"

    def follows(self, path):
        return True

    def is_article(self, page):
        return page.soup.select_one(".post") is not None

    def article(self, page):
        return Article(page.soup.h1.get_text(), lines_of(page.soup.select_one(".post")))

    def section_of(self, page):
        return ""


ADAPTER = Square()
"""


def test_a_source_site_is_one_adapter_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "square.py").write_text(NEW_SITE, encoding="utf-8")
    monkeypatch.setattr(adapters, "__path__", [*adapters.__path__, str(tmp_path)])
    assert "square" in adapters.adapter_names()
    page = '<h1>广场帖</h1><div class="post"><p>正文。</p></div>'
    (document,) = _site({"p/1.html": page}, adapters=["square"]).documents
    assert (document.title, document.text) == ("广场帖", "正文。")


def test_a_bureau_must_be_named_and_known() -> None:
    with pytest.raises(UnknownAdapterError, match="write bureaus:anhui"):
        find_adapter("bureaus")
    with pytest.raises(UnknownAdapterError, match="did you mean 'gansu'"):
        find_adapter("bureaus:ganshu")
    with pytest.raises(UnknownAdapterError, match="has no variants"):
        find_adapter("shui5:gansu")


def test_a_judgments_page_goes_to_the_parser_of_verdicts_and_its_parties_are_masked() -> None:
    html = (
        "<a type='dir' name='DSRXX'></a><div>被告人林小川，男。</div><a type='dir' name='AJJBQK'></a>"
        "<div>经审理查明，被告人林小川虚开发票三张。</div><a type='dir' name='CPYZ'></a>"
        "<div>依照《中华人民共和国刑法》第二百零五条之一，判决如下：</div>"
        "<a type='dir' name='PJJG'></a><div>被告人林小川犯虚开发票罪。</div>"
    )
    shown = f"<html><head><title>林小川虚开发票一审刑事判决书</title></head><body>{html}</body></html>"
    (document,) = _site({"content/content?DocID=1": shown}, adapters=["wenshu"]).documents
    assert document.kind == "verdict"
    assert document.parts[0].data == {"articles": ["刑法第二百零五条之一"], "charge": "虚开发票罪"}
    assert "林小川" not in document.text


def test_a_judgments_page_without_a_record_is_set_aside_by_name() -> None:
    harvest = _site({"content/content?DocID=1": "<html><body>" + "文书正文" * 20}, adapters=["wenshu"])
    assert harvest.quarantined[0].cause == "adapter wenshu: the page lacks a body that the adapter knows"


POSTS = """{"code": 0, "page": 1, "pages": 2, "data": {"list": [
{"id": 7, "title": "排队", "content": "<p>办税厅排队两小时。</p>", "publish_time": "2026-03-01 08:00",
 "platform": "虚构论坛", "author": "阿姐"}, {"id": 8, "title": "空", "content": "暂无"}]}}"""


def test_posts_of_the_opinion_monitor_are_documents_without_their_authors() -> None:
    harvest = _site({"export?page=1": POSTS}, adapters=["opinion"])
    (document,) = harvest.documents
    assert (document.kind, document.origin, document.text) == ("opinion", "export?page=1#7", "办税厅排队两小时。")
    assert (document.published, document.publisher) == ("2026-03-01", "虚构论坛")
    assert "阿姐" not in document.model_dump_json()
    assert [(row.origin, row.cause) for row in harvest.quarantined] == [("export?page=1#8", "the article has no text")]


@pytest.mark.parametrize(
    ("answer", "following"),
    [
        (POSTS, "export?page=2"),
        (POSTS.replace('"page": 1', '"page": 2'), None),
        ('{"items": [{"id": 1, "text": "x"}], "next": "/export?after=1"}', "export?after=1"),
        ('{"items": [{"id": 1, "text": "x"}], "next_cursor": "k9"}', "export?cursor=k9&page=1"),
        ('{"records": [{"id": 1, "text": "x"}], "page": 1, "size": 1, "total": 2}', "export?page=2"),
        ('[{"id": 1, "text": "x"}]', None),
    ],
)
def test_the_interface_says_how_it_goes_on(answer: str, following: str | None) -> None:
    found = find_adapter("opinion").requests(Page(ROOT + "export?page=1", "export?page=1", answer))
    assert [link.url.removeprefix(ROOT) for link in found] == ([following] if following else [])


def test_an_answer_that_is_no_json_is_set_aside_by_name() -> None:
    harvest = _site(
        {"export?page=1": f"<html><body>{'请先登录，然后再导出舆情数据。' * 4}</body></html>"},
        adapters=["opinion"],
    )
    assert harvest.quarantined[0].cause.startswith("adapter opinion: the page lacks")


def test_a_site_without_an_adapter_is_read_by_the_generic_one() -> None:
    paragraphs = "".join(
        f"<p>第{n}段文字说明停车费怎样计算，怎样申报，怎样缴纳，内容写得足够长。</p>" for n in "一二三四"
    )
    nav = "".join(f'<li><a href="/{n}.html">栏目</a></li>' for n in range(5))
    head = "<html><head><title>停车费怎样算 - 虚构站</title></head>"
    page = f"{head}<body><nav><ul>{nav}</ul></nav><main><h1>停车费怎样算</h1>{paragraphs}"
    pages = {
        "a/1.html": page + "</main><footer>版权所有</footer></body></html>",
        "index.html": f"<body><ul>{nav}</ul></body>",
    }
    (document,) = _site(pages, adapters=["generic"]).documents
    assert document.title == "停车费怎样算"
    assert len(document.text.split("\n")) == 4
    assert "版权" not in document.text
    assert "栏目" not in document.text
