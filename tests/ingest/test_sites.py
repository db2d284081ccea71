from stages.ingest.adapters import find_adapter
from stages.ingest.adapters.base import Page
from stages.ingest.crawl.crawler import Crawl, Trouble
from stages.ingest.outcome import Harvest
from stages.ingest.sites import exchange, read_site

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
KINDS = {"Board": "board", "*": "news"}


def _site(pages: dict[str, str], troubles: list[Trouble] | None = None) -> Harvest:
    root = "http://127.0.0.1:1/"
    crawled = Crawl({path: Page(root + path, path, html) for path, html in pages.items()}, troubles or [])
    return read_site("site", crawled, [find_adapter("shui5"), find_adapter("chinatax")], KINDS)


def test_an_article_keeps_the_sites_summary_its_section_and_all_its_pages() -> None:
    harvest = _site({"article/Cai/101_1.html": LIST, "article/Cai/n1.html": ARTICLE, "article/Cai/n1$2.html": LATER})
    (document,) = harvest.documents
    assert (document.title, document.summary, document.category) == ("水费新规", "摘要一句。", "财商资讯")
    assert (document.publisher, document.published, document.kind) == ("虚构水务报", "2026-01-05", "news")
    assert document.text == "第一段。\n第二段。\n第三段。"
    assert document.origin == "article/Cai/n1.html"
    assert harvest.quarantined == []


def test_an_article_without_its_later_page_is_flagged_and_set_aside_by_name() -> None:
    harvest = _site({"article/Cai/n1.html": ARTICLE})
    assert harvest.documents[0].flags == ["incomplete"]
    assert "n1$2.html" in harvest.quarantined[0].cause


def test_a_board_page_pairs_question_and_official_answer() -> None:
    (document,) = _site({"article/Board/b1.html": AUTHORITY}).documents
    assert document.parts[0].data == {"question": "水费几元？\n急。", "answer": "每吨两元。"}
    assert (document.kind, document.publisher) == ("board", "虚构水务局")


def test_a_board_page_without_an_answer_is_set_aside() -> None:
    assert exchange(["网友甲：水费几元？"]) is None
    assert exchange(["答：两元。"]) is None
    harvest = _site({"article/Board/b1.html": AUTHORITY.replace("答：", "")})
    assert "question and answer" in harvest.quarantined[0].cause


def test_a_page_that_no_longer_fits_its_adapter_is_named() -> None:
    harvest = _site(
        {"article/Cai/n1.html": "<html><body><p>全新的版式，一篇文章写在这里，字数也足够多。</p></body></html>"}
    )
    assert harvest.documents == []
    assert harvest.quarantined[0].cause.startswith("adapter shui5:")
    assert "adapters/shui5.py" in harvest.quarantined[0].remedy


def test_a_page_made_by_scripts_is_said_to_need_a_browser() -> None:
    harvest = _site({"article/Cai/n1.html": "<html><body><div id=app></div><script>go()</script></body></html>"})
    assert "browser" in harvest.quarantined[0].cause


def test_pages_that_were_not_had_are_set_aside_with_their_referrer() -> None:
    harvest = _site({}, [Trouble("article/Cai/x.html", "answered 404", "article/Cai/101_1.html")])
    assert harvest.quarantined[0].cause == "the page answered 404; linked from article/Cai/101_1.html"


def test_a_closed_site_is_one_quarantined_row() -> None:
    crawled = Crawl(closed="robots.txt answered 503: treated as disallow for now")
    harvest = read_site("site", crawled, [], KINDS)
    assert [row.cause for row in harvest.quarantined] == ["robots.txt answered 503: treated as disallow for now"]
