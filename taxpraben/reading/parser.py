"""The model parser: asked only for what the rules leave, never shown gold, believed only where it quotes the answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal

from pydantic import JsonValue

from taxpraben.reading.amounts import Amount, amounts, plain_decimal
from taxpraben.reading.asked import Asked, Found, ReadResult
from taxpraben.reading.fields import find_fields
from taxpraben.reading.surface import narrow, squeezed

Ask = Callable[[str], str]
"""Sends one prompt and gives the reply's text; raises ``ParserUnavailableError`` where none comes."""

_ENDS = " \n。.，,；;！!\"'“”"
"""Marks that models put around a quotation; they prove nothing and are not checked."""

_COUNTS = {2: "两", 3: "三", 4: "四", 5: "五", 6: "六", 7: "七", 8: "八", 9: "九", 10: "十"}


class ParserUnavailableError(RuntimeError):
    """The model parser gave no reply; the reading becomes a ``reader_error``, never an unread answer."""


def parser_prompt(asked: Asked, text: str) -> str:
    """The prompt for the model parser: those of Table 3 for fields, one of the same kind for the other forms.

    It holds the answer and what it is to be read as (letters and their texts, names, unit); never the question or gold.
    """
    if asked.form == "fields":
        blank = "{" + ", ".join(f'"{field.name}": ' for field in asked.fields) + "}"
        words = [field.name for field in asked.fields if field.kind != "number"]
        if len(words) < len(asked.fields):
            figures = f"除{'、'.join(words)}外，其余字段都只返回数值" if words else "所有字段都只返回数值"
            return (
                "请你从模型输出中提取填空答案，若某一字段没有找到答案，则该字段留空，不要凭空生成答案，并严格按照以下格式输出："
                f"{blank}，{figures}，不要有任何符号和单位。模型输出如下：{text}。"
                "请只返回JSON对象，不要任何额外解释。"
            )
        count = _COUNTS.get(len(asked.fields), str(len(asked.fields)))
        return (
            "你会收到一段模型的输出内容， 为了精准地匹配，你需要做的是判断模型有没有提取出内容。如果有，"
            f"则从中提取模型输出的这{count}部分内容，如果模型本身就没有总结出来，你就留空，不需要替它总结，严格按照以下格式输出，"
            f"留空的也需要保持格式：{blank}。模型输出如下：{text}。请只返回JSON对象，不要任何额外解释。"
        )
    options = "".join(f"；{letter}：{text}" for letter, text in zip(asked.letters, asked.choices, strict=False) if text)
    what = {
        "single": f"所选的一个选项字母（{asked.letters} 之一{options}）",
        "set": f"所选的全部选项字母（{asked.letters} 之中，按字母顺序连写{options}）",
        "number": f"最终给出的数值{f'（单位：{asked.unit}）' if asked.unit else ''}",
        "span": "给出的答案原文",
        "text": "给出的答案",
    }[asked.form]
    return (
        f"你会收到一段模型的输出内容，请判断模型有没有给出答案。如果有，则提取{what}，并逐字摘录答案所在的原文；"
        '如果没有，就留空，不要替它作答。严格按照以下格式输出：{"答案": "", "原文": ""}。'
        f"模型输出如下：{text}。请只返回JSON对象，不要任何额外解释。"
    )


def parse_with_model(asked: Asked, text: str, ask: Ask) -> ReadResult:
    """Have the model read what the rules left, and check what it says against the answer.

    Returns:
        ``read`` with method ``model``; ``unread`` where the model finds no answer either; ``reader_error`` where it
        gives no reply, no object, a value that the form does not allow, or evidence that the answer does not hold.
    """
    try:
        reply = ask(parser_prompt(asked, text))
    except ParserUnavailableError as error:
        return ReadResult("reader_error", reason=f"the model parser gave no reply: {error}")
    found = _fields_of(reply, asked, text) if asked.form == "fields" else _value_of(reply, asked, text)
    if isinstance(found, str):
        return ReadResult("reader_error", reason=found)
    if found.value is None:
        return ReadResult("unread", reason="neither the rules nor the model parser found an answer")
    return ReadResult("read", found.value, method="model", evidence=found.evidence, flags=found.flags)


def _fields_of(reply: str, asked: Asked, text: str) -> Found | str:
    found = find_fields(reply, asked)
    if not isinstance(found.value, dict):
        return Found() if "empty" in found.reason else f"the model parser's reply holds no fields: {reply[:80]!r}"
    for field in asked.fields:
        value = found.value[field.name]
        if isinstance(value, str) and not _stands_in(value, field.kind == "number", text):
            return f"the model parser's value of {field.name} does not stand in the answer: {value[:60]!r}"
        if isinstance(value, str) and field.kind == "number" and len(figures := amounts(narrow(value))) == 1:
            found.value[field.name] = plain_decimal(_as_written(figures[0], text).in_unit(field.unit))
    return Found(found.value, evidence=text.strip(), flags=found.flags)


def _value_of(reply: str, asked: Asked, text: str) -> Found | str:
    start, end = reply.find("{"), reply.rfind("}")
    try:
        raw = json.loads(reply[start : end + 1])
        value, evidence = str(raw.get("答案") or "").strip(), str(raw.get("原文") or "").strip(_ENDS)
    except (ValueError, AttributeError):
        return f"the model parser's reply is no JSON object: {reply[:80]!r}"
    if not value:
        return Found()
    if not evidence or squeezed(evidence) not in squeezed(text):
        return f"the model parser's evidence does not stand in the answer: {evidence[:60]!r}"
    checked = _checked(value, asked, evidence)
    return checked if isinstance(checked, str) else Found(checked[0], evidence=evidence)


def _checked(value: str, asked: Asked, evidence: str) -> tuple[JsonValue] | str:
    if asked.form in ("single", "set"):
        letters = "".join(sorted(set(narrow(value).upper())))
        if not letters or set(letters) - set(asked.letters) or (asked.form == "single" and len(letters) != 1):
            return f"the model parser's value is no choice of {asked.letters}: {value[:40]!r}"
        return (letters,)
    if asked.form == "number":
        found = amounts(narrow(value))
        if len(found) != 1 or not _stands_in(value, True, evidence):
            return f"the model parser's number does not stand in its evidence: {value[:40]!r}"
        return (plain_decimal(_as_written(found[0], evidence).in_unit(asked.unit)),)
    return (
        (value,) if squeezed(value) in squeezed(evidence) else f"the model parser's text is not quoted: {value[:40]!r}"
    )


def _as_written(figure: Amount, text: str) -> Amount:
    """A bare figure with the unit that it has in the text: a model asked for figures alone leaves it out (1000万元)."""
    if figure.unit or figure.scale != 1:
        return figure
    there = [one for one in amounts(narrow(text)) if one.value / one.scale == figure.value]
    return there[0] if len({(one.value, one.unit) for one in there}) == 1 else figure


def _stands_in(value: str, is_number: bool, text: str) -> bool:
    if squeezed(value) in squeezed(text):
        return True
    if not is_number:
        return False
    wanted: set[Decimal] = {amount.value for amount in amounts(narrow(value))}
    there = {figure for amount in amounts(narrow(text)) for figure in (amount.value, amount.in_unit(""))}
    return bool(wanted) and wanted <= there
