"""Question and official answer from the lines of a message board's page."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stages.ingest.board_table import strip_answer

_ASKED = re.compile(r"^\s*(?:问|提问|问题|留言|留言内容|咨询内容|网友[^：:]{0,8}|留言人[^：:]{0,8})\s*[:：]\s*")
_ANSWER = re.compile(r"^\s*(?:答|答复|回复|答复内容|回复内容|解答)\s*[:：]")


def exchange(lines: Sequence[str]) -> tuple[str, str] | None:
    """What stands before and after the line that opens with 答：, or None where there is no such pair."""
    at = next((number for number, line in enumerate(lines) if _ANSWER.match(line)), None)
    if not at:
        return None
    question = _ASKED.sub("", "\n".join(lines[:at])).strip()
    answer = strip_answer("\n".join(lines[at:]))
    return (question, answer) if question and answer else None
