"""Sites on loopback in the style of each adapter, made by seed, with the traps that real ones set; and their log.

Every text is made here of words: no site's text is in it. The benchmark of the crawl uses the same sites.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "loopback-token"
TOPICS = {
    "CaiShangZiXun": "财商资讯", "CaiShuiBiaoDan": "财税表单", "DiFangFaGui": "地方法规", "FaGuiJieDu": "法规解读",
    "NaShuiTiaoZheng": "纳税调整", "NaShuiPingGu": "纳税评估", "ShuiShouYouHui": "税收优惠",
    "ShuiShouChouHua": "税收筹划", "ShuiWuWenDa": "税务问答", "ZhongYangFaGui": "中央法规",
}  # fmt: skip
_WORDS = [
    "云栖", "青禾", "示范", "虚构", "纳税人", "缴费", "停车场", "用水", "账簿", "发票", "申报", "期限", "税率",
    "扣除", "凭证", "合同", "仓库", "货物", "运输", "折旧", "摊销", "预缴", "汇算", "退还", "核定", "查验", "登记",
    "备案", "抵减", "留抵", "园区", "商户", "门店", "平台", "司机", "渔船", "茶叶", "砂石", "纸箱", "机床", "桥梁",
    "码头", "温室", "果园", "冷库", "电缆", "剧场", "书店", "面馆", "旅社", "按月", "按季", "逐笔", "如实", "及时",
    "分别", "合并", "单独", "依法", "首次", "再次", "提交", "保存", "更正", "补正", "说明", "公示", "抽查", "复核",
    "通知", "送达", "签收", "归档", "转出", "结转",
]  # fmt: skip


@dataclass
class Reply:
    """An answer of the server; ``fault``: ``slow`` (sleeps), ``broken`` (ends before its length)."""

    body: str | bytes = ""
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)
    fault: str = ""


@dataclass
class Host:
    """One site: its pages by target (``/path?query``, with `` form`` after it for POST), what a crawl must bring."""

    name: str
    source: dict[str, Any]
    pages: dict[str, Reply] = field(default_factory=dict)
    expected: dict[str, str] = field(default_factory=dict)
    """Title by origin."""
    port: int = 0
    token: bool = False

    def put(self, path: str, reply: Reply | str) -> None:
        """A page at a path without its leading slash."""
        self.pages["/" + path] = reply if isinstance(reply, Reply) else Reply(reply)


@dataclass(frozen=True)
class Asked:
    """A line of the server's log."""

    at: float
    host: str
    target: str
    status: int


class Writer:
    """Sentences by seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def sentence(self) -> str:
        words = self.random.sample(_WORDS, 9)
        number = self.random.randint(2, 9999)
        return f"{''.join(words[:4])}，{''.join(words[4:7])}{number}元，{''.join(words[7:])}。"

    def paragraphs(self, count: int = 4) -> list[str]:
        return ["".join(self.sentence() for _ in range(3)) for _ in range(count)]

    def title(self, number: int) -> str:
        return f"{''.join(self.random.sample(_WORDS, 4))}第{number}号"

    def day(self) -> str:
        return f"2026-{self.random.randint(1, 11):02}-{self.random.randint(1, 28):02}"


def _page(title: str, body: str, head: str = "") -> str:
    return f"<!DOCTYPE html><html><head><title>{title} - 虚构站</title>{head}</head><body>{body}</body></html>"


def _lines(lines: list[str]) -> str:
    return "".join(f"<p>{line}</p>" for line in lines)


def tax_house(seed: int, count: int) -> Host:
    """In the style of shui5.cn; two charsets said wrongly, a firewall's page, later pages, a query that repeats."""
    host = Host("house", {"adapters": ["shui5"], "starts": ["index.html"], "sections": {"*": "news"}})
    write = Writer(seed)
    topics = list(TOPICS.items())
    rows: dict[str, list[str]] = {folder: [] for folder, _ in topics}
    for number in range(count):
        folder, _ = topics[number % len(topics)]
        path = f"article/{folder}/a{number}.html"
        title, lines = write.title(number), write.paragraphs()
        rows[folder].append(f'<div class="xwt2"><div class="xwt2_a"><a href="/{path}?q=&q=&q=">{title}</a></div></div>')
        pager = ""
        if number % 25 == 7:
            later = f"article/{folder}/a{number}$2.html"
            pager = f'<div class="pagelist"><a href="/{later}">2</a></div>'
            host.put(
                later, _page(title, f'<h1>{title}</h1><div class="arcContent">{_lines(write.paragraphs(2))}</div>')
            )
        text = _page(
            title,
            f'<div class="arcBox"><h1>{title}</h1><div class="articleResource">来源：虚构税讯 时间：{write.day()}</div>'
            f'<div class="articleDes">{write.sentence()}</div>'
            f'<div class="arcContent">{_lines(lines)}</div>{pager}</div>',
            '<meta charset="gb2312">' if number % 9 == 4 else "",
        )
        if number % 9 == 4:  # says GB2312 and holds 镕, says UTF-8 and is GBK: the family is read as GB18030
            said = "text/html; charset=utf-8" if number % 2 else "text/html"
            host.put(path, Reply(text.replace("第", "镕").encode("gb18030"), kind=said))
            title = title.replace("第", "镕")
        else:
            host.put(path, text)
        host.expected[path] = title
    for at, (folder, name) in enumerate(topics):
        chunks = [rows[folder][start : start + 20] for start in range(0, len(rows[folder]), 20)]
        for page, chunk in enumerate(chunks, start=1):
            pager = "".join(f'<a href="{101 + at}_{other}.html#top">{other}</a>' for other in range(1, len(chunks) + 1))
            pager = f'<div class="pagelist">{pager}</div>'
            host.put(f"article/{folder}/{101 + at}_{page}.html", _page(name, "".join(chunk) + pager))
    wall = "<script>var arg1='3F';</script><textarea id='renderData'></textarea>"
    host.put("article/FaGuiJieDu/wall.html", wall)
    host.put("article/FaGuiJieDu/changed.html", _page("新版式", f"<div>{_lines(write.paragraphs())}</div>"))
    host.put("article/FaGuiJieDu/scripts.html", "<html><body><div id=app></div><script>go()</script></body></html>")
    links = "".join(f'<a href="article/{folder}/{101 + at}_1.html">x</a>' for at, folder in enumerate(TOPICS))
    extra = "".join(f'<a href="article/FaGuiJieDu/{name}.html">x</a>' for name in ("wall", "changed", "scripts"))
    host.put("index.html", _page("首页", links + extra + '<a href="private/x.html">x</a>'))
    host.put("robots.txt", Reply("User-agent: *\nDisallow: /private/\nCrawl-delay: 0.004\n", kind="text/plain"))
    return host


def administration(seed: int, count: int) -> Host:
    """In the style of chinatax.gov.cn: lists by query, articles, bulletins, the library without charset, the board."""
    host = Host(
        "administration",
        {
            "adapters": ["chinatax"],
            "starts": [f"chinatax/n810/c10000{at}/index.html" for at in range(1, 5)],
            "sections": {"c100001": "news", "c100002": "inspect", "*": "skip", "c100004": "board"},
        },
    )
    write = Writer(seed)
    columns: dict[int, list[tuple[str, str]]] = {1: [], 2: [], 3: [], 4: []}
    for number in range(count):
        column = number % 4 + 1
        path = f"chinatax/n810/c10000{column}/c{500000 + number}/content.html"
        title, day = write.title(number), write.day()
        columns[column].append((path, title))
        metas = (
            f'<meta name="ArticleTitle" content="{title}"><meta name="PubDate" content="{day} 09:00:00">'
            '<meta name="ContentSource" content="虚构税务局">'
        )
        if column == 1:
            host.put(path, _page(title, f'<div id="zoomcon">{_lines(write.paragraphs())}</div>', metas))
            host.expected[path] = title
        elif column == 2:
            heads = [f"查处{write.title(number)}偷税案件" for _ in range(2)]
            cases = [f"{numeral}、{head}。" for numeral, head in zip("一二", heads, strict=True)]
            lines = [write.sentence(), cases[0], *write.paragraphs(1), cases[1], *write.paragraphs(1)]
            host.put(path, _page(title, f'<div id="fontzoom">{_lines(lines)}</div>', metas))
            host.expected |= {f"{path}#{at}": head for at, head in enumerate(heads, start=1)}
        elif column == 3:
            fields = (
                f"<ul><li>发文字号：虚税发〔2026〕{number}号</li><li>发文日期：{day}</li><li>有效性：全文有效</li></ul>"
            )
            rules = [f"第{numeral}条　{write.sentence()}" for numeral in "一二三"]
            body = f'<h1>{title}</h1>{fields}<div class="arc_cont">{_lines(rules)}</div>'
            host.put(path, Reply(_page(title, body).encode(), kind="text/html"))
        else:
            question, answer = write.sentence(), write.sentence()
            body = (
                f"<h1>{title}</h1><table><tr><td>留言内容</td><td>{question}</td></tr><tr><td>答复单位</td><td>虚构税务局</td></tr>"
                f"<tr><td>答复时间</td><td>{day}</td></tr><tr><td>答复内容</td><td>{answer}</td></tr></table>"
            )
            host.put(path, _page(title, body))
            host.expected[path] = title
    host.source["sections"]["c100003"] = "official"
    host.expected |= dict(columns[3])
    for column, rows in columns.items():
        host.put(
            f"chinatax/n810/c10000{column}/index.html",
            _page(f"栏目{column}", "<div id=list></div><script>l()</script>"),
        )
        chunks = [rows[start : start + 20] for start in range(0, len(rows) + 1, 20)]
        for page, chunk in enumerate(chunks, start=1):
            listed = "".join(
                f'<li><a href="/{path}">{title}</a><span>[2026-01-01]</span></li>' for path, title in chunk
            )
            target = f"chinatax/manuscriptList/c10000{column}?_pageSize=20&_template=index&page={page}"
            host.put(target, _page(f"栏目{column}", f'<ul class="list">{listed}</ul>'))
    return host


def bureau(name: str, seed: int, count: int, paging: str) -> Host:
    """In the style of a provincial bureau: dataproxy.jsp by POST, index_N.html, or a query."""
    rows_of = {"gansu": "", "beijing": "xxgk_tzgg", "qinghai": "news-list-line"}
    body_of = {"gansu": 'id="zoom"', "beijing": 'class="TRS_Editor"', "qinghai": 'class="qh-xilan-content"'}
    host = Host(name, {"adapters": [f"bureaus:{name}"], "sections": {"*": "official"}})
    write = Writer(seed)
    links: list[str] = []
    for number in range(count):
        path = f"art/2026/1/5/art_77_{number}.html" if paging == "dataproxy" else f"zxwj/202601/t20260105_{number}.html"
        title = write.title(number)
        lines = [write.sentence(), "一、适用范围", *write.paragraphs(1), "二、执行时间", *write.paragraphs(1)]
        host.put(path, _page(title, f"<div>发布日期：2026-01-05</div><div {body_of[name]}>{_lines(lines)}</div>"))
        host.expected[path] = title
        links.append(f'<li><a href="/{path}" target="_blank">{title}</a></li>')
    if paging == "dataproxy":
        script = (
            f"$('#1').jpage({{totalRecord:{count},proxyUrl:'/module/web/jpage/dataproxy.jsp',perPage:5,"
            "ajaxParam:{col:1,appid:1,webid:3,path:'/',columnid:77,unitid:'9',webname:'虚构局',permissiontype:0}})"
        )
        host.source["starts"] = ["col/col77/index.html"]
        host.put("col/col77/index.html", _page("最新文件", f"<script>{script}</script>"))
    elif paging == "numbered":
        host.source["starts"] = ["zxwj/index.html"]
        chunks = [links[start : start + 15] for start in range(0, count, 15)]
        for page, chunk in enumerate(chunks):
            path = f"zxwj/index_{page}.html" if page else "zxwj/index.html"
            script = f'<script>createPageHTML({len(chunks)}, {page}, "index", "html");</script>'
            host.put(path, _page("最新文件", f'<div class="{rows_of[name]}"><ul>{"".join(chunk)}</ul></div>{script}'))
    else:
        host.source["starts"] = ["ui?pageId=9"]
        chunks = [links[start : start + 15] for start in range(0, count, 15)] + [[]]
        for page, chunk in enumerate(chunks, start=1):
            query = "pageId=9" if page == 1 else f"currentPage={page}&pageId=9"
            host.put(f"ui?{query}", _page("最新文件", f'<div class="{rows_of[name]}">{"".join(chunk)}</div>'))
    host.put("robots.txt", Reply("User-agent: *\nAllow: /\n", kind="text/plain"))
    return host


def judgments(seed: int, count: int) -> Host:
    """In the style of China Judgments Online: lists, the record as a string of a script."""
    host = Host("judgments", {"adapters": ["wenshu"], "starts": ["list/1.html"], "sections": {"*": "verdict"}})
    write = Writer(seed)
    rows = []
    for number in range(count):
        title = f"甲某{number}虚开发票一审刑事判决书"
        parts = {
            "WBSB": "<div>虚构示范人民法院</div><div>刑 事 判 决 书</div><div>（2026）虚0101刑初" + f"{number}号</div>",
            "DSRXX": "<div>公诉机关虚构示范人民检察院。</div><div>被告人甲某，男，虚构人。</div>",
            "AJJBQK": f"<div>经审理查明，{write.sentence()}{write.sentence()}</div>",
            "CPYZ": "<div>本院认为，依照《中华人民共和国刑法》第二百零五条之一之规定，判决如下：</div>",
            "PJJG": f"<div>被告人甲某犯虚开发票罪，判处罚金人民币{number + 1000}元。</div>",
        }
        html = "".join(f"<a type='dir' name='{name}'></a>{text}" for name, text in parts.items())
        record = json.dumps({"Title": title, "PubDate": write.day(), "Html": html}, ensure_ascii=False)
        target = f"content/content?DocID={number:06d}"
        host.put(
            target, _page("文书", f"<script>var jsonHtmlData = {json.dumps(record, ensure_ascii=False)};</script>")
        )
        host.expected[target] = title
        rows.append(f'<li><a href="/{target}&utm_source=list">{title}</a></li>')
    chunks = [rows[start : start + 20] for start in range(0, count, 20)]
    for page, chunk in enumerate(chunks, start=1):
        following = f'<a href="/list/{page + 1}.html">下一页</a>' if page < len(chunks) else ""
        host.put(f"list/{page}.html", _page("文书列表", f"<ul>{''.join(chunk)}</ul>{following}"))
    return host


def monitor(seed: int, pages: int) -> Host:
    """The opinion monitor's interface: JSON, ten posts a page, a token."""
    host = Host("monitor", {"adapters": ["opinion"], "starts": ["export?page=1"], "sections": {"*": "opinion"}})
    host.token = True
    write = Writer(seed)
    for page in range(1, pages + 1):
        posts = []
        for at in range(10):
            mark = f"p{page}-{at}"
            title = write.title(page * 10 + at)
            content = f"<p>{write.sentence()}</p><p>{write.sentence()}</p>"
            posts.append(
                {"id": mark, "title": title, "content": content, "publish_time": write.day(), "platform": "虚构论坛"}
            )
            host.expected[f"export?page={page}#{mark}"] = title
        answer = {"code": 0, "page": page, "pages": pages, "data": {"list": posts}}
        host.put(f"export?page={page}", Reply(json.dumps(answer, ensure_ascii=False), kind="application/json"))
    return host


def plain_site(seed: int, count: int) -> Host:
    """A site without an adapter of its own, where the traps are: see ``TRAPS``."""
    host = Host("plain", {"adapters": ["generic"], "sections": {"*": "news"}})
    write = Writer(seed)
    links = []
    for number in range(count):
        path = f"news/{number % 7}/n{number}.html"
        title = write.title(number)
        nav = "".join(f'<li><a href="/news/{at}/index.html">栏目{at}</a></li>' for at in range(3))
        body = f"<nav><ul>{nav}</ul></nav><main><article><h1>{title}</h1>{_lines(write.paragraphs())}</article></main>"
        host.put(path, _page(title, body + "<footer>虚构站 版权所有</footer>"))
        host.expected[path] = title
        links.append(f'<li><a href="{path}?utm_source=front&session=">{title}</a></li>')
    for at in range(3):
        host.put(
            f"news/{at}/index.html",
            _page(f"栏目{at}", f'<a href="/index.html">首页</a><a href="/news/{at}/n{at}.html">x</a>'),
        )
    traps = "".join(f'<li><a href="{target}">{target}</a></li>' for target in TRAPS)
    host.put("index.html", _page("首页", f'<base href="/"><ul>{"".join(links)}</ul><ul>{traps}</ul>'))
    for month in range(1, 13):  # a calendar that links on for ever
        for year in range(2020, 2060):
            following = f"calendar/{year + month // 12}/{month % 12 + 1}/"
            host.put(
                f"calendar/{year}/{month}/",
                _page("日历", f'<a href="/{following}">下月</a><a href="/index.html">首页</a>'),
            )
    for number in range(1, 400):
        host.put(f"search?q={number}", _page("搜索", f'<a href="/search?q={number + 1}&q=">下一个</a>'))
    host.put("deep/deep/deep/x.html", _page("深", "x"))
    host.put("slow.html", Reply(_page("慢", "x"), fault="slow"))
    host.put("broken.html", Reply(_page("断", "x" * 500), fault="broken"))
    host.put("round/a.html", Reply(status=302, headers={"Location": "/round/b.html"}))
    host.put("round/b.html", Reply(status=302, headers={"Location": "/round/a.html"}))
    host.put("moved.html", Reply(status=301, headers={"Location": "/news/0/n0.html"}))
    host.put("away.html", Reply(status=302, headers={"Location": "http://elsewhere.invalid/"}))
    host.put("guard.html", "<html><body>您的访问过于频繁，请输入验证码。</body></html>")
    host.put("huge.html", _page("大", "<p>" + "大" * 400_000 + "</p>"))
    host.put("paper.html", Reply("%PDF-1.4", kind="application/pdf"))
    host.put("busy.html", Reply("busy", status=503))
    return host


TRAPS = (
    "calendar/2026/1/", "search?q=1", "deep/deep/deep/x.html", "slow.html", "broken.html", "round/a.html", "moved.html",
    "away.html", "guard.html", "huge.html", "paper.html", "busy.html", "gone.html", "index.html?a=&a=",
    "javascript:void(0)", "mailto:a@example.invalid",
)  # fmt: skip


def closed_site() -> Host:
    """A site whose robots.txt answers 503."""
    host = Host("closed", {"adapters": ["generic"], "sections": {"*": "news"}})
    host.put("robots.txt", Reply("busy", status=503))
    host.put("index.html", _page("首页", "x"))
    return host


def make_hosts(seed: int = 7, pages: int = 2000) -> list[Host]:
    """Sites of all styles; some ``pages`` pages in all."""
    share = pages / 2000
    return [
        tax_house(seed, int(700 * share)),
        administration(seed + 1, int(560 * share)),
        bureau("gansu", seed + 2, int(120 * share), "dataproxy"),
        bureau("beijing", seed + 3, int(120 * share), "numbered"),
        bureau("qinghai", seed + 4, int(120 * share), "query"),
        judgments(seed + 5, int(140 * share)),
        monitor(seed + 6, int(30 * share)),
        plain_site(seed + 7, int(160 * share)),
        closed_site(),
    ]


@dataclass
class Loopback:
    """The sites served, and the log of what was asked of them, over all runs until it is cleared."""

    hosts: list[Host]
    log: list[Asked] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    slow: float = 2.0

    def sources(self) -> list[dict[str, Any]]:
        """The sources of params.yaml that crawl them, by url."""
        return [
            {
                "name": host.name,
                "pipeline": "sites",
                "parser": "site",
                "url": f"http://127.0.0.1:{host.port}/",
                **host.source,
            }
            for host in self.hosts
        ]

    def asked(self) -> Counter[tuple[str, str]]:
        """How often each target was asked for, by host and target."""
        return Counter((line.host, line.target) for line in self.log)


@contextmanager
def serve(hosts: list[Host], slow: float = 2.0) -> Iterator[Loopback]:
    """Serve the sites, each on a port of its own."""
    loopback = Loopback(hosts, slow=slow)
    servers = []
    for host in hosts:
        server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(host, loopback))
        server.daemon_threads = True
        host.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        servers.append(server)
    try:
        yield loopback
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()


def _handler(host: Host, loopback: Loopback) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:  # the crawler was killed
                self.close_connection = True

        def do_GET(self) -> None:
            self._answer(self.path)

        def do_POST(self) -> None:
            form = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            self._answer(f"{self.path} {form}")

        def _answer(self, target: str) -> None:
            at = time.monotonic()
            reply = _reply(host, target, self.headers.get("Authorization", ""))
            with loopback.lock:
                loopback.log.append(Asked(at, host.name, target, reply.status))
            data = reply.body.encode() if isinstance(reply.body, str) else reply.body
            if reply.fault == "slow":
                time.sleep(loopback.slow)
            try:
                self.send_response(reply.status)
                self.send_header("Content-Type", reply.kind)
                self.send_header("Content-Length", str(len(data) + (100 if reply.fault == "broken" else 0)))
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)
                self.wfile.flush()
            except OSError:  # the crawler has gone, or was killed
                self.close_connection = True
            if reply.fault == "broken":
                self.close_connection = True

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


def _reply(host: Host, target: str, authorization: str) -> Reply:
    if host.token and target != "/robots.txt" and authorization != f"Bearer {TOKEN}":
        return Reply("no token", status=401)
    path, _, form = target.partition(" ")
    if "dataproxy.jsp" in path:
        return _records(host, path, form)
    page = host.pages.get("/index.html" if target == "/" else target)
    return page or Reply("not here", status=404)


def _records(host: Host, path: str, form: str) -> Reply:
    """dataproxy.jsp: the records asked for, if the form names the column."""
    query = parse_qs(urlsplit(path).query)
    if parse_qs(form).get("columnid") != ["77"]:
        return Reply("no column", status=400)
    rows = list(host.expected.items())[int(query["startrecord"][0]) - 1 : int(query["endrecord"][0])]
    records = "".join(f"<record><![CDATA[<li><a href='/{path}'>{title}</a></li>]]></record>" for path, title in rows)
    body = f"<datastore><totalrecord>{len(host.expected)}</totalrecord><recordset>{records}</recordset></datastore>"
    return Reply(body, kind="text/xml; charset=utf-8")
