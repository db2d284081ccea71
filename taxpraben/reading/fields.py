"""A structured answer: the values of its fields from JSON, broken JSON, labelled lines or labelled prose."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Any

from pydantic import JsonValue

from taxpraben.reading.amounts import plain_decimal
from taxpraben.reading.asked import Asked, Found
from taxpraben.reading.numbers import STRICT, find_number
from taxpraben.reading.objects import find_labelled, find_objects
from taxpraben.reading.surface import narrow, squeezed
from taxpraben.records.field import Field

_QUOTE = r"[\"'“”‘’「」『』＂＇`*]"
_KEY_AHEAD = re.compile(rf"[,，;；\n]\s*{_QUOTE}[^\"“”\n:：{{}}]{{1,24}}{_QUOTE}\s*[:：]")
_NULLS = {"", "null", "none", "nan", "无", "n/a", "xxx", "未提及", "...", "…"}
_NUMBER = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_HEADING = r"(?:^|(?<=[\n,，;；。！!{:：\s\"'“‘（(\[【*#-]))"
_NEXT_NUMBER = re.compile(
    rf"[。；;]?\s*(?:\n\s*[-•·#]+|(?:\n\s*|(?<=[；;。]))(?:{_NUMBER}\s*[.、)）]|[（(]{_NUMBER}[)）])"
    r"|\d{1,2}\s*[.、)）]|[（(]\d{1,2}[)）])\s*$"
)
"""The bullet or number of the next field, left at the end of a value."""


@dataclass(frozen=True)
class _Value:
    written: str
    start: int
    end: int


def read_strict(text: str, asked: Asked) -> dict[str, JsonValue] | None:
    """The fields where the whole answer is in an asked form: a JSON object, or lines of ``name：value`` and no more.

    Values that are not in their kind's form (a number with its unit, a charge that is not on the list) are None.
    None where the answer as a whole is in neither form.
    """
    stripped = text.strip()
    named = _names(asked.fields)
    raw: dict[str, Any] = {}
    try:
        loaded = json.loads(stripped, parse_float=str, parse_int=str)
    except (ValueError, RecursionError):
        raw = _strict_lines(stripped, named)
    else:
        if not isinstance(loaded, dict) or any(key not in named for key in loaded):
            return None
        raw = {named[key].name: value for key, value in loaded.items()}
    if not raw:
        return None
    return {field.name: _strict_value(raw.get(field.name), field) for field in asked.fields}


def find_fields(text: str, asked: Asked) -> Found:
    """Read the values of the asked fields, by name or alias; other keys are dropped, an absent field is None.

    A whole JSON object first, next one inside the text, next a Python literal, last a walk from field name to field
    name, which needs no valid syntax. What needed mending is flagged ``json_repaired``, a cut one ``truncated``.
    """
    for loaded, repaired in find_objects(text):
        raw = _search(loaded, asked.fields)
        if raw:
            flags = [repaired] if repaired else []
            if any(isinstance(value, list) for value in raw.values()):
                flags.append("listed")
            values = {name: _joined(value) for name, value in raw.items()}
            return _read(values, asked, text, flags, _object_evidence(text))
    for labelled in find_labelled(text, _names(asked.fields)):
        raw = _search(labelled, asked.fields)
        if raw:
            return _read(raw, asked, text, ["labelled"], text.strip())
    braces = any(sign in narrow(text) for sign in "{}")
    flags = ["json_repaired"] if braces else ["labelled"]
    if braces and not _closed(text):
        flags.append("truncated")
    walked = _walk(text, asked.fields)
    if not walked and "truncated" in flags and _marks(narrow(text), asked.fields):
        return Found(reason="cut before any field had a value", flags=("truncated",))
    if not walked:
        return Found(reason="no field name and no object in the answer")
    start = min(value.start for value in walked.values())
    end = max(value.end for value in walked.values())
    return _read({name: value.written for name, value in walked.items()}, asked, text, flags, text[start:end].strip())


def _names(fields: tuple[Field, ...]) -> dict[str, Field]:
    named = {alias: field for field in reversed(fields) for alias in field.aliases}
    return {**named, **{field.name: field for field in fields}}


def _strict_lines(text: str, named: dict[str, Field]) -> dict[str, Any]:
    raw: dict[str, Any] = {}
    current = ""
    for line in text.split("\n"):
        name, mark, value = line.strip().partition("：") if "：" in line else line.strip().partition(":")
        if mark and name.strip() in named:
            current = named[name.strip()].name
            raw[current] = value.strip()
        elif current and line.strip():
            raw[current] = f"{raw[current]}\n{line.strip()}".strip()
        elif line.strip():
            return {}
    return raw


def _strict_value(value: object, field: Field) -> JsonValue:
    if not isinstance(value, str) or not value.strip():
        return None
    value = value.strip()
    if field.kind == "number":
        return plain_decimal(Decimal(value)) if STRICT.fullmatch(value) else None
    if field.kind == "label" and field.labels:
        return value if value in field.labels else None
    return value


def _read(raw: dict[str, str | None], asked: Asked, text: str, flags: list[str], evidence: str) -> Found:
    values: dict[str, JsonValue] = {}
    for field in asked.fields:
        value, more = _of_kind(raw.get(field.name), field)
        values[field.name] = value
        flags.extend(flag for flag in more if flag not in flags)
    if all(value is None for value in values.values()):
        return Found(reason="every field is empty", flags=tuple(flags))
    return Found(value=values, evidence=evidence if evidence in text else "", flags=tuple(flags))


def _of_kind(written: str | None, field: Field) -> tuple[str | None, tuple[str, ...]]:
    if written is None or squeezed(written) in _NULLS:
        return None, ()
    written = written.strip()
    if field.kind == "number":
        found = find_number(written, Asked(form="number", unit=field.unit, question=""))
        if found.value is None:
            return None, (f"no_number:{field.name}",)
        return str(found.value), found.flags
    if field.kind == "label" and field.labels:
        return _label(written, field.labels)
    return written, ()


def _label(written: str, labels: list[str]) -> tuple[str | None, tuple[str, ...]]:
    tight = squeezed(written).strip("。.,，;；")
    inside = [label for label in labels if squeezed(label) in tight]
    inside = [label for label in inside if not any(label != other and label in other for other in inside)]
    if len(inside) == 1:
        return inside[0], ()
    short = [label for label in labels if tight and squeezed(label).removesuffix("罪") == tight.removesuffix("罪")]
    if len(short) == 1:
        return short[0], ()
    return written, ("several_labels",) if inside else ("label_unknown",)


def _search(loaded: Any, fields: tuple[Field, ...]) -> dict[str, Any]:
    """Values of the fields in an object and the objects inside it; the outermost and first one of a name holds."""
    named = {squeezed(name): field for name, field in _names(fields).items()}
    raw: dict[str, Any] = {}
    level: list[Any] = [loaded]
    while level and len(raw) < len(fields):
        inner: list[Any] = []
        for node in level:
            if isinstance(node, dict):
                pair = _pair(node, named)
                if pair:
                    raw.setdefault(*pair)
                    continue
                for key, value in node.items():
                    field = named.get(squeezed(str(key)))
                    if field is not None and field.name not in raw:
                        raw[field.name] = value
                    elif field is None:
                        inner.append(value)
            elif isinstance(node, list):
                inner.extend(node)
        level = inner
    return raw


def _pair(node: dict[str, Any], named: dict[str, Field]) -> tuple[str, Any] | None:
    """The field and value of an object that holds nothing but both ({"字段": name, "内容": value})."""
    if len(node) != 2 or any(squeezed(str(key)) in named for key in node):
        return None
    first, second = node.values()
    field = named.get(squeezed(first)) if isinstance(first, str) else None
    return (field.name, second) if field else None


def _joined(value: Any) -> str | None:
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, list):
        return "；".join(part for part in (_joined(each) for each in value) if part) or None
    if isinstance(value, dict):
        return "；".join(f"{key}：{part}" for key, each in value.items() if (part := _joined(each))) or None
    return str(value)


def _object_evidence(text: str) -> str:
    start, end = text.find("{"), text.rfind("}")
    return text[start : end + 1] if 0 <= start < end else text.strip()


def _walk(text: str, fields: tuple[Field, ...]) -> dict[str, _Value]:
    """Values between one field name and the next; the last naming of a field that has a value holds."""
    marks = _marks(narrow(text), fields)
    found: dict[str, _Value] = {}
    for place, (_start, end, name) in enumerate(marks):
        stop = marks[place + 1][0] if place + 1 < len(marks) else len(text)
        stop = _value_stop(text, end, stop)
        written = _unwrapped(text[end:stop])
        if written is not None and (name not in found or name not in {mark[2] for mark in marks[:place]}):
            found[name] = _Value(written, end, stop)
    return found


def _marks(text: str, fields: tuple[Field, ...]) -> list[tuple[int, int, str]]:
    named = _names(fields)
    if not named:
        return []
    for pattern in _mark_patterns(tuple(sorted(named, key=len, reverse=True))):
        found = [
            (match.start(), match.end(), named[match[match.lastgroup or 0]].name) for match in pattern.finditer(text)
        ]
        if found:
            return found
    return []


@lru_cache(maxsize=256)
def _mark_patterns(names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Where a value begins: behind a name with a colon, in brackets or as a heading; else behind ``name是``."""
    either = "|".join(map(re.escape, names))
    opening = rf"{_HEADING}(?:{_NUMBER}\s*+[.、)）]\s*+|[（(]{_NUMBER}[)）]\s*+)?"
    boxed = rf"[【\[]\s*+(?P<boxed>{either})\s*+[】\]]\s*+[:：]?"
    blank = r"[^\S\n]*+"
    named = rf"{_QUOTE}*\s*+(?P<name>{either}){blank}{_QUOTE}*{blank}(?:[】\])）]{blank})?(?:[:：=]|\n(?=\s*\S))"
    said = rf"(?<![不非])(?P<said>{either})(?:应当|应|主要)?(?:是|为|在于|包括)\s*+[:：]?"
    return re.compile(rf"{opening}(?:{boxed}|{named})"), re.compile(said)


def _value_stop(text: str, start: int, stop: int) -> int:
    other = _KEY_AHEAD.search(text, start, stop)
    if other:
        stop = other.start()
    brace = re.search(r"[\"'”’\d]?\s*[}｝]", text[start:stop])
    if brace:
        stop = start + brace.end()
    blank = re.search(r"\n\s*\n", text[start:stop].rstrip())
    if blank and text[start : start + blank.start()].strip():
        stop = start + blank.start()
    return stop


def _unwrapped(written: str) -> str | None:
    value = written.strip().rstrip("}｝`").strip().strip("*").strip()
    value = value.rstrip(",，;；、").strip()
    value = _NEXT_NUMBER.sub(lambda mark: mark.group()[:1] if mark.group()[:1] in "。；;" else "", value)
    for opening, closing in (('"', '"'), ("'", "'"), ("“", "”"), ("‘", "’"), ("＂", "＂"), ("「", "」")):
        if value.startswith(opening):
            inner = value[len(opening) :]
            if inner.endswith(closing):
                value = inner[: -len(closing)]
            elif closing not in inner:
                value = inner
            break
        if value.endswith(closing) and value.count(closing) % 2 == 1 and opening == closing:
            value = value[: -len(closing)]
    value = value.strip()
    return None if squeezed(value) in _NULLS else value


def _closed(text: str) -> bool:
    plain = narrow(text)
    return plain.count("{") <= plain.count("}")
