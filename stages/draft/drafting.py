"""Slots become drafts: parsed where the source gives the answer, asked of the drafter elsewhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from stages.draft.contents import UnusableError, make_content
from stages.draft.evidence import find_evidence
from stages.draft.params import DraftParams
from stages.draft.slots import Slot, Variables, variables_of
from stages.draft.steps import Calls, OffTopicError, StepFailedError
from stages.draft.templates import NothingToFillError
from taxpraben.backends.asking import Asker, work_through
from taxpraben.records.content import Content
from taxpraben.records.draft import Draft


@dataclass
class Drafted:
    """What became of all slots.

    Attributes:
        drafts: by task name, those that failed or were filtered included.
        empty: how many slots gave no draft because the source lacks a variable, by task and variable.
    """

    drafts: dict[str, list[Draft]] = field(default_factory=dict)
    empty: Counter[tuple[str, str]] = field(default_factory=Counter)


async def draft_all(slots: Sequence[Slot], params: DraftParams, asker: Asker, step: Callable[[], None]) -> Drafted:
    """One draft for each slot, or a count of what its source lacks.

    Args:
        slots: of all tasks.
        params: the stage's.
        asker: asks the drafter, or answers from a journal; not started where nothing is to be asked.
        step: called after each slot.

    Raises:
        BackendError: the drafter cannot be asked at all.
    """
    drafted = Drafted(drafts={slot.spec.name: [] for slot in slots})

    async def work(slot: Slot) -> None:
        try:
            drafted.drafts[slot.spec.name].append(await _draft(slot, params, asker))
        except NothingToFillError as nothing:
            drafted.empty[slot.spec.name, nothing.variable] += 1
        step()

    await work_through(slots, work, asker.concurrency)
    return drafted


async def _draft(slot: Slot, params: DraftParams, asker: Asker) -> Draft:
    calls = Calls(slot, params, asker, variables_of(slot))
    content: Content | None = None
    error = ""
    filtered = False
    try:
        _refuse_fault(slot)
        await calls.run()
        content = _content(slot, calls.variables)
        error = "; ".join(calls.notes)
    except OffTopicError as reason:
        filtered, error = True, str(reason)
    except (StepFailedError, UnusableError) as reason:
        error = str(reason)
    return _row(slot, content, params, calls.requests, filtered, error)


def _refuse_fault(slot: Slot) -> None:
    """What ingest could not pair goes to review with its reason, as a failed draft."""
    if slot.part is not None and (fault := slot.part.data.get("fault")):
        raise UnusableError(f"{fault} (page {slot.part.page})" if slot.part.page else str(fault))


def _content(slot: Slot, variables: Variables) -> Content:
    try:
        return make_content(slot.spec, variables)
    except (NothingToFillError, UnusableError):
        raise
    except (ValueError, ArithmeticError, RecursionError) as problem:
        # What one slot gives must not stop the others; a validation error's later lines repeat the whole value.
        cause = str(problem).partition("\n")[0]
        raise UnusableError(f"makes no valid content: {type(problem).__name__}: {cause}") from problem


def _row(
    slot: Slot, content: Content | None, params: DraftParams, requests: list[str], filtered: bool, error: str
) -> Draft:
    drafting, document = slot.spec.drafting, slot.document
    return Draft(
        draft_id=slot.draft_id,
        task=slot.spec.name,
        document_id=document.document_id,
        origin=document.origin,
        slot=slot.name,
        method="model" if requests else "parsed",
        status="filtered" if filtered else "drafted" if content else "failed",
        content=content,
        evidence=find_evidence(slot, content) if content else [],
        prompt=f"{slot.spec.name}@{drafting.version}" if requests else "",
        model=params.drafter if requests else "",
        requests=requests,
        error=error,
        effective=document.applies_from,
        repealed=document.repealed,
    )
