"""The queue's tables. Changes go through a migration in ``migrations/versions``; a test compares both."""

from __future__ import annotations

from typing import Any

from sqlalchemy import JSON, Boolean, Float, ForeignKey, Index, Integer, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column


class Base(DeclarativeBase):
    """Base of the tables. Times are ISO 8601 texts in UTC with milliseconds, so that they sort as text everywhere."""


class Entry(Base):
    """A draft in the queue.

    Attributes:
        place: order in which entries are handed out.
        content: the drafted content, or null where drafting failed or the document was filtered out.
        digest: digest of that content, empty without one.
        excerpt: what of the document is shown, see ``excerpt.Excerpt``.
        active: false when the drafter no longer makes this draft; kept, but neither offered nor counted.
        state: a state, or ``filtered``; follows from the entry's works and decision.
    """

    __tablename__ = "entries"
    draft_id: Mapped[str] = mapped_column(String(80), primary_key=True)
    task: Mapped[str] = mapped_column(String(60))
    place: Mapped[int] = mapped_column(Integer)
    document_id: Mapped[str] = mapped_column(String(80))
    origin: Mapped[str] = mapped_column(Text)
    slot: Mapped[str] = mapped_column(Text)
    method: Mapped[str] = mapped_column(String(20))
    draft_status: Mapped[str] = mapped_column(String(20))
    content: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    digest: Mapped[str] = mapped_column(String(64))
    excerpt: Mapped[dict[str, Any]] = mapped_column(JSON)
    prompt: Mapped[str] = mapped_column(Text)
    model: Mapped[str] = mapped_column(Text)
    error: Mapped[str] = mapped_column(Text)
    active: Mapped[bool] = mapped_column(Boolean)
    state: Mapped[str] = mapped_column(String(20))
    __table_args__ = (Index("entries_by_task", "active", "task", "state"),)


class Work(Base):
    """One person's share in judging one entry; an entry has as many as the overlap asks for.

    Attributes:
        slot: 0 for the first judgement of the entry, 1 for the second, and so on.
        version: number of the last save; a save or ruling must name it.
        verdict, content, reason: what was submitted, empty before.
        note: why it was returned, or skipped.
        sampled: drawn for a spot check in its round.
        check_result: ``passed``, ``failed`` or ``mended`` (passed after a failure) by the checker, else empty.
    """

    __tablename__ = "works"
    work_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    draft_id: Mapped[str] = mapped_column(ForeignKey("entries.draft_id"))
    slot: Mapped[int] = mapped_column(Integer)
    task: Mapped[str] = mapped_column(String(60))
    place: Mapped[int] = mapped_column(Integer)
    state: Mapped[str] = mapped_column(String(20))
    person: Mapped[str | None] = mapped_column(String(60))
    claimed_until: Mapped[str | None] = mapped_column(String(30))
    round: Mapped[int] = mapped_column(Integer)
    version: Mapped[int] = mapped_column(Integer)
    verdict: Mapped[str] = mapped_column(String(20))
    content: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    reason: Mapped[str] = mapped_column(Text)
    note: Mapped[str] = mapped_column(Text)
    sampled: Mapped[bool] = mapped_column(Boolean)
    check_result: Mapped[str] = mapped_column(String(20))
    checker: Mapped[str] = mapped_column(String(60))
    submitted_at: Mapped[str] = mapped_column(String(30))
    __table_args__ = (
        UniqueConstraint("draft_id", "slot", name="one_work_a_slot"),
        Index("works_to_claim", "state", "place", "slot"),
        Index("works_of_task", "task", "state", "place"),
        Index("works_by_person", "person", "state"),
    )


class Save(Base):
    """A text as somebody typed it; never overwritten.

    Attributes:
        version: the work's version that this save made; for ``conflict`` and ``late`` the version it was based on.
        kind: ``save``, ``conflict`` (lost the race, kept beside), ``late`` (came after the claim had ended).
    """

    __tablename__ = "saves"
    save_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    work_id: Mapped[int] = mapped_column(ForeignKey("works.work_id"))
    person: Mapped[str] = mapped_column(String(60))
    version: Mapped[int] = mapped_column(Integer)
    kind: Mapped[str] = mapped_column(String(20))
    form: Mapped[dict[str, Any]] = mapped_column(JSON)
    at: Mapped[str] = mapped_column(String(30))
    __table_args__ = (Index("saves_by_work", "work_id", "save_id"),)


class Ruling(Base):
    """The decision that stands on a draft (see ``records.decision``)."""

    __tablename__ = "decisions"
    draft_id: Mapped[str] = mapped_column(ForeignKey("entries.draft_id"), primary_key=True)
    task: Mapped[str] = mapped_column(String(60))
    draft_digest: Mapped[str] = mapped_column(String(64))
    verdict: Mapped[str] = mapped_column(String(20))
    content: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    reason: Mapped[str] = mapped_column(Text)
    annotator: Mapped[str] = mapped_column(String(60))
    checker: Mapped[str] = mapped_column(String(60))
    round: Mapped[int] = mapped_column(Integer)
    decided_at: Mapped[str] = mapped_column(String(40))


class RoundShare(Base):
    """One annotator's share of a round, once its spot checks are counted.

    Attributes:
        attempt: 1, and one more each time the share went back.
        seed: the text that seeded the draw.
        drawn, passed: how many were checked, and how many passed; ``passed`` is null before the share is closed.
    """

    __tablename__ = "round_shares"
    round: Mapped[int] = mapped_column(Integer, primary_key=True)
    person: Mapped[str] = mapped_column(String(60), primary_key=True)
    attempt: Mapped[int] = mapped_column(Integer, primary_key=True)
    seed: Mapped[str] = mapped_column(Text)
    drawn: Mapped[int] = mapped_column(Integer)
    passed: Mapped[int | None] = mapped_column(Integer)
    pass_mark: Mapped[float | None] = mapped_column(Float)
    accepted: Mapped[bool] = mapped_column(Boolean)


class Audit(Base):
    """What was done, by whom, to what; triggers refuse every change and deletion."""

    __tablename__ = "audit"
    audit_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    at: Mapped[str] = mapped_column(String(30))
    actor: Mapped[str] = mapped_column(String(60))
    act: Mapped[str] = mapped_column(String(40))
    draft_id: Mapped[str] = mapped_column(String(80))
    work_id: Mapped[int | None] = mapped_column(Integer)
    detail: Mapped[dict[str, Any]] = mapped_column(JSON)
    __table_args__ = (Index("audit_by_draft", "draft_id", "audit_id"),)


class Person(Base):
    """Somebody who may sign in. ``name`` is the queue's name and stands in released decisions: no personal name."""

    __tablename__ = "people"
    name: Mapped[str] = mapped_column(String(60), primary_key=True)
    role: Mapped[str] = mapped_column(String(20))
    password_hash: Mapped[str] = mapped_column(Text)
    active: Mapped[bool] = mapped_column(Boolean)
    created_at: Mapped[str] = mapped_column(String(30))


class SignIn(Base):
    """An open session of the portal; only a hash of the cookie is kept."""

    __tablename__ = "sign_ins"
    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(ForeignKey("people.name"))
    csrf: Mapped[str] = mapped_column(String(64))
    expires_at: Mapped[str] = mapped_column(String(30))


class OutboxEvent(Base):
    """Something that others wait for; written in the transaction that made it true, read by the flows."""

    __tablename__ = "outbox"
    event_id: Mapped[str] = mapped_column(String(120), primary_key=True)
    name: Mapped[str] = mapped_column(String(80))
    payload: Mapped[dict[str, Any]] = mapped_column(JSON)
    created_at: Mapped[str] = mapped_column(String(30))
    delivered_at: Mapped[str | None] = mapped_column(String(30))


class Setting(Base):
    """A setting of the queue by key."""

    __tablename__ = "settings"
    key: Mapped[str] = mapped_column(String(60), primary_key=True)
    value: Mapped[dict[str, Any]] = mapped_column(JSON)
