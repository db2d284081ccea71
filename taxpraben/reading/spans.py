"""A span: words copied from a passage, without the sentence that introduces them."""

from __future__ import annotations

import re

from taxpraben.reading.asked import Asked, Found
from taxpraben.reading.surface import asked_tags, run_on_start, squeezed, tagged, without_instruction

_LEAD_IN = re.compile(
    r"^\s*(?:[\[【](?:正确)?答案[\]】]|(?:正确|最终|参考)?(?:答案|回答|答复|答|摘录|原文)(?:应该|应)?(?=\s*[:：是为])|"
    r"(?:根据|依据|按照|从)[^，,:：。\n]{0,24}(?:文本|原文|材料|文章|文中|规定|内容|通知|公告|办法|条例)[^，,:：。\n]{0,12}(?=[，,:：]))"
    r"\s*(?:是|为|[:：，,])*\s*"
)
_MARK = re.compile(r"\n[^\S\n]*+(?:我的|正确|最终|参考)?答案\s*[:：]\s*+")
_EXPLANATION = re.compile(r"\n[^\S\n]*+(?:(?:解析|理由|解释|说明|原因|依据|分析|注)\s*+[:：]|\n)")
_CLOSED = re.compile(r"[<\[]\s*/?\s*(?:eo[a-z]|answer|答案)\s*[>\]]", re.IGNORECASE)
_QUOTES = [("“", "”"), ("‘", "’"), ('"', '"'), ("'", "'"), ("「", "」"), ("『", "』"), ("**", "**"), ("`", "`")]


def find_span(text: str, asked: Asked) -> Found:
    """Read the span that an answer gives: without lead-in, quotes around it, closing full stop and explanation.

    Flagged ``not_in_passage`` where the question is known and does not hold the span.
    """
    start = len(text) - len(text.lstrip())
    end = run_on_start(text, start)
    tags = asked_tags(asked.prompt)
    tag = next((tag for tag in tagged(without_instruction(text), asked.prompt) if tag[1] and tag[1].strip()), None)
    if tag:
        closed = _CLOSED.search(text, tag.start(1))
        start, end = tag.start(1), closed.start() if closed else tag.end(1)
    elif named := next((tag for tag in tags if text.startswith((f"{tag}:", f"{tag}："), start)), ""):
        start += len(named) + 1
    elif (mark := _MARK.search(text, start)) and text[mark.end() :].strip():
        start = mark.end()
        end = run_on_start(text, start)
    lead = _LEAD_IN.match(text, start)
    if lead and text[lead.end() : end].strip():
        start = lead.end()
    explained = _EXPLANATION.search(text, start)
    if explained and text[start : explained.start()].strip():
        end = min(end, explained.start())
    span = _bare(text[start:end])
    if not span:
        return Found(reason="the answer is empty", settled=True)
    passage = squeezed(asked.question)
    flags = ("not_in_passage",) if passage and squeezed(span) not in passage else ()
    return Found(value=span, evidence=span, flags=flags)


def _bare(span: str) -> str:
    before = None
    while before != span:
        before = span
        span = span.strip().rstrip("。；;").strip()
        for opening, closing in _QUOTES:
            inner = span[len(opening) : -len(closing)]
            if (
                len(span) > len(opening) + len(closing)
                and span.startswith(opening)
                and span.endswith(closing)
                and opening not in inner
            ):
                span = inner
    return span
