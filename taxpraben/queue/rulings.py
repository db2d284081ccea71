"""What people rule: submit, skip, check, return, settle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from taxpraben.queue.audit import log
from taxpraben.queue.claims import find_judgement, find_work, show_state
from taxpraben.queue.events import note_completion, note_rounds
from taxpraben.queue.intake import record_decision
from taxpraben.queue.measuring import score_gold, settle_gold
from taxpraben.queue.policy import read_policy
from taxpraben.queue.states import (
    FINAL,
    FrozenError,
    NotFoundError,
    NotYoursError,
    QueueError,
    State,
    Verdict,
    kept,
)
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Entry, RoundShare, Work
from taxpraben.queue.texts import Saved, keep, owns
from taxpraben.records.base import JsonObject
from taxpraben.records.content import Content
from taxpraben.records.decision import Decision


@dataclass(frozen=True)
class Submitted:
    """The outcome of a submission.

    Attributes:
        kind: ``submitted``; ``late``: the claim had ended, the text is kept as a draft; ``conflict``: another save
            came first, both texts are kept.
        state: the work's state now.
        saved: what became of the text.
    """

    kind: Literal["submitted", "late", "conflict"]
    state: State
    saved: Saved | None = None


def submit(
    queue: Queue,
    work_id: int,
    person: str,
    verdict: Verdict,
    content: Content | None = None,
    reason: str = "",
    version: int | None = None,
    form: JsonObject | None = None,
) -> Submitted:
    """Hand in a judgement: accept the draft as it is, fix it, or reject it.

    Args:
        queue: the queue.
        work_id: the work.
        person: who judged.
        verdict: ``fixed`` with the draft's own content counts as ``accepted``.
        content: the corrected content of a fix.
        reason: of a rejection (needed), or a remark.
        version: the version of the text that the page showed; None where nothing was typed.
        form: the text as typed, kept when the submission comes too late or in conflict.

    Raises:
        NotFoundError: no such work.
        QueueError: accepting a failed draft, fixing without content, rejecting without a reason.
    """
    with queue.write() as session:
        at = queue.now()
        work = find_judgement(session, work_id)
        entry = session.get_one(Entry, work.draft_id)
        typed: JsonObject = form if form is not None else {"verdict": verdict, "reason": reason}
        if form is None and content is not None:
            typed["content"] = content.model_dump(mode="json")
        if not owns(work, person, at):
            return Submitted("late", _state(work), keep(session, at, work, person, version or work.version, typed))
        if version is not None and version != work.version:
            return Submitted("conflict", _state(work), keep(session, at, work, person, version, typed))
        verdict, final = ruled(entry, verdict, content, reason)
        policy = read_policy(session)
        work.round = work.round or _round_of(session, person, policy.round)
        if form is not None:
            # Should it come back, its page begins with what was handed in.
            keep(session, at, work, person, work.version, form)
        work.verdict, work.reason = verdict, reason.strip()
        work.content = final.model_dump(mode="json") if final is not None else None
        work.state, work.claimed_until, work.submitted_at = "submitted", None, at
        log(session, at, person, "submitted", work, verdict=verdict, reason=work.reason, round=work.round)
        settles = policy.spot_checks == 0 or _share_accepted(session, work)
        if work.gold:
            score_gold(session, work)
            if settles and policy.overlap == 1:
                settle_gold(work)
        elif settles:
            if settle_if_agreed(session, at, entry, ""):
                note_completion(session, at, entry)
                if policy.spot_checks:
                    note_rounds(session, at)
        else:
            show_state(session, entry)
        return Submitted("submitted", _state(work))


def _state(work: Work) -> State:
    return work.state  # type: ignore[return-value]  # the column holds nothing else


def ruled(entry: Entry, verdict: Verdict, content: Content | None, reason: str) -> tuple[Verdict, Content | None]:
    """The verdict and the final content of a ruling on an entry; a fix that changes nothing is an acceptance.

    Raises:
        QueueError: accepting a failed draft, fixing without content, rejecting without a reason, or a text that cannot
            be kept.
    """
    given = [content.text, content.answer, content.unit, *content.choices] if content is not None else []
    for text in (reason, *given):
        kept(text)
    draft = Content.model_validate(entry.content) if entry.content is not None else None
    if verdict == "rejected":
        if not reason.strip():
            raise QueueError("A rejection needs a reason")
        return "rejected", None
    if verdict == "accepted":
        if draft is None:
            raise QueueError("Drafting failed here, so there is nothing to accept: fix it or reject it")
        return "accepted", draft
    if content is None:
        raise QueueError("A fix needs the corrected content")
    return ("accepted", draft) if draft is not None and content.digest == draft.digest else ("fixed", content)


def _round_of(session: Session, person: str, current: int) -> int:
    """The first round from the current one on whose share of this person is not accepted yet.

    What is submitted after a share has passed is drawn from in the next one; nothing slips through unseen.
    """
    accepted = set(
        session.scalars(select(RoundShare.round).where(RoundShare.person == person, RoundShare.accepted.is_(True)))
    )
    number = current
    while number in accepted:
        number += 1
    return number


def _share_accepted(session: Session, work: Work) -> bool:
    """Whether the round's share of this person passed already, so that a late or corrected work needs no draw."""
    closed = session.scalar(
        select(RoundShare.accepted)
        .where(RoundShare.round == work.round, RoundShare.person == work.person)
        .order_by(RoundShare.attempt.desc())
        .limit(1)
    )
    return bool(closed) and work.check_result != "failed"


def settle_if_agreed(session: Session, at: str, entry: Entry, checker: str) -> bool:
    """Make the works' common ruling the decision; leave it to an expert where they differ. Returns whether settled.

    The draft's works are locked (see ``find_judgement``), so that who hands in another at this moment waits.
    """
    with session.no_autoflush:
        # What this transaction changed in a work is seen without writing it first: rows keep their identity.
        works = list(session.scalars(_judgements(entry.draft_id).order_by(Work.slot)))
    if any(work.state not in ("submitted", "checked") for work in works):
        show_state(session, entry)
        return False
    if len({_ruling_of(work) for work in works}) > 1:
        show_state(session, entry)
        return False
    first = works[0]
    with session.no_autoflush:
        _decide(session, at, entry, first, checker or first.checker, "settled", first.person or "", works)
    return True


def _judgements(draft_id: str) -> Select[Work]:
    return select(Work).where(Work.draft_id == draft_id, Work.gold.is_(False))


def _ruling_of(work: Work) -> tuple[str, str]:
    return work.verdict, Content.model_validate(work.content).digest if work.content is not None else ""


def _decide(
    session: Session, at: str, entry: Entry, work: Work, checker: str, act: str, actor: str, works: list[Work]
) -> None:
    decision = Decision(
        draft_id=entry.draft_id,
        task=entry.task,
        draft_digest=entry.digest,
        verdict=work.verdict,
        content=Content.model_validate(work.content) if work.content is not None else None,
        reason=work.reason,
        annotator=work.person or "",
        checker=checker,
        round=max(work.round, 1),
        decided_at=at,
    )
    record_decision(session, at, entry, decision, actor, act, works)


def skip(queue: Queue, work_id: int, person: str, reason: str) -> None:
    """Set a work aside with a reason; it is not complete, and an admin may open it again.

    Raises:
        QueueError: no reason was given.
        NotYoursError: the work is not this person's.
    """
    if not reason.strip():
        raise QueueError("Skipping needs a reason")
    with queue.write() as session:
        at = queue.now()
        work = find_work(session, work_id)
        if not owns(work, person, at):
            raise NotYoursError(f"Work {work_id} is not claimed by {person} (any more)")
        work.state, work.claimed_until, work.note = "skipped", None, reason.strip()
        log(session, at, person, "skipped", work, reason=work.note)
        if not work.gold:
            show_state(session, session.get_one(Entry, work.draft_id))


def check(queue: Queue, work_id: int, checker: str, passed: bool, reason: str = "") -> State:
    """A checker's word on a submitted work: it passes, or goes back to the same person with a reason.

    Returns:
        The work's state now: ``checked``, ``returned``, or settled where the round's share had passed already.

    Raises:
        QueueError: it is not submitted, is the checker's own, or goes back without a reason.
        FrozenError: it is settled.
    """
    if not passed and not reason.strip():
        raise QueueError("Returning a work needs a reason")
    with queue.write() as session:
        at = queue.now()
        work = find_judgement(session, work_id)
        entry = session.get_one(Entry, work.draft_id)
        if work.state in ("accepted", "rejected"):
            raise FrozenError(f"Work {work_id} is {work.state}; what is settled stays as it is")
        if work.state != "submitted":
            raise QueueError(f"Work {work_id} is {work.state}; only submitted work is checked")
        if work.person == checker:
            raise QueueError("Nobody checks their own work")
        if work.gold:
            raise QueueError(f"Work {work_id} is not drawn for a check")
        work.checker = checker
        if passed:
            # A first failure stays in the count of its round; passing later does not undo it.
            work.state, work.note = "checked", ""
            work.check_result = "mended" if work.check_result == "failed" else "passed"
            log(session, at, checker, "passed", work)
            if _share_accepted(session, work):
                settle_if_agreed(session, at, entry, checker)
        else:
            work.state, work.check_result, work.note = "returned", "failed", reason.strip()
            log(session, at, checker, "returned", work, reason=work.note)
        show_state(session, entry)
        if work.state in FINAL:
            note_completion(session, at, entry)
            note_rounds(session, at)
        return _state(work)


def decide_by_expert(
    session: Session, at: str, entry: Entry, verdict: Verdict, content: Content | None, reason: str, expert: str
) -> None:
    """Write an expert's word, as ``ruled`` gave it, as the draft's decision, in the transaction under way."""
    decision = Decision(
        draft_id=entry.draft_id,
        task=entry.task,
        draft_digest=entry.digest,
        verdict=verdict,
        content=content,
        reason=reason.strip(),
        annotator=expert,
        round=read_policy(session).round,
        decided_at=at,
    )
    record_decision(session, at, entry, decision, expert, "settled_by_expert")
    note_completion(session, at, entry)


def settle(
    queue: Queue,
    draft_id: str,
    expert: str,
    verdict: Verdict,
    content: Content | None = None,
    reason: str = "",
) -> None:
    """An expert's word ends a dispute: all judgements of a draft are in, and they differ.

    Who judged the draft too may only yield to what somebody else found; their own judgement is for another expert.

    Raises:
        NotFoundError: no such draft.
        FrozenError: the draft is settled already.
        QueueError: there is no dispute, the expert would settle their own work, or as for ``submit``.
    """
    with queue.write() as session:
        at = queue.now()
        found = session.get(Entry, draft_id)
        if found is None:
            raise NotFoundError(f"No draft {draft_id!r} in the queue")
        entry = found
        if entry.state in ("accepted", "rejected"):
            raise FrozenError(f"Draft {draft_id} is {entry.state}; what is settled stays as it is")
        verdict, final = ruled(entry, verdict, content, reason)
        works = list(session.scalars(_judgements(draft_id).order_by(Work.work_id).with_for_update()))
        unfinished = not entry.active or any(work.state not in ("submitted", "checked") for work in works)
        if unfinished or len({_ruling_of(work) for work in works}) < 2:
            raise QueueError(
                f"Draft {draft_id} is not disputed: an expert settles only what all have judged, and differently"
            )
        of_others = {_ruling_of(work) for work in works if work.person != expert}
        judged_too = any(work.person == expert for work in works)
        if judged_too and (verdict, final.digest if final is not None else "") not in of_others:
            raise QueueError("Nobody settles a dispute with their own judgement; another expert may")
        decide_by_expert(session, at, entry, verdict, final, reason, expert)
        note_rounds(session, at)
