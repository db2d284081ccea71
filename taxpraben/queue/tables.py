"""The queue's tables. Changes go through a migration in ``migrations/versions``; a test compares both."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    JSON,
    Boolean,
    Dialect,
    Float,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from taxpraben.queue.states import kept


class KeptString(TypeDecorator[str]):
    """A text of some length; one with NUL or half a character is refused before the database can stumble over it."""

    impl: Any = String
    cache_ok = True

    def process_bind_param(self, value: str | None, _dialect: Dialect) -> str | None:
        """Give the text on.

        Raises:
            UnkeptTextError: it cannot be kept.
        """
        return value if value is None else kept(value)


class KeptText(KeptString):
    """As ``KeptString``, of any length."""

    impl: Any = Text
    cache_ok = True


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
        batch: number of the batch within its task, from 1.
        state: a state, or ``filtered``; follows from the entry's works and decision.
    """

    __tablename__ = "entries"
    draft_id: Mapped[str] = mapped_column(KeptString(80), primary_key=True)
    task: Mapped[str] = mapped_column(KeptString(60))
    place: Mapped[int] = mapped_column(Integer)
    document_id: Mapped[str] = mapped_column(KeptString(80))
    origin: Mapped[str] = mapped_column(KeptText)
    slot: Mapped[str] = mapped_column(KeptText)
    method: Mapped[str] = mapped_column(KeptString(20))
    draft_status: Mapped[str] = mapped_column(KeptString(20))
    content: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    digest: Mapped[str] = mapped_column(KeptString(64))
    excerpt: Mapped[dict[str, Any]] = mapped_column(JSON)
    prompt: Mapped[str] = mapped_column(KeptText)
    model: Mapped[str] = mapped_column(KeptText)
    error: Mapped[str] = mapped_column(KeptText)
    active: Mapped[bool] = mapped_column(Boolean)
    state: Mapped[str] = mapped_column(KeptString(20))
    batch: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    __table_args__ = (Index("entries_by_task", "active", "task", "state"),)


class Work(Base):
    """One person's share in judging one entry; an entry has as many as the overlap asks for.

    Attributes:
        work_id: drawn at random, so that a gold item cannot be told from its number.
        slot: 0 for the first judgement of the entry, 1 for the second, and so on.
        version: number of the last save; a save or ruling must name it.
        verdict, content, reason: what was submitted, empty before.
        note: why it was returned, or skipped.
        sampled: drawn for a spot check in its round.
        check_result: ``passed``, ``failed`` or ``mended`` (passed after a failure) by the checker, else empty.
        batch: the entry's batch.
        gold: the draft is settled, and this work only measures the person; it never becomes a decision.
        gold_right, gold_exact: the first submission gave the known verdict, and the known content; null before.
    """

    __tablename__ = "works"
    work_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    draft_id: Mapped[str] = mapped_column(ForeignKey("entries.draft_id"))
    slot: Mapped[int] = mapped_column(Integer)
    task: Mapped[str] = mapped_column(KeptString(60))
    place: Mapped[int] = mapped_column(Integer)
    state: Mapped[str] = mapped_column(KeptString(20))
    person: Mapped[str | None] = mapped_column(KeptString(60))
    claimed_until: Mapped[str | None] = mapped_column(KeptString(30))
    round: Mapped[int] = mapped_column(Integer)
    version: Mapped[int] = mapped_column(Integer)
    verdict: Mapped[str] = mapped_column(KeptString(20))
    content: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    reason: Mapped[str] = mapped_column(KeptText)
    note: Mapped[str] = mapped_column(KeptText)
    sampled: Mapped[bool] = mapped_column(Boolean)
    check_result: Mapped[str] = mapped_column(KeptString(20))
    checker: Mapped[str] = mapped_column(KeptString(60))
    submitted_at: Mapped[str] = mapped_column(KeptString(30))
    batch: Mapped[int] = mapped_column(Integer, server_default="1", default=1)
    gold: Mapped[bool] = mapped_column(Boolean, server_default=false(), default=False)
    gold_right: Mapped[bool | None] = mapped_column(Boolean)
    gold_exact: Mapped[bool | None] = mapped_column(Boolean)
    __table_args__ = (
        UniqueConstraint("draft_id", "slot", name="one_work_a_slot"),
        Index("works_to_claim", "state", "place", "slot"),
        Index("works_of_task", "task", "state", "place"),
        Index("works_by_person", "person", "state"),
        Index("works_to_expire", "state", "claimed_until"),
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
    person: Mapped[str] = mapped_column(KeptString(60))
    version: Mapped[int] = mapped_column(Integer)
    kind: Mapped[str] = mapped_column(KeptString(20))
    form: Mapped[dict[str, Any]] = mapped_column(JSON)
    at: Mapped[str] = mapped_column(KeptString(30))
    __table_args__ = (Index("saves_by_work", "work_id", "save_id"),)


class Ruling(Base):
    """The decision that stands on a draft (see ``records.decision``)."""

    __tablename__ = "decisions"
    draft_id: Mapped[str] = mapped_column(ForeignKey("entries.draft_id"), primary_key=True)
    task: Mapped[str] = mapped_column(KeptString(60))
    draft_digest: Mapped[str] = mapped_column(KeptString(64))
    verdict: Mapped[str] = mapped_column(KeptString(20))
    content: Mapped[dict[str, Any] | None] = mapped_column(JSON(none_as_null=True))
    reason: Mapped[str] = mapped_column(KeptText)
    annotator: Mapped[str] = mapped_column(KeptString(60))
    checker: Mapped[str] = mapped_column(KeptString(60))
    round: Mapped[int] = mapped_column(Integer)
    decided_at: Mapped[str] = mapped_column(KeptString(40))


class RoundShare(Base):
    """One annotator's share of a round, once its spot checks are counted.

    Attributes:
        attempt: 1, and one more each time the share went back.
        seed: the text that seeded the draw.
        drawn, passed: how many were checked, and how many passed; ``passed`` is null before the share is closed.
    """

    __tablename__ = "round_shares"
    round: Mapped[int] = mapped_column(Integer, primary_key=True)
    person: Mapped[str] = mapped_column(KeptString(60), primary_key=True)
    attempt: Mapped[int] = mapped_column(Integer, primary_key=True)
    seed: Mapped[str] = mapped_column(KeptText)
    drawn: Mapped[int] = mapped_column(Integer)
    passed: Mapped[int | None] = mapped_column(Integer)
    pass_mark: Mapped[float | None] = mapped_column(Float)
    accepted: Mapped[bool] = mapped_column(Boolean)


class Audit(Base):
    """What was done, by whom, to what; triggers refuse every change and deletion."""

    __tablename__ = "audit"
    audit_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    at: Mapped[str] = mapped_column(KeptString(30))
    actor: Mapped[str] = mapped_column(KeptString(60))
    act: Mapped[str] = mapped_column(KeptString(40))
    draft_id: Mapped[str] = mapped_column(KeptString(80))
    work_id: Mapped[int | None] = mapped_column(Integer)
    detail: Mapped[dict[str, Any]] = mapped_column(JSON)
    __table_args__ = (Index("audit_by_draft", "draft_id", "audit_id"),)


class Person(Base):
    """Somebody who may sign in. ``name`` is the queue's name and stands in released decisions: no personal name."""

    __tablename__ = "people"
    name: Mapped[str] = mapped_column(KeptString(60), primary_key=True)
    role: Mapped[str] = mapped_column(KeptString(20))
    password_hash: Mapped[str] = mapped_column(KeptText)
    active: Mapped[bool] = mapped_column(Boolean)
    created_at: Mapped[str] = mapped_column(KeptString(30))


class SignIn(Base):
    """An open session of the portal; only a hash of the cookie is kept."""

    __tablename__ = "sign_ins"
    token_hash: Mapped[str] = mapped_column(KeptString(64), primary_key=True)
    name: Mapped[str] = mapped_column(ForeignKey("people.name"))
    csrf: Mapped[str] = mapped_column(KeptString(64))
    expires_at: Mapped[str] = mapped_column(KeptString(30))


class OutboxEvent(Base):
    """Something that others wait for; written in the transaction that made it true, read by the flows."""

    __tablename__ = "outbox"
    event_id: Mapped[str] = mapped_column(KeptString(120), primary_key=True)
    name: Mapped[str] = mapped_column(KeptString(80))
    payload: Mapped[dict[str, Any]] = mapped_column(JSON)
    created_at: Mapped[str] = mapped_column(KeptString(30))
    delivered_at: Mapped[str | None] = mapped_column(KeptString(30))


class Setting(Base):
    """A setting of the queue by key."""

    __tablename__ = "settings"
    key: Mapped[str] = mapped_column(KeptString(60), primary_key=True)
    value: Mapped[dict[str, Any]] = mapped_column(JSON)


class Comment(Base):
    """A word about a work, between its annotator and the checkers."""

    __tablename__ = "comments"
    comment_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    work_id: Mapped[int] = mapped_column(ForeignKey("works.work_id"))
    draft_id: Mapped[str] = mapped_column(ForeignKey("entries.draft_id"))
    person: Mapped[str] = mapped_column(KeptString(60))
    text: Mapped[str] = mapped_column(KeptText)
    at: Mapped[str] = mapped_column(KeptString(30))
    __table_args__ = (Index("comments_by_work", "work_id", "comment_id"), Index("comments_by_draft", "draft_id"))


class GoldDraft(Base):
    """A settled draft that is mixed in unseen to measure people; its decision is the known answer."""

    __tablename__ = "gold"
    draft_id: Mapped[str] = mapped_column(ForeignKey("entries.draft_id"), primary_key=True)
    added_by: Mapped[str] = mapped_column(KeptString(60))
    added_at: Mapped[str] = mapped_column(KeptString(30))


class Prompt(Base):
    """A prompt that people rate before a task may use it. ``prompt_id`` follows from task and text."""

    __tablename__ = "prompts"
    prompt_id: Mapped[str] = mapped_column(KeptString(80), primary_key=True)
    task: Mapped[str] = mapped_column(KeptString(60))
    number: Mapped[int] = mapped_column(Integer)
    text: Mapped[str] = mapped_column(KeptText)
    active: Mapped[bool] = mapped_column(Boolean)
    added_by: Mapped[str] = mapped_column(KeptString(60))
    added_at: Mapped[str] = mapped_column(KeptString(30))
    __table_args__ = (UniqueConstraint("task", "number", name="one_prompt_a_number"),)


class PromptRound(Base):
    """A round of the rating of one task's prompts; ``closed_at`` freezes its ratings."""

    __tablename__ = "prompt_rounds"
    task: Mapped[str] = mapped_column(KeptString(60), primary_key=True)
    round: Mapped[int] = mapped_column(Integer, primary_key=True)
    seed: Mapped[str] = mapped_column(KeptText)
    closed_at: Mapped[str | None] = mapped_column(KeptString(30))


class PromptRating(Base):
    """One person's questionnaire on one prompt in one round; the three marks are null until it is filled in."""

    __tablename__ = "prompt_ratings"
    prompt_id: Mapped[str] = mapped_column(ForeignKey("prompts.prompt_id"), primary_key=True)
    person: Mapped[str] = mapped_column(KeptString(60), primary_key=True)
    round: Mapped[int] = mapped_column(Integer, primary_key=True)
    accuracy: Mapped[int | None] = mapped_column(Integer)
    naturalness: Mapped[int | None] = mapped_column(Integer)
    informativeness: Mapped[int | None] = mapped_column(Integer)
    note: Mapped[str] = mapped_column(KeptText)
    rated_at: Mapped[str | None] = mapped_column(KeptString(30))
    __table_args__ = (Index("ratings_by_person", "person", "round"),)


class Invitation(Base):
    """A way in, once and until a time; only a hash of its secret is kept."""

    __tablename__ = "invitations"
    token_id: Mapped[str] = mapped_column(KeptString(32), primary_key=True)
    token_hash: Mapped[str] = mapped_column(KeptString(64), unique=True)
    name: Mapped[str] = mapped_column(KeptString(60))
    role: Mapped[str] = mapped_column(KeptString(20))
    created_by: Mapped[str] = mapped_column(KeptString(60))
    created_at: Mapped[str] = mapped_column(KeptString(30))
    expires_at: Mapped[str] = mapped_column(KeptString(30))
    used_at: Mapped[str | None] = mapped_column(KeptString(30))
    revoked_at: Mapped[str | None] = mapped_column(KeptString(30))


class ApiToken(Base):
    """A person's key to the API; only a hash is kept. ``scope`` is ``read`` or ``write``."""

    __tablename__ = "api_tokens"
    token_id: Mapped[str] = mapped_column(KeptString(32), primary_key=True)
    token_hash: Mapped[str] = mapped_column(KeptString(64), unique=True)
    name: Mapped[str] = mapped_column(ForeignKey("people.name"))
    label: Mapped[str] = mapped_column(KeptString(80))
    scope: Mapped[str] = mapped_column(KeptString(20))
    created_at: Mapped[str] = mapped_column(KeptString(30))
    expires_at: Mapped[str] = mapped_column(KeptString(30))
    last_used_at: Mapped[str | None] = mapped_column(KeptString(30))
    revoked_at: Mapped[str | None] = mapped_column(KeptString(30))


class Identity(Base):
    """An account elsewhere (OpenID Connect) that signs somebody in."""

    __tablename__ = "identities"
    issuer: Mapped[str] = mapped_column(KeptString(200), primary_key=True)
    subject: Mapped[str] = mapped_column(KeptString(200), primary_key=True)
    name: Mapped[str] = mapped_column(ForeignKey("people.name"))
    email: Mapped[str] = mapped_column(KeptString(200))
    linked_at: Mapped[str] = mapped_column(KeptString(30))


class SignInAttempt(Base):
    """A failed sign-in by name or by address, counted over all processes."""

    __tablename__ = "sign_in_attempts"
    attempt_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    subject: Mapped[str] = mapped_column(KeptString(120))
    at: Mapped[str] = mapped_column(KeptString(30))
    __table_args__ = (Index("attempts_by_subject", "subject", "at"),)


class Webhook(Base):
    """An address that hears of events. ``secret_env`` names the environment variable that holds its secret."""

    __tablename__ = "webhooks"
    webhook_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    url: Mapped[str] = mapped_column(KeptText)
    events: Mapped[list[str]] = mapped_column(JSON)
    secret_env: Mapped[str] = mapped_column(KeptString(80))
    active: Mapped[bool] = mapped_column(Boolean)
    created_by: Mapped[str] = mapped_column(KeptString(60))
    created_at: Mapped[str] = mapped_column(KeptString(30))


class Delivery(Base):
    """One event on its way to one webhook. ``state`` is ``waiting``, ``delivered`` or ``failed`` (given up)."""

    __tablename__ = "deliveries"
    delivery_id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=True)
    webhook_id: Mapped[int] = mapped_column(ForeignKey("webhooks.webhook_id"))
    event_id: Mapped[str] = mapped_column(ForeignKey("outbox.event_id"))
    attempts: Mapped[int] = mapped_column(Integer)
    state: Mapped[str] = mapped_column(KeptString(20))
    next_at: Mapped[str] = mapped_column(KeptString(30))
    last_error: Mapped[str] = mapped_column(KeptText)
    delivered_at: Mapped[str | None] = mapped_column(KeptString(30))
    __table_args__ = (
        UniqueConstraint("webhook_id", "event_id", name="one_delivery_a_hook"),
        Index("deliveries_due", "state", "next_at"),
    )
