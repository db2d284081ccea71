"""Casebooks of tax planning: scenario, before, plan, conclusion of each case."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic import JsonValue

from stages.ingest.exam_text import narrow
from stages.ingest.layout import Line, join_wrapped
from stages.ingest.outcome import Harvest, Place, new_document
from taxpraben.records.document import DocumentPart
from taxpraben.text.normalise import normalise
from taxpraben.text.numerals import NUMERAL, parse_chinese_number

_CASE = re.compile(rf"[【\[]?\s*(?:筹划)?案例\s*([{NUMERAL}\d]+)\s*[】\]]?\s*[:：、.．]?\s*(.*)")
_HEADS = {
    "scenario": ("情景", "案例背景", "背景资料", "背景", "基本情况", "案情", "案例情况", "资料", "案例概况"),
    "before": ("筹划前", "原方案", "筹划前分析", "筹划前税负", "原税负"),
    "plan": ("筹划方案", "筹划思路", "筹划过程", "筹划分析", "筹划后", "方案", "税收筹划"),
    "conclusion": ("结论", "筹划结果", "筹划结论", "筹划效果", "节税效果", "点评", "案例点评", "提示"),
}
_NAMES = {head: role for role, heads in _HEADS.items() for head in heads}
_ANY = "|".join(sorted(_NAMES, key=len, reverse=True))
_HEAD = re.compile(
    rf"(?:【\s*({_ANY})\s*】|(?:[一二三四五六]、|[（(][一二三四五六][)）])?\s*({_ANY})\s*(?:[:：]|$))\s*"
)


def read_casebook(place: Place, title: str, lines: Sequence[Line]) -> Harvest:
    """A casebook as one document of kind ``casebook``, a part of kind ``case`` for each case (label 案例1 …).

    A case's data has ``title``, ``scenario``, ``before``, ``plan``, ``conclusion``; heads of several namings are known
    (情景, 案例背景; 筹划前; 筹划方案, 筹划思路; 结论, 点评). ``figures`` are the amounts behind the scenario, in order:
    ``role``, ``value``, ``unit`` and the ``clause`` in which each stands. ``normalised`` is the text in one width. A
    case without scenario or plan stays a part and says so in ``fault``: people review it.
    """
    harvest = Harvest()
    parts: list[DocumentPart] = []
    for number, heading, page, printed in _cases(lines):
        roles = {"title": heading, "scenario": "", "before": "", "plan": "", "conclusion": ""}
        role = ""
        for line in printed:
            if match := _HEAD.match(line):
                role = _NAMES[match.group(1) or match.group(2)]
                line = line[match.end() :]
            if role:
                roles[role] = join_wrapped(roles[role], line.strip())
            else:
                roles["title"] = join_wrapped(roles["title"], line.strip())
        text = "\n".join(printed)
        data: dict[str, JsonValue] = {**roles, "normalised": normalise(text)}
        data["figures"] = [
            figure for name in ("before", "plan", "conclusion") for figure in _figures(name, roles[name])
        ]
        if missing := [name for name in ("scenario", "plan") if not roles[name]]:
            data["fault"] = f"the case has no {' and no '.join(missing)}; heads known: {', '.join(_NAMES)}"
        parts.append(DocumentPart(kind="case", label=f"案例{number}", text=text, page=page, data=data))
    if not parts:
        harvest.set_aside(place, "document", "no case found", "check that the book is a casebook")
        return harvest
    flags = ["ocr"] if any(line.scanned for line in lines) else []
    text = "\n".join(line.text for line in lines)
    harvest.documents.append(new_document(place, "casebook", title, text, parts, flags=flags))
    harvest.notes["cases that lack a part, for review"] += sum("fault" in part.data for part in parts)
    return harvest


_FIGURE = re.compile(r"(?<![\d.])(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?\s*(亿元|万元|元|%|‰)")


def _figures(role: str, text: str) -> list[JsonValue]:
    plain = narrow(text)
    out: list[JsonValue] = []
    for match in _FIGURE.finditer(plain):
        start = max(plain.rfind(mark, 0, match.start()) for mark in "。;!?,") + 1
        value = match.group(1).replace(",", "") + (match.group(2) or "")
        clause = text[start : match.end()].strip()
        out.append({"role": role, "value": value, "unit": match.group(3), "clause": clause})
    return out


def _cases(lines: Sequence[Line]) -> list[tuple[int, str, int, list[str]]]:
    """Number, heading, page and lines of each case; a contents list (headings without text) gives none."""
    found: list[tuple[int, str, int, list[str]]] = []
    for line in lines:
        match = _CASE.match(line.text)
        number = parse_chinese_number(match.group(1)) if match else None
        if match and number is not None and len(line.text) <= 60:
            found.append((number, match.group(2).strip(), line.page, []))
        elif found:
            found[-1][3].append(line.text)
    heads = [case for case in found if any(_HEAD.match(text) for text in case[3])]
    # A heading of the contents list is said again by the case itself.
    named = {case[0] for case in heads}
    return heads + [case for case in found if case[0] not in named and case[3]]
