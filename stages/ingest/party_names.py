"""Names of parties in verdicts, found by their roles."""

from __future__ import annotations

import re
from collections.abc import Iterable

from stages.ingest.pseudonyms import assign_pseudonyms

_ACCUSED = ("原审被告人", "被告人", "上诉人", "罪犯", "被告单位", "单位被告人", "原告", "被告")
_OTHERS = ("诉讼代表人", "法定代表人", "负责人", "被害人", "被害单位", "证人", "同案人", "同案犯", "第三人")


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


# A party stands after its role in the part on parties, up to the first mark.
_PARTY = r"(?:{roles})(?:[（(][^）)]{{1,20}}[）)])?\s*[:：]?\s*([^，,。；;（(、\s]+)"
_ACCUSED_LINE = re.compile(_PARTY.format(roles=_any(_ACCUSED)))
_OTHER_LINE = re.compile(_PARTY.format(roles=_any(_OTHERS)))
_IN_TEXT = re.compile(
    rf"(?:{_any(_ACCUSED + _OTHERS)})([\u4e00-\u9fff]{{2,4}}?)"
    r"(?=[，,。；;（(、]|犯|系|在|于|的行为|等人|到案|如实|供述|对|以|与|和|伙同|经)"
)
_PERSON = re.compile(r"[\u4e00-\u9fff]{2,4}|[\u4e00-\u9fff]{1,10}·[\u4e00-\u9fff·]{1,10}")
_SURNAMES = set(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭"
    "陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔向汤温康施文牛樊葛邢安齐易乔伍"
    "庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂成苗谷曲盛冉翁蓝路游辛靳管柴蒙鲍华"
    "喻祁蒲房滕屈饶解牟艾尤时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟应臧闵苟邬边卞姬师和"
    "仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝官封谈匡鞠惠荆乐冀郁胥南班储原栗燕楚鄢劳谌奚皮粟冼蔺楼盘满闻位"
)
_COMPANY_END = r"(?:有限责任公司|股份有限公司|有限公司|集团公司)"
_ANY_COMPANY_END = rf"(?:{_COMPANY_END}|公司|合伙企业|经营部|服务部|商行|厂)"
_COMPANY = re.compile(rf"[\u4e00-\u9fff（）()A-Za-z0-9]{{2,40}}?{_COMPANY_END}")
# What may stand right before a company's name in running text and is no part of it.
_LEFT = re.compile(
    r".*(?:被告单位|被害单位|让|由|向|为|与|和|及|在|对|从|系|是|将|以|给|被|即|到|至|了|的|称|用|使|经|帮|替|找|于|入|出|"
    r"委托|控制|成立|设立|注册|经营|通过|取得|名下|利用|伙同|派驻|先后|其中|另有|打扫|购买|收购|冒充|借用|租用|承租|进入|"
    r"窃取|收取|伪造|持有|前往|加入|隶属|受雇|欺骗|联系|介绍|告知|要求|指使|授意|帮助|收集|扫描|复制|仿造|盗窃|仿冒|冒名|挂靠|担任|作为|接受|来自|承包|承揽|招揽|发现)"
)
_PLACE = re.compile(r"(?:^|[，。、；：（(\n]|住|在|于)([\u4e00-\u9fff]{2,3})(?:省|市|县)")
_PROVINCES = frozenset(
    re.findall(
        r"\S+",
        "北京 天津 上海 重庆 河北 山西 辽宁 吉林 黑龙江 江苏 浙江 安徽 福建 江西 山东 河南 湖北 湖南 广东 海南 "
        "四川 贵州 云南 陕西 甘肃 青海 内蒙古 广西 西藏 宁夏 新疆",
    )
)
_PUBLIC = re.compile(r"(?:法院|检察院|公安|税务局|稽查局|海关|人民政府|委员会|银行|财政|事务所|司法|监狱|看守所)")
_NOT_PERSONS = {"单位", "公司", "本人", "二人", "三人", "等人", "均已", "行为"}
_MASKED = re.compile(r"[一-龥]某[某\u4e00-\u9fff]?|.*某+[公单企].*")


def party_pseudonyms(text: str, parties: str, known: Iterable[str] = ()) -> dict[str, str]:
    """What each party's name becomes.

    Args:
        text: the whole verdict.
        parties: its part on the parties, one a line.
        known: names that the record itself lists as parties.

    Returns:
        Name to pseudonym: people 甲, 乙, … in the order of the parties (the text then says 被告人甲), companies A公司,
        B公司, …; aliases after 以下简称 share their name's pseudonym. Names already masked (林某某) and public
        bodies are left alone, and so are pseudonyms that the text already uses.
    """
    people: dict[str, None] = {}
    companies: dict[str, None] = {}
    lines = parties.split("\n")
    for pattern in (_ACCUSED_LINE, _OTHER_LINE):
        for name in [*known, *(match.group(1) for line in lines for match in pattern.finditer(line))]:
            _file(name.strip(), people, companies)
    for match in _IN_TEXT.finditer(text):
        name = match.group(1)
        if name[0] in _SURNAMES and not any(name.startswith(known_name) for known_name in people):
            _file(name, people, companies)
    for name in _companies(text, tuple(companies)):
        companies.setdefault(name)
    return assign_pseudonyms(text, people, companies)


def _file(name: str, people: dict[str, None], companies: dict[str, None]) -> None:
    if not name or _PUBLIC.search(name) or _MASKED.fullmatch(name) or name in _NOT_PERSONS:
        return
    if re.search(rf"{_ANY_COMPANY_END}$", name):
        companies.setdefault(name)
    elif _PERSON.fullmatch(name) and not re.search(r"[的等及其]$", name):
        people.setdefault(name)


def _companies(text: str, known: tuple[str, ...]) -> list[str]:
    """Companies named in the text beyond the known ones, in the order of appearance.

    Running text has no mark before a name. Where a name stands twice after different words, what both places share
    is the name; companies are named after their place, so a place of the text or a province opens one; what is left
    before it is cut at the last word that cannot be part of it.
    """
    rest = text
    for name in sorted(known, key=len, reverse=True):
        rest = rest.replace(name, "\n")
    stretches = [match.group() for match in _COMPANY.finditer(rest)]
    places = {match.group(1) for match in _PLACE.finditer(text)} | _PROVINCES
    found: list[str] = []
    for at, stretch in enumerate(stretches):
        shared = max(
            (_shared_end(stretch, other) for number, other in enumerate(stretches) if number != at), key=len, default=""
        )
        name = shared if len(shared) >= 8 else stretch
        opened = [name.rfind(place) for place in places if place in name[:-8]]
        name = name[max(opened) :] if opened else name
        found.append(_LEFT.sub("", name).strip("（）()"))
    out: dict[str, None] = {}
    for name in found:
        shorter = [other for other in found if len(other) >= 8 and name != other and name.endswith(other)]
        name = min(shorter, key=len, default=name)
        if len(name) >= 6 and not _PUBLIC.search(name) and "某" not in name:
            out.setdefault(name)
    return list(out)


def _shared_end(a: str, b: str) -> str:
    size = 0
    while size < min(len(a), len(b)) and a[-1 - size] == b[-1 - size]:
        size += 1
    return a[len(a) - size :] if size < max(len(a), len(b)) else a
