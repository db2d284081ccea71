"""Decisions: people ruled on drafts that exist, and what they accepted is what was drafted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from stages.check.rules import Row, Suite, filled, one_of, present, sound, unique
from taxpraben.records.decision import Decision
from taxpraben.records.draft import Draft

SUITE = Suite(
    name="decisions",
    remedy="rule on the draft again in the portal, then `dvc repro review`",
    rules=(
        present("至少有一条裁定", "there is a decision"),
        unique("row", "每条草稿只有一条裁定", "a draft is ruled on once"),
        sound("draft_problem", "只对已知草稿作出裁定", "only known drafts are ruled on"),
        one_of("verdict", ("accepted", "fixed", "rejected"), "裁定为采纳、修改或否决",
               "the verdict is accepted, fixed or rejected"),
        sound("acceptance_problem", "采纳的内容与草稿一致", "accepted content equals its draft"),
        sound("fix_problem", "修改的裁定带有内容", "a fix brings a content"),
        sound("rejection_problem", "否决的裁定不带内容并写明理由", "a rejection has no content and says why"),
        filled("annotator", "写明裁定人", "the annotator is named"),
        sound("time_problem", "裁定时间为带时区的 ISO 8601", "the time is ISO 8601 with its zone"),
    ),
)  # fmt: skip


def columns(decisions: Sequence[Decision], drafts: Mapping[str, Draft]) -> list[Row]:
    """One row a decision, in the given order.

    Args:
        decisions: of all tasks.
        drafts: all drafts by id.
    """
    return [
        {
            "row": decision.draft_id,
            "verdict": decision.verdict,
            "annotator": decision.annotator,
            "draft_problem": draft_problem(decision, drafts.get(decision.draft_id)),
            "acceptance_problem": acceptance_problem(decision, drafts.get(decision.draft_id)),
            "fix_problem": "fixed without content" if decision.verdict == "fixed" and not decision.content else "",
            "rejection_problem": rejection_problem(decision),
            "time_problem": time_problem(decision.decided_at),
        }
        for decision in decisions
    ]


def draft_problem(decision: Decision, draft: Draft | None) -> str:
    """Says that the draft is unknown, or of another task."""
    if draft is None:
        return f"no draft {decision.draft_id!r} of {decision.task}"
    return "" if draft.task == decision.task else f"the draft belongs to {draft.task}"


def acceptance_problem(decision: Decision, draft: Draft | None) -> str:
    """Says where an acceptance is not of what the draft now holds."""
    if decision.verdict != "accepted" or draft is None:
        return ""
    if decision.content is None:
        return "accepted without content"
    if draft.content is None:
        return f"accepted, but the draft is {draft.status}"
    if decision.content != draft.content:
        names = [name for name in type(draft.content).model_fields if _differs(decision, draft, name)]
        return f"differs from its draft in {', '.join(names)}"
    if decision.draft_digest != draft.content.digest:
        return "the digest is not the draft's"
    return ""


def _differs(decision: Decision, draft: Draft, name: str) -> bool:
    return bool(getattr(decision.content, name) != getattr(draft.content, name))


def rejection_problem(decision: Decision) -> str:
    """Says that a rejection has a content, or no reason."""
    if decision.verdict != "rejected":
        return ""
    if decision.content is not None:
        return "rejected with a content"
    return "" if decision.reason.strip() else "rejected without a reason"


def time_problem(text: str) -> str:
    """Says that a time is not ISO 8601 with a zone."""
    try:
        return "" if datetime.fromisoformat(text).tzinfo else f"{text!r} has no time zone"
    except ValueError:
        return f"{text!r} is not ISO 8601"
