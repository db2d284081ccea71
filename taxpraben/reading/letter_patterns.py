"""The patterns of a choice: how answers pick options, reject them and pass verdicts on them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

# A pattern below can only begin with one of its words: texts are searched for these first, which is much quicker.
STRONG_WORDS: tuple[str, ...] = ("答案", "正确选项", "最佳选项", "正确的选项", "正确项")
STRONG_WORDS += ("correct ", "final ", "best ", "answer", "choice", "option")
PICKED_WORDS = ("选", "勾选", "改选", "而是", "改为", "更正为", "应为", "应是", "认为", "觉得", "判断", "推断")
DESCRIBED_WORDS: tuple[str, ...] = ("不正确", "正确", "错误", "不符合", "符合", "不属于", "属于", "违法")
DESCRIBED_WORDS += ("不合法", "合法", "有误", "不准确", "不恰当")
CONCLUDED_WORDS = ("综上", "因此", "所以", "故", "由此", "总之", "therefore", "thus", "hence")
COMPLEMENT_WORDS = ("除", "只有", "仅", "错误的", "不正确的")
REJECTED_WORDS = ("不", "排除", "剔除", "错选", "并非", "而非", "除")


@dataclass(frozen=True)
class LetterPatterns:
    """What picks, rejects and judges options; see ``letters`` for the order in which they count."""

    whole: re.Pattern[str]
    strong: re.Pattern[str]
    picked: re.Pattern[str]
    described: re.Pattern[str]
    concluded: re.Pattern[str]
    complement: re.Pattern[str]
    rest_of: re.Pattern[str]
    rejected_before: re.Pattern[str]
    verdict: re.Pattern[str]
    head: re.Pattern[str]
    listed: re.Pattern[str]
    mention: re.Pattern[str]
    letter: re.Pattern[str]


# Quantifiers are possessive (*+, ++) wherever nothing needs to be given back, so that no text takes long.
_OPENING = r"[\(\[（【《<「『\"'“”‘’{]*+[^\S\n]*+"
_CLOSING = r"(?:\s*+[\)\]）】》>」』\"'“”‘’}]++)?+"
_AND = r"和|与|及|以及|还有|或者?|\band\b|\bor\b"
_BETWEEN = rf"\s*+(?:(?:[、,，;；/&+|]\s*+(?:{_AND})?|{_AND})\s*+)?"
_SO_MANY = "{0,25}"
_NO_WORD = r"(?![A-Za-z0-9]|\s?(?<=[aAiI]\s)[a-z]|(?<=[iI])['’])"
_LEAD = (
    r"[\s\]】》>）)\"'”’]*+(?:应该|应当|应|就|只|即|可能|分别|依次|确实)?\s*+"
    r"(?:选择|选|是|为|包括|有|\bis\b|\bare\b|[:：=→\-])*\s*+(?:选项|option)?\s*+[:：]?\s*+"
)


@lru_cache(maxsize=64)
def letter_patterns(letters: str) -> LetterPatterns:
    """The patterns for these option letters."""
    upper = f"[{letters}]"
    one = f"(?:{_OPENING}{upper}++{_CLOSING}(?:\\s*+选?项)?)"
    # A letter is no option inside a word (VAT, step), nor where it is an English word itself (a tax, I am, I'm).
    several = rf"(?<![A-Za-z0-9])(?!(?<=\s)\s){one}(?:{_BETWEEN}{one}){_SO_MANY}{_NO_WORD}"
    loose = re.compile
    ignore = re.IGNORECASE
    return LetterPatterns(
        whole=loose(rf"\s*+(?:选项?|option)?\s*+({several})\s*+[.。!！]?\s*+", ignore),
        strong=loose(
            rf"(?:答案|正确选项|最佳选项|正确的选项|正确项|(?:correct |final |best )?(?:answer|choice|option))"
            rf"(?!不|并不|并非){_LEAD}({several})",
            ignore,
        ),
        picked=loose(
            rf"(?<![不别勿未没])(?<!不应)(?<!不能)(?<!不可)(?<!不该)(?<!不要)(?<!不会)(?<!应当不)(?:选择|选定|勾选|选|而是|改为|改选|更正为|应为|应是|(?:认为|觉得|判断|推断)(?:应该|应当)?(?:是|为))(?!项|题|中|取)"
            rf"(?:的是|了|为|是|[:：])*\s*+(?:选项|答案)?\s*+({several})",
            ignore,
        ),
        described=loose(
            rf"((?:不?正确|错误|不?符合(?:题意|要求|规定)?|不?属于[^。;；\n:：]{{0,16}}|违法|不?合法|有误|不准确|不恰当)的?(?:选项|答案|说法|表述|一项|项|做法|情形|观点)?)"
            rf"(?:应该|应当|应)?(?:是|有|为|[:：])+[^\S\n]*+(?:选项)?[^\S\n]*+[:：]?[^\S\n]*+({several})",
            ignore,
        ),
        concluded=loose(
            rf"(?:综上|因此|所以|故|由此|总之|therefore|thus|hence)[^。\n]{{0,40}}?(?<![A-Za-z])({several})\s*+(?=$|[。.,，;；!！\n]|是?(?:正确|对|符合|当选|最)|\bis\b)",
            ignore,
        ),
        complement=loose(
            rf"(?:除了?|只有|仅有?|错误的(?:选项)?是|不正确的(?:选项)?是)\s*+(?:选项)?\s*+({several})\s*+(?:选?项)?\s*+"
            r"(?:(?:以外|之外|外)[^。\n]{0,12}(?:都|均|全|其余|其他|其它)|(?:是?(?:错误|错|不正确|不对|不符合)的?)?[,，;；]?\s*(?:其余|其他|其它))"
            r"[^。\n]{0,8}(?<!不)(?:正确|对|选|符合|是|可以)",
        ),
        rest_of=loose(
            rf"({several})\s*+(?:选?项)?\s*+(?:说法)?\s*+"
            r"(?P<wrong>(?:以外|之外)的?(?=[^。\n]{0,8}(?:都|均|全))|是?(?:错误|错|有误|不正确|不对|不符合[^。,，;；\n]{0,4})的?[,，;；]?\s*+(?:其余|其他|其它))"
            r"[^。\n]{0,8}(?<!不)(?:正确|对|选|符合|是|可以)",
        ),
        rejected_before=loose(
            rf"(?:不应?该?当?(?:选择?)|不能选择?|不可选|不要选|排除|剔除|错选|不是|并非|而非|除了?|不包括|不在于)\s*+(?:选项|了|掉)?\s*+({several})",
        ),
        verdict=loose(
            rf"(?<![A-Za-z0-9])({upper}(?:{_BETWEEN}{upper}){_SO_MANY})(?![A-Za-z0-9])(?P<gap>[^{letters}。;；\n]{{0,40}}?)"
            rf"(?P<word>不正确|不对|不符合|不当选|不选|不入选|不属于|不准确|不合题意|不成立|不恰当|错误|错|有误|应?排除|incorrect|wrong|false|正确|当选|入选|对(?=的|[了吗]?\s*(?:[,，;；。.!！、)）|]|$|\n|{upper}))|符合(?:题意|规定|要求)|成立|[√✓✔✅]|[×✗✘✕❌]|属于(?=\s*(?:[,，;；。]|$|\n))|correct|right|true)"
        ),
        head=loose(
            rf"(?:^|[\n;；。,，]|\s)\s*+{_OPENING}({upper})(?!(?<=I)(?:\s[a-z]|['’])){_CLOSING}\s*(?:[.、:：,，)）]|\s|$)"
        ),
        listed=loose(rf"[\n;；。,，、:：\s]\s*+{_OPENING}({upper}){_CLOSING}\s*(?:[.、:：)）]|\s|$)"),
        mention=loose(
            rf"(?<![A-Za-z0-9])({several})(?!\s?(?:公司|企业|股|级|类|市|省|国|产品|商品|栋|座|某|银行|地|县|区|方|单位|厂|集团))"
        ),
        letter=loose(upper, ignore),
    )
