"""Drafts of one task: each rests on a known document, and what it quotes stands there."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

from stages.check.params import CheckParams
from stages.check.rules import Row, Suite, present, share, sound, unique
from taxpraben.records.document import Document
from taxpraben.records.draft import Draft
from taxpraben.tasks.spec import TaskSpec


def suite(spec: TaskSpec, params: CheckParams) -> Suite:
    """What must hold of the task's drafts."""
    return Suite(
        name="drafts",
        part=spec.name,
        remedy="mend the task's drafting.yaml or the document, then `dvc repro draft`",
        rules=(
            present("至少有一条草稿", "there is a draft", "warning",
                    "add sources of the kinds that the task's drafting.yaml names"),
            unique("row", "草稿编号不重复", "draft ids are unique"),
            sound("id_problem", "编号由任务、文档与位置算出", "the id is made from task, document and slot"),
            sound("task_problem", "草稿属于本任务", "the draft belongs to this task"),
            sound("document_problem", "所依据的文档存在", "the document that it rests on is known"),
            sound("evidence_problem", "所引依据原样见于文档", "each quoted span stands in the document where it says"),
            sound("status_problem", "状态与内容相符", "status and content agree"),
            sound("provenance_problem", "模型草稿记有提示词、模型与请求",
                  "a model's draft names prompt, model and requests"),
            sound("content_problem", "草稿的题面与答案不为空", "drafted text and answer are not empty", "warning",
                  "people fix or reject it; mend the prompt in drafting.yaml where there are many"),
            share("failed", params.failed_drafts, f"失败的草稿不超过 {params.failed_drafts:.0%}",
                  f"at most {params.failed_drafts:.0%} of the drafts failed",
                  "see the column `error` of the drafts; a stronger drafting model helps"),
        ),
    )  # fmt: skip


def columns(drafts: Sequence[Draft], documents: Mapping[str, Document], spec: TaskSpec) -> list[Row]:
    """One row a draft, in the given order.

    Args:
        drafts: the task's drafts.
        documents: all documents by id.
        spec: the task.
    """
    return [
        {
            "row": draft.draft_id,
            "id_problem": id_problem(draft),
            "task_problem": "" if draft.task == spec.name else f"belongs to {draft.task!r}",
            "document_problem": "" if draft.document_id in documents else f"no document {draft.document_id!r}",
            "evidence_problem": evidence_problem(draft, documents.get(draft.document_id)),
            "status_problem": status_problem(draft),
            "provenance_problem": provenance_problem(draft),
            "content_problem": content_problem(draft),
            "failed": draft.error or "no cause" if draft.status == "failed" else "",
        }
        for draft in drafts
    ]


def id_problem(draft: Draft) -> str:
    """Says which id the draft should have."""
    right = f"{draft.task}-{hashlib.sha256(f'{draft.document_id}|{draft.slot}'.encode()).hexdigest()[:12]}"
    return "" if draft.draft_id == right else f"should be {right}"


def evidence_problem(draft: Draft, document: Document | None) -> str:
    """Names the first span that does not stand in the document (offsets in code points)."""
    if document is None:
        return ""
    for span in draft.evidence:
        if not span.text or document.text[span.start : span.end] != span.text:
            return f"{span.start} to {span.end} is not {span.text[:30]!r}"
    return ""


def status_problem(draft: Draft) -> str:
    """Says where status, content and error contradict each other."""
    if draft.status == "drafted":
        return "" if draft.content is not None else "drafted without content"
    if draft.content is not None:
        return f"{draft.status} with content"
    return "failed without saying why" if draft.status == "failed" and not draft.error.strip() else ""


def provenance_problem(draft: Draft) -> str:
    """Names what a model's draft does not say about its making."""
    if draft.method == "parsed":
        return ""
    lacking = [name for name in ("prompt", "model", "requests") if not getattr(draft, name)]
    return f"lacks {', '.join(lacking)}" if lacking else ""


def content_problem(draft: Draft) -> str:
    """Says which part of a drafted content is empty."""
    if draft.content is None:
        return ""
    empty = [name for name in ("text", "answer") if not getattr(draft.content, name).strip()]
    return f"empty {' and '.join(empty)}" if empty else ""
