"""How fast answers are read on one core: `.venv/bin/python benchmarks/reading.py [--answers 20000] [--file IN.jsonl]`.

Without a file, answers are made by seed from forms of speech that models use, each with the value that it states; with
one, its rows (as for `taxpraben read`) are read. Prints a Markdown table, and ends with status 1 where a value is not
the stated one, or where a second pass reads otherwise.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from taxpraben.reading import Asked, ReadResult, read_asked
from taxpraben.reading.rows import BadRow, iter_rows
from taxpraben.records.field import Field

Row = tuple[Asked, str, object]
UNKNOWN = object()

REASONS = [
    "根据增值税的一般规定，纳税人兼营不同税率的项目应当分别核算，未分别核算的从高适用税率。",
    "该企业为一般纳税人，取得的进项税额已经认证，可以在当期抵扣；用于集体福利的部分须作转出处理。",
    "题目给出的业务发生在本年度内，应当按照权责发生制确认收入，并在次年汇算清缴时调整。",
    "考虑到合同约定分期收款，纳税义务发生时间为合同约定的收款日期，而不是发货当天。",
]
OPTIONS = ("免征增值税", "减按百分之三征收", "适用百分之六的税率", "不属于征税范围", "由扣缴义务人代扣代缴")
FIELDS = (
    Field(name="面临的风险", kind="text", aliases=["风险"]),
    Field(name="解决措施", kind="text", aliases=["措施"]),
    Field(name="补税金额", kind="number", unit="万元"),
)
SINGLE = [
    "{x}", "答案：{x}", "**答案：** {x}", "[正确答案]{x}<eoa>", "\\boxed{{{x}}}", "{r}因此，答案是（{x}）。",
    "我认为应选{x}。{r}", "[正确答案]{x}<eoa>\n请你回答：\n{r}哪一项正确？\n[正确答案]{y}<eoa>",
    "<think>先看{y}，{r}</think>\n\n{x}", "不选{y}，应选{x}", "{x}. {t}", "正确选项是 {l}", "{r}\n\n综上，选{x}",
]  # fmt: skip
SET = [
    "{s}",
    "答案：{d}",
    "选择{d}",
    "正确的有：{d}。{r}",
    "\\boxed{{{s}}}",
    "{v}",
    "{r}故本题选{s}。",
    "【答案】{d}【解析】{r}",
]
NUMBER = [
    "{n}", "应纳税额为{n}万元", "答案：{n}万元", "\\boxed{{{n}}}", "{r}应纳税额＝{a}－{b}＝{n}（万元）",
    "2027年应缴纳税款共计{n}万元。",
    "根据该法第二十八条，{r}因此应补缴税款{n}万元。", "{m}元",
]  # fmt: skip
SPAN = ["{p}", "答案：{p}。", "根据上述材料，“{p}”", "{p}\n\n解析：{r}"]
OBJECT = [
    "{r}\n{j}",
    "{j}",
    "```json\n{j}\n```",
    "结果如下：{j}希望有帮助。",
    "{q}",
    "面临的风险：{f}\n解决措施：{g}\n补税金额：{n}万元",
    "{c}",
]


def make_rows(count: int, seed: int) -> list[Row]:
    """So many answers of the five forms in turn, with what they state."""
    rng = random.Random(seed)
    makers: list[Callable[[random.Random], Row]] = [_single, _set, _number, _span, _fields]
    return [makers[number % len(makers)](rng) for number in range(count)]


def _reason(rng: random.Random) -> str:
    return "".join(rng.choice(REASONS) for _ in range(rng.choice((1, 2, 4, 8, 24, 60))))


def _single(rng: random.Random) -> Row:
    letter, other = rng.sample("ABCD", 2)
    text = OPTIONS["ABCD".index(letter)]
    said = rng.choice(SINGLE).format(x=letter, y=other, l=letter.lower(), t=text, r=_reason(rng))
    return Asked("single", "ABCD", OPTIONS[:4], prompt="请选出正确的选项。"), said, letter


def _set(rng: random.Random) -> Row:
    letters = "".join(sorted(rng.sample("ABCDE", rng.choice((2, 3)))))
    verdicts = "；".join(f"{letter}{'正确' if letter in letters else '错误'}" for letter in "ABCDE")
    said = rng.choice(SET).format(s=letters, d="、".join(letters), v=verdicts, r=_reason(rng))
    return Asked("set", "ABCDE", OPTIONS, prompt="请选出所有正确的选项。"), said, letters


def _number(rng: random.Random) -> Row:
    value, cost = rng.randint(10, 9_000), rng.randint(1, 900)
    said = rng.choice(NUMBER).format(n=value, a=value + cost, b=cost, m=f"{value * 10_000:,}", r=_reason(rng))
    return Asked("number", unit="万元"), said, str(value)


def _span(rng: random.Random) -> Row:
    copied = f"应当自结算之日起{rng.randint(2, 90)}日内向主管税务机关办理"
    passage = f"文本：{_reason(rng)}{copied}，逾期不再受理。问题：何时办理？"
    return Asked("span", question=passage, prompt=passage), rng.choice(SPAN).format(p=copied, r=_reason(rng)), copied


def _fields(rng: random.Random) -> Row:
    risk, remedy, sum_ = f"第{rng.randint(1, 99)}笔收入未入账", "补记收入并更正申报", rng.randint(1, 500)
    value = {"面临的风险": risk, "解决措施": remedy, "补税金额": str(sum_)}
    sound = json.dumps({**value, "补税金额": sum_}, ensure_ascii=False)
    curly = f"｛“风险”：“{risk}”，“措施”：“{remedy}”，“补税金额”：“{sum_}万元”｝"
    said = (
        rng.choice(OBJECT).replace("{j}", sound).replace("{q}", repr({**value, "补税金额": sum_})).replace("{c}", curly)
    )
    said = said.replace("{r}", _reason(rng)).replace("{f}", risk).replace("{g}", remedy).replace("{n}", str(sum_))
    return Asked("fields", fields=FIELDS), said, value


def load_rows(path: Path) -> list[Row]:
    """The good rows of a file; what they state is not known."""
    return [(row.asked, row.text, UNKNOWN) for row in iter_rows(path) if not isinstance(row, BadRow)]


def measure(rows: list[Row], passes: int) -> tuple[float, list[ReadResult]]:
    """CPU seconds of the quickest pass, and its readings; SystemExit where two passes differ."""
    best, kept = float("inf"), None
    for _ in range(passes):
        begun = time.process_time()
        results = [read_asked(asked, text) for asked, text, _ in rows]
        best = min(best, time.process_time() - begun)
        if kept is not None and results != kept:
            sys.exit("two passes over the same answers read differently")
        kept = results
    return best, kept or []


def main() -> None:
    """Read, check, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--answers", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--passes", type=int, default=3)
    parser.add_argument("--file", type=Path, help="rows as for `taxpraben read` instead of made ones")
    options = parser.parse_args()
    rows = load_rows(options.file) if options.file else make_rows(options.answers, options.seed)
    print("| form | answers | mean characters | answers a second, one core | left to the model parser |")
    print("|---|---:|---:|---:|---:|")
    wrong: list[str] = []
    seconds = 0.0
    for form in [*dict.fromkeys(asked.form for asked, _, _ in rows)]:
        chosen = [row for row in rows if row[0].form == form]
        spent, results = measure(chosen, options.passes)
        seconds += spent
        wrong += [
            f"{text!r} states {stated}, read as {result.value} ({result.reason})"
            for (_, text, stated), result in zip(chosen, results, strict=True)
            if stated is not UNKNOWN and stated != result.value
        ]
        print(_line(form, chosen, spent))
    print(_line("all", rows, seconds))
    if wrong:
        sys.exit(f"{len(wrong)} of {len(rows)} values are not the stated ones, for example\n" + "\n".join(wrong[:5]))
    if not options.file:
        print(f"\nAll {len(rows)} values are the stated ones, in {options.passes} equal passes.")


def _line(form: str, rows: list[Row], seconds: float) -> str:
    left = 0

    def ask(_: str) -> str:
        nonlocal left
        left += 1
        return ""

    for asked, text, _ in rows:
        read_asked(asked, text, ask=ask)
    mean = statistics.mean(len(text) for _, text, _ in rows)
    return f"| {form} | {len(rows):,} | {mean:.0f} | {len(rows) / seconds:,.0f} | {left / len(rows):.1%} |"


if __name__ == "__main__":
    main()
