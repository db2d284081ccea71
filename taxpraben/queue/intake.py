"""Drafts and decisions into the queue, decisions out of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field

from sqlalchemy import select, true
from sqlalchemy.orm import Session

from taxpraben.queue.audit import SYSTEM, log
from taxpraben.queue.batches import Batches
from taxpraben.queue.claims import lock_judgements, put_back, show_state
from taxpraben.queue.events import note_completion
from taxpraben.queue.excerpt import cut_excerpt
from taxpraben.queue.measuring import settle_gold_beside
from taxpraben.queue.policy import Policy, read_policy, write_policy
from taxpraben.queue.states import FILTERED, FINAL, QueueError
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Entry, GoldDraft, Ruling, Work
from taxpraben.queue.works import add_works
from taxpraben.records.content import Content
from taxpraben.records.decision import Decision
from taxpraben.records.document import Document
from taxpraben.records.draft import Draft

BY_RULE_AT = "1970-01-01T00:00:00Z"
"""Time of a decision that a rule made, so that the same drafts give the same bytes and any person's ruling is newer."""

MOST_NAMED = 10_000
"""More drafts are not named in one statement (databases limit its parameters): then all works are locked."""


@dataclass
class Intake:
    """What became of the drafts: draft ids by fate. ``kept`` are unchanged; ``held`` changed, but a fix holds."""

    new: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    held: list[str] = field(default_factory=list)
    reopened: list[str] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)


@dataclass
class Import:
    """What became of the decisions: draft ids by fate.

    Attributes:
        imported: taken over.
        unchanged: the queue had them already.
        older: the queue holds a later decision, which stays.
        conflicts: same time, other ruling; the queue's stays, the other stands in the audit log.
        stale: an acceptance or rejection of a content that the drafter no longer proposes.
        unknown: the queue has no such draft.
    """

    imported: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    older: list[str] = field(default_factory=list)
    conflicts: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def left_out(self) -> dict[str, list[str]]:
        """Draft ids of the decisions that were not taken, by the cause in words."""
        return {
            "older than the queue's": self.older,
            "in conflict with the queue's": self.conflicts,
            "on a content that is no longer drafted": self.stale,
            "on drafts that are not there": self.unknown,
        }


@dataclass
class Unseen:
    """What a rule decided without a person: draft ids.

    Attributes:
        accepted: taken over as drafted.
        rejected: parsed drafts that failed; the parser's error is the reason.
    """

    accepted: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)


def set_policy(queue: Queue, policy: Policy, actor: str = SYSTEM) -> None:
    """Put the rules of the review in force; what is already handed out keeps its limits."""
    with queue.write() as session:
        if write_policy(session, policy):
            log(session, queue.now(), actor, "policy", rules=asdict(policy))


def bring_in(queue: Queue, drafts: Sequence[Draft], documents: Iterable[Document]) -> Intake:
    """Make the queue hold exactly these drafts; running it again changes nothing.

    A draft whose content changed is open again, unless a fix holds (``records.decision``); texts that people typed
    stay in its history. A draft that is no longer there is withdrawn, with all that people did to it, and comes back
    with it.

    Args:
        queue: the queue.
        drafts: all drafts of all tasks, in the order in which they are to be handed out.
        documents: those that the drafts name; a missing one only leaves the page without its source.
    """
    by_id = {document.document_id: document for document in documents}
    report = Intake()
    with queue.write() as session:
        at = queue.now()
        policy = read_policy(session)
        _lock_changed(session, drafts)
        entries = {entry.draft_id: entry for entry in session.scalars(select(Entry))}
        works: dict[str, list[Work]] = {}
        for work in session.scalars(select(Work).order_by(Work.work_id)):
            works.setdefault(work.draft_id, []).append(work)
        rulings = {ruling.draft_id: ruling for ruling in session.scalars(select(Ruling))}
        added: list[Entry] = []
        batches = Batches(entries.values(), policy.batch_size)
        for place, draft in enumerate(drafts):
            entry = entries.pop(draft.draft_id, None)
            if entry is None:
                entry = Entry(draft_id=draft.draft_id, task=draft.task, active=True, state="open")
                entry.batch = batches.next(draft.task)
                _fill(entry, draft, place, by_id.get(draft.document_id))
                session.add(entry)
                added.append(entry)
                continue
            changed = (entry.digest, entry.draft_status) != (_digest(draft), draft.status)
            _fill(entry, draft, place, by_id.get(draft.document_id))
            own = works.get(draft.draft_id, [])
            for work in own:
                if not work.gold:
                    work.place = place
            if not entry.active:
                entry.active = True
                log(session, at, SYSTEM, "came_back", entry, digest=entry.digest)
            ruling = rulings.get(draft.draft_id)
            if not changed:
                report.kept.append(draft.draft_id)
                judges = [work for work in own if not work.gold]
                if entry.state not in (*FINAL, FILTERED) and len(judges) < policy.overlap:
                    add_works(session, [(entry, slot) for slot in range(len(judges), policy.overlap)])
                    show_state(session, entry)
            elif ruling is not None and ruling.verdict == "fixed":
                log(session, at, SYSTEM, "fix_holds", entry, digest=entry.digest)
                report.held.append(draft.draft_id)
            else:
                _reopen(session, at, entry, own, ruling, policy.overlap)
                report.reopened.append(draft.draft_id)
        session.flush()  # entries first: works point at them
        opened = [entry for entry in added if entry.draft_status != "filtered"]
        add_works(session, [(entry, slot) for entry in opened for slot in range(max(policy.overlap, 1))])
        for entry in added:
            entry.state = FILTERED if entry.draft_status == "filtered" else "open"
            log(session, at, SYSTEM, "brought_in", entry, digest=entry.digest)
            report.new.append(entry.draft_id)
        for entry in entries.values():
            if entry.active:
                entry.active = False
                log(session, at, SYSTEM, "withdrawn", entry)
                report.withdrawn.append(entry.draft_id)
        note_completion(session, at)
    return report


def _lock_changed(session: Session, drafts: Sequence[Draft]) -> None:
    """Lock the works of drafts that will be open again: who hands one in meanwhile waits, and is told it comes late."""
    versions = select(Entry.draft_id, Entry.digest, Entry.draft_status)
    known = {row.draft_id: (row.digest, row.draft_status) for row in session.execute(versions)}
    changed = [one.draft_id for one in drafts if known.get(one.draft_id, ()) not in ((), (_digest(one), one.status))]
    _lock(session, changed)


def _lock(session: Session, drafts: Sequence[str]) -> None:
    lock_judgements(session, Work.draft_id.in_(drafts) if len(drafts) <= MOST_NAMED else true())


def _digest(draft: Draft) -> str:
    return draft.content.digest if draft.content is not None else ""


def _fill(entry: Entry, draft: Draft, place: int, document: Document | None) -> None:
    values = {
        "place": place,
        "document_id": draft.document_id,
        "origin": draft.origin,
        "slot": draft.slot,
        "method": draft.method,
        "draft_status": draft.status,
        "content": draft.content.model_dump(mode="json") if draft.content is not None else None,
        "digest": _digest(draft),
        "excerpt": cut_excerpt(draft, document).model_dump(mode="json"),
        "prompt": draft.prompt,
        "model": draft.model,
        "error": draft.error,
    }
    for name, value in values.items():
        if getattr(entry, name, None) != value:
            setattr(entry, name, value)


def _open_works(session: Session, entry: Entry, overlap: int, present: list[Work]) -> None:
    """Give an entry its works, all open; a filtered draft needs none."""
    if entry.draft_status == "filtered":
        entry.state = FILTERED
        for work in present:
            work.state, work.person, work.claimed_until = "skipped", None, None
            work.note = "filtered"
        return
    entry.state = "open"
    for work in present:
        put_back(work)
        work.verdict, work.content, work.reason, work.note = "", None, "", ""
        work.sampled, work.check_result, work.checker, work.submitted_at = False, "", "", ""
    add_works(session, [(entry, slot) for slot in range(len(present), max(overlap, 1))])


def _reopen(session: Session, at: str, entry: Entry, works: list[Work], ruling: Ruling | None, overlap: int) -> None:
    before = [
        {"work": work.work_id, "state": work.state, "person": work.person, "verdict": work.verdict}
        for work in works
        if work.person
    ]
    log(
        session,
        at,
        SYSTEM,
        "draft_changed",
        entry,
        digest=entry.digest,
        works=before,
        decision=_as_decision(ruling).model_dump(mode="json") if ruling is not None else None,
    )
    if ruling is not None:
        session.delete(ruling)
    _retire_gold(session, at, entry, works)
    _open_works(session, entry, overlap, [work for work in works if not work.gold])


def _retire_gold(session: Session, at: str, entry: Entry, works: list[Work]) -> None:
    """A draft that is open again has no known answer any more."""
    gold = session.get(GoldDraft, entry.draft_id)
    if gold is not None:
        session.delete(gold)
        log(session, at, SYSTEM, "gold_removed", entry)
    for work in works:
        if work.gold and work.state not in ("accepted", "rejected"):
            work.state, work.claimed_until, work.note = "skipped", None, "draft changed"


def import_decisions(queue: Queue, rows: Iterable[Decision], actor: str = SYSTEM) -> Import:
    """Take decisions over from outside: those that ship with a corpus, or a share that came back from offline work.

    The later decision of two stands. Every decision that is not taken over is named in the report.

    Raises:
        QueueError: a row contradicts itself (an acceptance of another content than it names, a fix without content).
    """
    report = Import()
    rows = sorted(rows, key=lambda row: row.key)
    with queue.write() as session:
        at = queue.now()
        _lock(session, [row.draft_id for row in rows])
        entries = {entry.draft_id: entry for entry in session.scalars(select(Entry))}
        rulings = {ruling.draft_id: ruling for ruling in session.scalars(select(Ruling))}
        for row in rows:
            _must_make_sense(row)
            entry = entries.get(row.draft_id)
            held = rulings.get(row.draft_id)
            if entry is None or not entry.active:
                report.unknown.append(row.draft_id)
            elif held is not None and _as_decision(held) == row:
                report.unchanged.append(row.draft_id)
            elif row.verdict != "fixed" and row.draft_digest != entry.digest:
                report.stale.append(row.draft_id)
            elif held is not None and held.decided_at > row.decided_at:
                report.older.append(row.draft_id)
            elif held is not None and held.decided_at == row.decided_at:
                log(session, at, actor, "import_conflict", entry, decision=row.model_dump(mode="json"))
                report.conflicts.append(row.draft_id)
            else:
                rulings[row.draft_id] = record_decision(session, at, entry, row, actor, "imported")
                report.imported.append(row.draft_id)
        note_completion(session, at)
    return report


def accept_unseen(queue: Queue, methods: Sequence[str]) -> Unseen:
    """Decide by rule, without a person, on the open drafts that were made by these methods (``parsed``, ``model``).

    For quick trials only: the annotator of such a decision is ``rule:METHOD``, and any person's ruling takes its place.
    A draft is accepted as it is. A parsed draft that failed is rejected, for its source holds nothing better and would
    fail again; a model's failed draft waits for people, because another asking may well succeed.
    """
    report = Unseen()
    with queue.write() as session:
        at = queue.now()
        which = Entry.active.is_(True) & Entry.state.in_(("open", "rejected")) & Entry.method.in_(methods)
        lock_judgements(session, Work.draft_id.in_(select(Entry.draft_id).where(which)))
        for entry in session.scalars(select(Entry).where(which).order_by(Entry.place)):
            decision = _by_rule(entry)
            held = session.get(Ruling, entry.draft_id)
            # A failure for another cause than before is told anew, so that equal drafts give equal decisions.
            if decision is None or (held is not None and not _same_rule_other_reason(held, decision)):
                continue
            if decision.verdict == "accepted":
                record_decision(session, at, entry, decision, SYSTEM, "accepted_by_rule")
                report.accepted.append(entry.draft_id)
            else:
                record_decision(session, at, entry, decision, SYSTEM, "rejected_by_rule")
                report.rejected.append(entry.draft_id)
        note_completion(session, at)
    return report


def _by_rule(entry: Entry) -> Decision | None:
    failed = entry.content is None
    if failed and entry.method != "parsed":
        return None
    return Decision(
        draft_id=entry.draft_id,
        task=entry.task,
        draft_digest=entry.digest,
        verdict="rejected" if failed else "accepted",
        content=None if failed else Content.model_validate(entry.content),
        reason=(entry.error.strip() or "the parser found no item") if failed else "",
        annotator=f"rule:{entry.method}",
        decided_at=BY_RULE_AT,
    )


def _same_rule_other_reason(held: Ruling, decision: Decision) -> bool:
    return (held.annotator, held.verdict) == (decision.annotator, decision.verdict) and held.reason != decision.reason


def _must_make_sense(row: Decision) -> None:
    if row.verdict == "rejected":
        if not row.reason.strip():
            raise QueueError(f"Decision on {row.draft_id}: a rejection needs a reason")
        return
    if row.content is None:
        raise QueueError(f"Decision on {row.draft_id}: {row.verdict!r} needs the content")
    if row.verdict == "accepted" and row.content.digest != row.draft_digest:
        raise QueueError(
            f"Decision on {row.draft_id}: accepts content {row.draft_digest!r} but holds {row.content.digest!r}; "
            "a changed content is a 'fixed' one"
        )


def record_decision(
    session: Session,
    at: str,
    entry: Entry,
    decision: Decision,
    actor: str,
    act: str,
    works: Sequence[Work] | None = None,
) -> Ruling:
    """Make a decision the one that stands on an entry, and freeze its works (read anew where they are not given)."""
    state = "rejected" if decision.verdict == "rejected" else "accepted"
    ruling = session.merge(
        Ruling(
            draft_id=decision.draft_id,
            task=decision.task,
            draft_digest=decision.draft_digest,
            verdict=decision.verdict,
            content=decision.content.model_dump(mode="json") if decision.content is not None else None,
            reason=decision.reason,
            annotator=decision.annotator,
            checker=decision.checker,
            round=decision.round,
            decided_at=decision.decided_at,
        )
    )
    entry.state = state
    people: list[str] = []
    judgements = select(Work).where(Work.draft_id == entry.draft_id, Work.gold.is_(False))
    for work in session.scalars(judgements) if works is None else works:
        work.state, work.claimed_until = state, None
        if work.person:
            people.append(work.person)
    settle_gold_beside(session, people)
    log(session, at, actor, act, entry, verdict=decision.verdict, annotator=decision.annotator, reason=decision.reason)
    return ruling


def _as_decision(ruling: Ruling) -> Decision:
    return Decision(
        draft_id=ruling.draft_id,
        task=ruling.task,
        draft_digest=ruling.draft_digest,
        verdict=ruling.verdict,
        content=Content.model_validate(ruling.content) if ruling.content is not None else None,
        reason=ruling.reason,
        annotator=ruling.annotator,
        checker=ruling.checker,
        round=ruling.round,
        decided_at=ruling.decided_at,
    )


def export_decisions(queue: Queue, tasks: Sequence[str] = ()) -> list[Decision]:
    """The decisions that stand on drafts in the queue, by task and draft id; of some tasks, or of all.

    Equal decisions give an equal list, whatever the order in which they were made.
    """
    with queue.read() as session:
        query = select(Ruling).join(Entry, Entry.draft_id == Ruling.draft_id).where(Entry.active.is_(True))
        if tasks:
            query = query.where(Ruling.task.in_(tasks))
        return sorted((_as_decision(ruling) for ruling in session.scalars(query)), key=lambda row: row.key)
