"""Decisions become a release: items with stable ids, one prompt drawn per item, one example per item."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from stages.build.params import BuildParams
from taxpraben.records.content import Content
from taxpraben.records.decision import Decision
from taxpraben.records.draft import Draft
from taxpraben.records.field import Field
from taxpraben.records.item import Item
from taxpraben.tasks.rules import broken_rules
from taxpraben.tasks.spec import TaskSpec
from taxpraben.text.shingles import jaccard, shingles


@dataclass(frozen=True)
class Refused:
    """A decided draft that did not become an item, and every rule that it breaks."""

    task: str
    draft_id: str
    reasons: list[str]


@dataclass
class TaskBuild:
    """What became of one task's decisions.

    Attributes:
        unseen: items that a rule accepted and no person saw.
        left_out: contents beyond ``items_per_task``.
        not_in_force: contents whose rule was not in force on ``in_force_on``.
        undated: items whose source states no day of effect.
    """

    items: list[Item] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    rejected: int = 0
    unseen: int = 0
    left_out: int = 0
    not_in_force: int = 0
    undated: int = 0


def build_task(
    spec: TaskSpec, drafts: Sequence[Draft], decisions: Sequence[Decision], params: BuildParams
) -> TaskBuild:
    """Make the task's items, sorted by id.

    Args:
        spec: the task.
        drafts: the task's drafts, any order.
        decisions: the task's decisions, any order; rejected ones give no item.
        params: release number, seed, limits.

    Returns:
        Items, refused contents with reasons, and counts of what people rejected or the limit left out.
    """
    built = TaskBuild()
    by_id = {draft.draft_id: draft for draft in drafts}
    settled: list[tuple[Draft, Content]] = []
    for decision in sorted(decisions, key=lambda row: row.key):
        if decision.verdict == "rejected" or decision.content is None:
            built.rejected += 1
            continue
        draft = by_id.get(decision.draft_id)
        faults = broken_rules(decision.content, spec) if draft else ["its draft is gone; run `dvc repro review`"]
        if faults or draft is None:
            built.refused.append(Refused(spec.name, decision.draft_id, faults))
        else:
            settled.append((draft, decision.content))
    day = params.in_force_on.isoformat() if params.in_force_on else ""
    in_force = [pair for pair in settled if not day or was_in_force(pair[0], day)]
    built.not_in_force = len(settled) - len(in_force)
    settled = in_force
    if params.items_per_task and len(settled) > params.items_per_task:
        drawn = sorted(settled, key=lambda pair: _draw(params.seed, "keep", pair[0].draft_id))[: params.items_per_task]
        built.left_out = len(settled) - len(drawn)
        settled = sorted(drawn, key=lambda pair: pair[0].draft_id)
    unseen = {decision.draft_id for decision in decisions if decision.unseen}
    built.unseen = sum(draft.draft_id in unseen for draft, _ in settled)
    built.undated = sum(not draft.effective for draft, _ in settled)
    examples = choose_examples(
        {draft.draft_id: f"{content.text}\n{content.answer}" for draft, content in settled}, params
    )
    for draft, content in settled:
        number = _draw(params.seed, "prompt", draft.draft_id) % len(spec.prompts)
        prompt = spec.prompts[number]
        built.items.append(
            Item(
                item_id=draft.draft_id,
                task=spec.name,
                task_version=spec.version,
                release=params.release,
                query=own_field_list(prompt, content.fields) if spec.fields_from_item else prompt,
                prompt=number,
                text=content.text,
                answer=content.answer,
                choices=content.choices,
                gold=content.gold,
                fields=content.fields,
                unit=content.unit,
                example_id=examples[draft.draft_id],
                draft_id=draft.draft_id,
                document_id=draft.document_id,
                origin=draft.origin,
                effective=draft.effective,
                repealed=draft.repealed,
            )
        )
    return built


def was_in_force(draft: Draft, day: str) -> bool:
    """Whether the rule that a draft rests on applied on a day (ISO) as it is known here; yes where it has no dates.

    A day of repeal is the first day without the rule.
    """
    return draft.effective <= day and (not draft.repealed or day < draft.repealed)


def choose_examples(texts: dict[str, str], params: BuildParams) -> dict[str, str]:
    """The one-shot example of each item: the first in a seeded ranking that is neither it nor its near-duplicate.

    Most items share one example, so that an engine computes it once (prefix caching).

    Args:
        texts: each item's text with its answer, by id; two questions that differ in an article's number alone are
            no duplicates where their answers differ.
        params: seed of the ranking and similarity of near-duplicates.

    Returns:
        Example id by item id; empty text where the task has no other question to show.
    """
    ranking = sorted(texts, key=lambda item_id: _draw(params.seed, "example", item_id))
    pieces = {item_id: shingles(text) for item_id, text in texts.items()}
    return {
        item_id: next(
            (
                other
                for other in ranking
                if other != item_id and jaccard(pieces[other], pieces[item_id]) < params.near_duplicate
            ),
            "",
        )
        for item_id in texts
    }


def own_field_list(prompt: str, fields: Sequence[Field]) -> str:
    """The prompt with its printed JSON form replaced by the item's own fields (TaxPlan, Tables C17 and C23)."""
    form = "{" + ", ".join(f'"{field.name}": ' for field in fields) + "}"
    replaced, count = re.subn(r"\{[^{}]*\}", lambda _: form, prompt, count=1)
    return replaced if count else f"{prompt}{form}"


def release_digest(items: Sequence[Item]) -> str:
    """SHA-256 over all items in order of task and id; names the content of a release."""
    ordered = sorted(items, key=lambda item: item.key)
    lines = "\n".join(json.dumps(item.model_dump(mode="json"), ensure_ascii=False, sort_keys=True) for item in ordered)
    return hashlib.sha256(lines.encode()).hexdigest()


def _draw(seed: int, purpose: str, name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}|{purpose}|{name}".encode()).digest()[:8], "big")
