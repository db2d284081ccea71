"""A number answer: which of the amounts in a text is the one that was asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence

from taxpraben.reading.amounts import Amount, amounts, counted, is_money, plain_decimal
from taxpraben.reading.asked import Asked, Found
from taxpraben.reading.surface import narrow, run_on_start, tagged, undecorated, without_instruction

STRICT = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?")
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{[^{}]*\})*)\}?")
_SUM_TAG = re.compile(r"[\[【<](?:最终)?(?:金额|结果)[\]】>]\s*+[:：]?\s*+(.*?)(?=<|\n|$|[\[【])", re.DOTALL)
_MARKED = re.compile(
    r"(?:而是|更正为|改正为|修正为|纠正为|改为)\s*+|(?:答案|最终结果|计算结果|结果|(?:final )?answer)"
    r"\s*+(?:应该|应当|应|就|即)?\s*+(?:是|为|等于|is|[:：=≈])+\s*",
    re.IGNORECASE,
)
_TOTAL = re.compile(
    r"(?:共计|合计|总计|总额|总金额|总共|一共|累计|总和|总价|\btotal)[^。;；,，\n分每+＋=]{0,24}$", re.IGNORECASE
)
_CONCLUSION = re.compile(
    r"因此|所以|综上|故|最终|可得|由此|总之|则|即|therefore|\bso\b|\bhence\b|\bthus\b", re.IGNORECASE
)
_LINKED = re.compile(r"(?:为|是|等于|[=:：≈]|计|缴纳|交纳|缴|得|\bis)\s*(?:人民币|大约|约)?\s*$", re.IGNORECASE)
_NOT_AMOUNT_AFTER = re.compile(r"\s?(?:年|月|日|号|条|款|项|章|节|届|批|期|时|点\d|题|步|种|类|档|级|[-/]\d)")
_NOT_AMOUNT_BEFORE = re.compile(
    r"(?:第|业务\s*[\(（]?|步骤\s*|方案\s*|情况\s*|资料\s*|问题\s*|表\s*|[\[〔【(（]|\d[-/.]|[A-Za-z_])$"
)
_APPROXIMATE = re.compile(r"\s?(?:多|余|左右|上下|以上|以下|以内)")
_BOUND_BEFORE = re.compile(
    r"(?:不超过|不高于|不低于|不少于|至少|至多|最多|超过|高于|低于|大于|小于|不足|不是|并非|而非)\s*(?:人民币)?\s*$"
)
_RANGE = re.compile(r"\s*(?:-|~|—|–|至|到)\s*$")
_PENALTY = re.compile(r"(?:罚金|罚款|滞纳金|赔偿金)[^。,，;；\n]{0,8}$")
_OPERATOR_AFTER = re.compile(r"\s*[)）]?\s*[+×xX*÷/^](?!\w*税)|\s*-\s*\d")
_OPERATOR_BEFORE = re.compile(r"[+×*÷/^]\s*[(（]?\s*$")
_ORDINAL = re.compile(r"(?:^|\n)\s*+[(（]?$")
_ORDINAL_AFTER = re.compile(r"\s?[.、)）:：](?!\d)")
_RANGE_AFTER = re.compile(r"\s?(?:~|—|–|至|到|-)\s?\d")
_RESULT = re.compile(r"[=≈]\s*(?:人民币)?\s*$")
_LOOK_BACK = 60
_SENTENCE_END = re.compile(r"[。;；\n]")
_UNIT_OF_QUESTION = re.compile(
    r"(?:x{2,}|_{2,}|多少|[(（]\s*|单位\s*[:：]\s*(?:人民币)?)\s*(亿元|万元|元|%|％)", re.IGNORECASE
)


def unit_of_question(question: str) -> str:
    """The unit that a question names where its figure goes (xx万元, 多少元, 单位：万元), or empty."""
    units = {narrow(unit) for unit in _UNIT_OF_QUESTION.findall(question)}
    return units.pop() if len(units) == 1 else ""


def find_number(text: str, asked: Asked) -> Found:
    """Read the number that an answer gives, as decimal text in the asked unit.

    In order: boxed, tagged and marked answers, the whole text, the result of a sum, a total, the only candidate,
    the only candidate of a concluding sentence. Years, article and item numbers, operands, rates where money is asked
    for, and figures that only restate the question are no candidates. Several candidates stay unread.
    """
    plain = without_instruction(undecorated(narrow(text)))
    unit = asked.unit or unit_of_question(asked.question)
    for boxed in reversed(list(_BOXED.finditer(narrow(text)))):
        inside = _stated(undecorated(boxed[1]), unit)
        if inside is not None:
            return _found(text, *boxed.span(), inside, unit)
    tag = next((tag for tag in tagged(plain, asked.prompt) if tag[1] is not None), None) or _SUM_TAG.search(plain)
    if tag:
        plain = plain[: run_on_start(plain, tag.start(1))]
        inside = _stated(tag[1], unit)
        if inside is not None:
            return _found(text, *tag.span(), inside, unit)
    marks = list(_MARKED.finditer(plain))
    if marks:
        plain = plain[: run_on_start(plain, marks[0].end())]
        for mark in reversed([mark for mark in marks if mark.end() <= len(plain)]):
            sentence = _SENTENCE_END.split(plain[mark.end() :], maxsplit=1)[0]
            inside = _stated(sentence, unit)
            if inside is not None:
                return _found(text, mark.start(), mark.end() + len(sentence), inside, unit)
    return _unmarked(plain[: run_on_start(plain, len(plain) - len(plain.lstrip()))], text, asked, unit)


def _unmarked(plain: str, text: str, asked: Asked, unit: str) -> Found:
    candidates = _candidates(plain, unit, asked.question)
    if not candidates:
        return Found(reason="no number that could be the answer", settled=not _may_hold_a_number(plain))
    results = [amount for amount in candidates if _RESULT.search(_before(plain, amount))]
    totals = [amount for amount in candidates if _TOTAL.search(_before(plain, amount))]
    last_sentence = _last_concluding(plain)
    concluding = [amount for amount in candidates if last_sentence <= amount.start] if last_sentence >= 0 else []
    linked = [amount for amount in concluding if _LINKED.search(_before(plain, amount))]
    for group in (candidates, linked, concluding):
        if len({amount.in_unit(unit) for amount in group}) == 1:
            return _chosen(plain, text, group[-1], unit)
    if totals:
        largest = max(totals, key=lambda amount: amount.in_unit(unit))
        if largest.in_unit(unit) in (totals[0].in_unit(unit), totals[-1].in_unit(unit)):
            return _chosen(plain, text, largest, unit)
    if results and not concluding:
        return _chosen(plain, text, results[-1], unit)
    fresh = _not_restated(candidates, asked.question)
    if len({amount.in_unit(unit) for amount in fresh}) == 1:
        return _chosen(plain, text, fresh[-1], unit)
    shown = "、".join(dict.fromkeys(plain_decimal(amount.in_unit(unit)) for amount in candidates[:4]))
    return Found(reason=f"several candidates: {shown}")


def _before(plain: str, amount: Amount) -> str:
    """What stands right before an amount: enough for every pattern that looks back, and quick in a long text."""
    if amount.start <= _LOOK_BACK:
        return plain[: amount.start]
    return "\0" + plain[amount.start - _LOOK_BACK : amount.start]


def _candidates(plain: str, unit: str, question: str) -> list[Amount]:
    if unit and unit != "%" and not is_money(unit) and (named := counted(plain, unit)):
        return _definite(named, plain)
    every = amounts(plain)
    units = {amount.unit for amount in every}
    kept: list[Amount] = []
    for amount in every:
        before, end = _before(plain, amount), amount.end
        bare = not amount.unit and amount.scale == 1
        if amount.chinese and bare and (before.strip() or plain[end:].strip(" 。.")):
            continue
        if bare and (_NOT_AMOUNT_AFTER.match(plain, end) or _NOT_AMOUNT_BEFORE.search(before)):
            continue
        if bare and _ORDINAL.search(before) and _ORDINAL_AFTER.match(plain, end) and plain[end + 1 :].strip():
            continue
        if not _fits(amount, unit, units) or _APPROXIMATE.match(plain, end):
            continue
        if _OPERATOR_AFTER.match(plain, end) or _OPERATOR_BEFORE.search(before):
            continue
        if _BOUND_BEFORE.search(before) or _RANGE.search(before) or _RANGE_AFTER.match(plain, end):
            continue
        penalty = _PENALTY.search(before)
        if penalty and question and penalty.group()[:2] not in question:
            continue
        kept.append(amount)
    return kept


def _definite(found: Sequence[Amount], plain: str) -> list[Amount]:
    return [
        amount
        for amount in found
        if not _APPROXIMATE.match(plain, amount.end)
        and not _RANGE.search(_before(plain, amount))
        and not _RANGE_AFTER.match(plain, amount.end)
    ]


def _fits(amount: Amount, unit: str, units: set[str]) -> bool:
    """Whether an amount can be in the asked unit, among others of a text in these units."""
    if unit == "%":
        return amount.unit == "%" or (amount.unit == "" and "%" not in units)
    if is_money(unit):
        if amount.unit == "%":
            return False
        return amount.unit == "元" or amount.scale != 1 or "元" not in units
    if amount.unit == "%":
        return units == {"%"}
    return True


def _stated(content: str, unit: str) -> Amount | None:
    if unit and unit != "%" and not is_money(unit) and (named := counted(content, unit)):
        named = _definite(named, content)
        return named[0] if len({amount.value for amount in named}) == 1 else None
    every = [amount for amount in amounts(content) if not _NOT_AMOUNT_AFTER.match(content, amount.end)]
    every = [amount for amount in every if not _APPROXIMATE.match(content, amount.end)] if len(every) > 1 else every
    units = {amount.unit for amount in every}
    fitting = [amount for amount in every if _fits(amount, unit, units)]
    if not fitting or _APPROXIMATE.match(content, fitting[0].end):
        return None
    after_equals = [amount for amount in fitting if _RESULT.search(_before(content, amount))]
    if after_equals:
        return after_equals[-1]
    if len(fitting) > 1 and _RANGE.search(_before(content, fitting[1])):
        return None
    linked = [amount for amount in fitting if _LINKED.search(_before(content, amount))]
    return (linked or fitting)[0]


def _not_restated(candidates: Sequence[Amount], question: str) -> list[Amount]:
    if not question:
        return list(candidates)
    known = {(amount.value, amount.unit) for amount in amounts(narrow(question))}
    return [amount for amount in candidates if (amount.value, amount.unit) not in known]


def _may_hold_a_number(plain: str) -> bool:
    """Whether a person might take an answer from the figures that are no candidates: a sum of money, a range, 余."""
    return any(
        amount.unit
        or amount.scale != 1
        or _APPROXIMATE.match(plain, amount.end)
        or _RANGE_AFTER.match(plain, amount.end)
        for amount in amounts(plain)
    )


def _last_concluding(plain: str) -> int:
    position = -1
    for sentence in re.finditer(r"[^。\n]+", plain):
        mark = _CONCLUSION.search(sentence.group())
        if mark:
            position = sentence.start() + mark.start()
    return position


def _chosen(plain: str, text: str, amount: Amount, unit: str) -> Found:
    start = max(plain.rfind(mark, 0, amount.start) for mark in "。\n;；") + 1
    stop = _SENTENCE_END.search(plain, amount.end)
    return _found(text, start, stop.start() if stop else len(plain), amount, unit)


def _found(text: str, start: int, end: int, amount: Amount, unit: str) -> Found:
    value = amount.in_unit(unit)
    flags = ("unit_converted",) if unit and value != amount.value / amount.scale else ()
    return Found(value=plain_decimal(value), evidence=text[start:end].strip(), flags=flags)
