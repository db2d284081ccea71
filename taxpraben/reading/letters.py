"""A choice: which option letters an answer picks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from taxpraben.reading.amounts import chinese_number
from taxpraben.reading.asked import Asked, Found
from taxpraben.reading.surface import narrow, run_on_start, squeezed, undecorated

_NEGATIVE_QUESTION = re.compile(
    r"(?:错误|不正确|不符合|不属于|不准确|不恰当|有误|不当|不合法|违法|不适用|不包括|不应|不得|不能|不需要?)[^。？?\n]{0,14}"
    r"(?:的(?:是|有|选项|一项|说法|表述|做法|情形)|哪|[？?]|[(（]\s*[)）])"
)
_WORDS = re.compile(r"\b(?:and|or|option)\b", re.IGNORECASE)
_EITHER = re.compile(r"或|\bor\b", re.IGNORECASE)
_AGAINST = re.compile(r"[不除排错]")
_NEGATIVE_PHRASE = re.compile(r"错|不正确|不符|不属|不准|不当|有误|违法|不合")
_ALL_OF_THEM = re.compile(
    r"(?:以上|上述|所有|全部|四个|五个)(?:选项|说法|答案|各项)?(?:都|均|全部|全)(?:是?正确|对|选|符合|是$|是[。,，])|^\s*(?:全选|全部选项|所有选项|全部正确|都正确|均正确|全对|都选)[。.]?\s*(?:\n|$)"
)


@dataclass(frozen=True)
class _Patterns:
    whole: re.Pattern[str]
    tagged: re.Pattern[str]
    strong: re.Pattern[str]
    picked: re.Pattern[str]
    described: re.Pattern[str]
    concluded: re.Pattern[str]
    complement: re.Pattern[str]
    rejected_before: re.Pattern[str]
    verdict: re.Pattern[str]
    head: re.Pattern[str]
    listed: re.Pattern[str]
    mention: re.Pattern[str]
    letter: re.Pattern[str]


_OPENING = r"[\(\[（【《<「『\"'“”‘’{]*[^\S\n]*"
_CLOSING = r"\s*[\)\]）】》>」』\"'“”‘’}]*"
_BETWEEN = r"\s*(?:[、,，;；/&+|]|和|与|及|以及|还有|或者?|\band\b|\bor\b)?\s*"
_LEAD = (
    r"[\s\]】》>）)\"'”’]*(?:应该|应当|应|就|只|即|可能|分别|依次|确实)?\s*"
    r"(?:选择|选|是|为|包括|有|\bis\b|\bare\b|[:：=→\-])*\s*(?:选项|option)?\s*[:：]?\s*"
)


@lru_cache(maxsize=64)
def _patterns(letters: str) -> _Patterns:
    upper = f"[{letters}]"
    one = f"(?:{_OPENING}{upper}(?:{upper})*{_CLOSING}(?:\\s*(?:选?项))?)"
    # A letter is no option inside a word (VAT, step), nor an English article ("a tax").
    several = rf"(?<![A-Za-z0-9]){one}(?:{_BETWEEN}{one})*(?![A-Za-z0-9]|\s?(?<=[aA]\s)[a-z])"
    loose = re.compile
    ignore = re.IGNORECASE
    return _Patterns(
        whole=loose(rf"\s*(?:选项?|option)?\s*({several})\s*[.。!！]?\s*", ignore),
        tagged=loose(
            r"(?:[\[【<](?:正确|最终|参考|标准)*(?:答案|选项|answer)[\]】>]\s*[:：]?\s*(.*?)(?=<\s*/?\s*(?:eo|answer|答案)|[\[【]|\n|$))"
            r"|\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}",
            ignore | re.DOTALL,
        ),
        strong=loose(
            rf"(?:答案|正确选项|最佳选项|正确的选项|正确项|(?:correct |final |best )?(?:answer|choice|option))"
            rf"(?!不|并不|并非){_LEAD}({several})",
            ignore,
        ),
        picked=loose(
            rf"(?<![不别勿未没])(?<!不应)(?<!不能)(?<!不可)(?<!不该)(?<!不要)(?<!不会)(?<!应当不)(?:选择|选定|勾选|选|而是|改为|改选|更正为|应为|应是|(?:认为|觉得|判断|推断)(?:应该|应当)?(?:是|为))(?!项|题|中|取)"
            rf"(?:的是|了|为|是|[:：])*\s*(?:选项|答案)?\s*({several})",
            ignore,
        ),
        described=loose(
            rf"((?:不?正确|错误|不?符合(?:题意|要求|规定)?|不?属于[^。;；\n:：]{{0,16}}|违法|不?合法|有误|不准确|不恰当)的?(?:选项|答案|说法|表述|一项|项|做法|情形|观点)?)"
            rf"(?:应该|应当|应)?(?:是|有|为|[:：])+[^\S\n]*(?:选项)?[^\S\n]*[:：]?[^\S\n]*({several})",
            ignore,
        ),
        concluded=loose(
            rf"(?:综上|因此|所以|故|由此|总之|therefore|thus|hence)[^。\n]{{0,40}}?(?<![A-Za-z])({several})\s*(?=$|[。.,，;；!！\n]|是?(?:正确|对|符合|当选|最)|\bis\b)",
            ignore,
        ),
        complement=loose(
            rf"(?:除了?|只有|仅有?|错误的(?:选项)?是|不正确的(?:选项)?是)\s*(?:选项)?\s*({several})\s*(?:选?项)?\s*"
            r"(?:(?:以外|之外|外)[^。\n]{0,12}(?:都|均|全|其余|其他|其它)|(?:是?(?:错误|错|不正确|不对|不符合)的?)?[,，;；]?\s*(?:其余|其他|其它))"
            r"[^。\n]{0,8}(?<!不)(?:正确|对|选|符合|是|可以)",
        ),
        rejected_before=loose(
            rf"(?:不应?该?当?(?:选择?)|不能选择?|不可选|不要选|排除|剔除|错选|不是|并非|而非|除了?|不包括|不在于)\s*(?:选项|了|掉)?\s*({several})",
        ),
        verdict=loose(
            rf"(?<![A-Za-z0-9])({upper}(?:{_BETWEEN}{upper})*)(?![A-Za-z0-9])(?P<gap>[^{letters}。;；\n]{{0,40}}?)"
            rf"(?P<word>不正确|不对|不符合|不当选|不选|不入选|不属于|不准确|不合题意|不成立|不恰当|错误|错|有误|应?排除|incorrect|wrong|false|正确|当选|入选|对(?![于应象外内比照方])|符合(?:题意|规定|要求)|成立|√|×|correct|right|true)"
        ),
        head=loose(rf"(?:^|[\n;；。,，]|\s)\s*{_OPENING}({upper}){_CLOSING}\s*(?:[.、:：,，)）]|\s|$)"),
        listed=loose(rf"[\n;；。,，、:：\s]\s*{_OPENING}({upper}){_CLOSING}\s*(?:[.、:：)）]|\s|$)"),
        mention=loose(
            rf"(?<![A-Za-z0-9])({several})(?!\s?(?:公司|企业|股|级|类|市|省|国|产品|商品|栋|座|某|银行|地|县|区|方|单位|厂|集团))"
        ),
        letter=loose(upper, ignore),
    )


def find_letters(text: str, asked: Asked) -> Found:
    """Read the options that an answer picks, as sorted letters.

    In order: marked answers (a tag closes the answer; else the last of tagged, boxed, marked and corrected ones before
    a new turn), the whole text, ``all but``, verdicts on each option, the text of an option instead of its letter, the
    option that the answer opens with, the only one mentioned. A rejected option is no answer. A ``single`` with several
    letters stays unread.
    """
    patterns = _patterns(asked.letters)
    plain = undecorated(narrow(text))
    for rule in (_all_but, _marked):
        found = rule(plain, patterns, asked, "")
        if found is not None:
            return _quoted(found, text)
    plain = plain[: run_on_start(plain, len(plain) - len(plain.lstrip()))]
    rejected = _rejected(plain, patterns, asked)
    for rule in (_whole, _all_of_them, _verdicts, _option_text, _opening, _mentioned):
        found = rule(plain, patterns, asked, rejected)
        if found is not None:
            return _quoted(found, text)
    return Found(reason=f"no option of {asked.letters[0]} to {asked.letters[-1]} is picked")


@dataclass(frozen=True)
class _Hit:
    letters: str
    start: int
    end: int
    flags: tuple[str, ...] = ()
    reason: str = ""


def _quoted(hit: _Hit, text: str) -> Found:
    evidence = text[hit.start : hit.end].strip()
    return Found(value=hit.letters or None, evidence=evidence, reason=hit.reason, flags=hit.flags)


def _letters_of(written: str, patterns: _Patterns) -> str:
    return "".join(sorted({letter.upper() for letter in patterns.letter.findall(_WORDS.sub(" ", written))}))


def _hit(written: str, start: int, end: int, patterns: _Patterns, asked: Asked, flags: tuple[str, ...] = ()) -> _Hit:
    letters = _letters_of(written, patterns)
    if len(letters) > 1 and _EITHER.search(written):
        return _Hit("", start, end, reason=f"undecided between {letters}")
    if asked.form == "single" and len(letters) > 1:
        return _Hit("", start, end, reason=f"several options: {letters}")
    return _Hit(letters, start, end, flags)


def _tagged(match: re.Match[str], patterns: _Patterns, asked: Asked) -> _Hit | None:
    content = match[2] if match[2] is not None else match[1]
    if not content.strip():
        return None
    inside = patterns.whole.fullmatch(content)
    if inside:
        return _hit(inside[1], match.start(), match.end(), patterns, asked)
    by_text = _by_option_text(content, asked)
    if by_text:
        return _hit(by_text, match.start(), match.end(), patterns, asked, ("option_text",))
    opened = patterns.head.match(content)
    if opened:
        return _hit(opened[1], match.start(), match.end(), patterns, asked)
    return None


def _is_negative(asked: Asked) -> bool:
    return _NEGATIVE_QUESTION.search(asked.question[-400:]) is not None


def _rejected(plain: str, patterns: _Patterns, asked: Asked) -> str:
    out: set[str] = set()
    for match in patterns.rejected_before.finditer(plain):
        out.update(_letters_of(match[1], patterns))
    if not _is_negative(asked):
        for match in patterns.verdict.finditer(plain):
            if _is_against(match["word"]):
                out.update(_letters_of(match[1], patterns))
    return "".join(sorted(out))


def _is_against(word: str) -> bool:
    return word.startswith(("不", "错", "有误", "应排除", "排除", "incorrect", "wrong", "false", "×"))


def _marked(plain: str, patterns: _Patterns, asked: Asked, rejected: str) -> _Hit | None:
    del rejected
    hits: list[tuple[int, bool, _Hit]] = []
    for match in patterns.tagged.finditer(plain):
        hit = _tagged(match, patterns, asked)
        if hit is not None:
            hits.append((match.start(), match[2] is None, hit))
    for match in _untagged(plain, patterns, asked):
        group = match.lastindex or 1
        hits.append((match.start(group), False, _hit(match[group], match.start(), match.end(group), patterns, asked)))
    if not hits:
        return None
    hits.sort(key=lambda hit: hit[0])
    first_start, closes, first = hits[0]
    if closes:
        return first  # a tag such as [答案]…<eoa> ends the answer; what follows is run on
    limit = run_on_start(plain, max(len(plain[: first.end].rstrip()), first_start))
    last = [hit for start, _, hit in hits if start <= limit][-1]
    return _with_listed(last, plain[:limit], patterns, asked)


def _with_listed(hit: _Hit, plain: str, patterns: _Patterns, asked: Asked) -> _Hit:
    """A marked letter that opens a list of options (A. …、B. …) stands for all that the list holds."""
    if asked.form != "set" or len(hit.letters) != 1 or not re.match(r"\s*[.、:：)）]\s*\S", plain[hit.end :]):
        return hit
    block = re.split(r"\n\s*\n|\n\s*(?:解析|理由|分析|解释)", plain[hit.end :], maxsplit=1)[0]
    letters = "".join(sorted({hit.letters, *(match[1] for match in patterns.listed.finditer(block))}))
    return _Hit(letters, hit.start, hit.end + len(block.rstrip()), hit.flags)


def _untagged(plain: str, patterns: _Patterns, asked: Asked) -> Iterator[re.Match[str]]:
    for pattern in (patterns.strong, patterns.picked, patterns.concluded):
        for match in pattern.finditer(plain):
            if _taken_back(plain, match.end(1)) or (pattern is patterns.concluded and _AGAINST.search(match.group())):
                continue
            yield match
    for match in patterns.described.finditer(plain):
        # Without the question, 错误的是B could be the answer to one that asks for it, so it is left to later rules.
        if (_NEGATIVE_PHRASE.search(match[1]) is not None) == _is_negative(asked):
            yield match


def _taken_back(plain: str, end: int) -> bool:
    return (
        re.match(
            r"\s*(?:选?项)?\s*(?:是|为)?(?:错误|错的|错[,，。;；]|不对|不正确|不可取|不符合|吗|还是|\?|？)",
            plain[end : end + 12],
        )
        is not None
    )


def _whole(plain: str, patterns: _Patterns, asked: Asked, rejected: str) -> _Hit | None:
    del rejected
    match = patterns.whole.fullmatch(plain.strip())
    if not match:
        return None
    start = len(plain) - len(plain.lstrip())
    return _hit(match[1], start, start + len(plain.strip()), patterns, asked)


def _all_but(plain: str, patterns: _Patterns, asked: Asked, rejected: str) -> _Hit | None:
    del rejected
    if asked.form != "set":
        return None
    match = patterns.complement.search(plain)
    if match:
        out = _letters_of(match[1], patterns)
        rest = "".join(letter for letter in asked.letters if letter not in out)
        return _Hit(rest, match.start(), match.end(), ("complement",))
    return None


def _all_of_them(plain: str, patterns: _Patterns, asked: Asked, rejected: str) -> _Hit | None:
    del patterns, rejected
    if asked.form != "set":
        return None
    every = _ALL_OF_THEM.search(plain)
    if every:
        return _Hit(asked.letters, every.start(), every.end(), ("all_options",))
    return None


def _verdicts(plain: str, patterns: _Patterns, asked: Asked, rejected: str) -> _Hit | None:
    verdicts: dict[str, bool] = {}
    start, end = len(plain), 0
    for match in patterns.verdict.finditer(plain):
        start, end = min(start, match.start()), max(end, match.end())
        for letter in _letters_of(match[1], patterns):
            verdicts[letter] = not _is_against(match["word"])
    wanted = not _is_negative(asked)
    picked = "".join(sorted(letter for letter, right in verdicts.items() if right is wanted))
    out = set(rejected).union(verdicts)
    if not picked and asked.form == "single" and wanted and len(out) == len(asked.letters) - 1:
        picked = next(letter for letter in asked.letters if letter not in out)
        return _Hit(picked, min(start, 0), max(end, len(plain)), ("by_elimination",))
    if not picked:
        return None
    return _hit(picked, start, end, patterns, asked, ("verdicts",))


def _option_text(plain: str, patterns: _Patterns, asked: Asked, rejected: str) -> _Hit | None:
    letters = _by_option_text(plain, asked)
    letters = "".join(letter for letter in letters if letter not in rejected)
    heads = _heads(plain, patterns)
    if heads and set(heads) <= set(letters):
        letters = heads  # C.彩票所得 is C, though another option's text may stand in it
    if not letters or set(letters) == set(asked.letters) or set(heads) - set(letters):
        return None
    stripped = plain.strip()
    start = plain.find(stripped)
    return _hit(letters, start, start + len(stripped), patterns, asked, ("option_text",))


def _by_option_text(text: str, asked: Asked) -> str:
    if not asked.choices:
        return ""
    tight = _comparable(text)
    options = {letter: _comparable(choice) for letter, choice in zip(asked.letters, asked.choices, strict=False)}
    equal = [letter for letter, option in options.items() if option and option == tight]
    if equal:
        return equal[0] if len(equal) == 1 else ""
    inside = {letter: option for letter, option in options.items() if len(option) >= 2 and option in tight}
    kept = [
        letter
        for letter, option in inside.items()
        if not any(
            option != other and option in other and tight.count(option) <= tight.count(other)
            for other in inside.values()
        )
    ]
    covered = sum(len(options[letter]) for letter in kept)
    if not kept or len(tight) > 2 * covered + 16:
        return ""
    return "".join(sorted(kept))


_ARTICLE = re.compile(r"第([零一二三四五六七八九十百千]+)条")


def _comparable(text: str) -> str:
    tight = squeezed(text).strip(".。,，;；:：!！\"'“”‘’")
    return _ARTICLE.sub(lambda match: f"第{chinese_number(match[1])}条", tight)


def _heads(plain: str, patterns: _Patterns) -> str:
    return "".join(sorted({match[1] for match in patterns.head.finditer(plain)}))


def _opening(plain: str, patterns: _Patterns, asked: Asked, rejected: str) -> _Hit | None:
    heads = [match for match in patterns.head.finditer(plain) if match[1] not in rejected]
    if not heads:
        return None
    letters = "".join(sorted({match[1] for match in heads}))
    opens = not plain[: heads[0].start(1)].strip(" \n([（【\"'“‘<{:：")
    if asked.form == "set":
        listed = [match for match in heads if match.start() == 0 or plain[match.start()] in "\n;；" or opens]
        picked = "".join(sorted({match[1] for match in listed}))
        if not picked:
            return None
        if picked == asked.letters and not opens:
            return _Hit("", heads[0].start(), heads[-1].end(), reason="every option is restated, none is picked")
        flags = ("all_options",) if picked == asked.letters else ()
        return _Hit(picked, heads[0].start(), heads[-1].end(), flags)
    together = patterns.mention.match(plain, heads[0].start(1))
    if together and len(_letters_of(together[1], patterns)) > 1:
        return None
    if opens and (len(letters) == 1 or not _lists_every_option(letters, asked)):
        line = re.split(r"[\n]", plain[heads[0].start() :].lstrip(), maxsplit=1)[0]
        return _Hit(heads[0][1], heads[0].start(), heads[0].start() + len(line) + 1)
    if len(letters) == 1:
        return _Hit(letters, heads[0].start(), heads[0].end())
    return None


def _lists_every_option(letters: str, asked: Asked) -> bool:
    return len(letters) > 1 and len(letters) >= min(len(asked.letters), 3)


def _mentioned(plain: str, patterns: _Patterns, asked: Asked, rejected: str) -> _Hit | None:
    mentions = [
        (match, "".join(letter for letter in _letters_of(match[1], patterns) if letter not in rejected))
        for match in patterns.mention.finditer(plain)
        if match[1].upper() == match[1]
    ]
    mentions = [(match, letters) for match, letters in mentions if letters]
    distinct = {letters for _, letters in mentions}
    every = "".join(sorted({letter for letters in distinct for letter in letters}))
    if len(distinct) == 1 or (asked.form == "set" and distinct and every in distinct):
        match, letters = next(pair for pair in mentions if pair[1] == every or len(distinct) == 1)
        return _hit(letters, match.start(), match.end(), patterns, asked, ("mention",))
    if every:
        return _Hit("", 0, 0, reason=f"several options mentioned, none marked: {every}")
    return None
