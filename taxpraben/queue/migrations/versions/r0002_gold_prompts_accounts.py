"""Batches and gold items; comments; prompt rating; invitations, API tokens, identities, attempts; webhooks."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"

# `REPLACE INTO` deletes a row without firing SQLite's delete trigger.
NO_REPLACE = """
CREATE TRIGGER audit_no_replace BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE audit_id = NEW.audit_id)
BEGIN SELECT RAISE(ABORT, 'audit only grows'); END
"""


def upgrade() -> None:
    """Add what the portal's later parts need."""
    op.add_column("entries", sa.Column("batch", sa.Integer, nullable=False, server_default="1"))
    op.add_column("works", sa.Column("batch", sa.Integer, nullable=False, server_default="1"))
    op.add_column("works", sa.Column("gold", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("works", sa.Column("gold_right", sa.Boolean))
    op.add_column("works", sa.Column("gold_exact", sa.Boolean))
    op.create_index("works_to_expire", "works", ["state", "claimed_until"])
    op.create_table(
        "comments",
        sa.Column("comment_id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("work_id", sa.Integer, sa.ForeignKey("works.work_id"), nullable=False),
        sa.Column("draft_id", sa.String(80), sa.ForeignKey("entries.draft_id"), nullable=False),
        sa.Column("person", sa.String(60), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("at", sa.String(30), nullable=False),
    )
    op.create_index("comments_by_work", "comments", ["work_id", "comment_id"])
    op.create_index("comments_by_draft", "comments", ["draft_id"])
    op.create_table(
        "gold",
        sa.Column("draft_id", sa.String(80), sa.ForeignKey("entries.draft_id"), primary_key=True),
        sa.Column("added_by", sa.String(60), nullable=False),
        sa.Column("added_at", sa.String(30), nullable=False),
    )
    _prompts()
    _accounts()
    _webhooks()
    if op.get_bind().dialect.name == "sqlite":
        op.execute(NO_REPLACE)


def _prompts() -> None:
    op.create_table(
        "prompts",
        sa.Column("prompt_id", sa.String(80), primary_key=True),
        sa.Column("task", sa.String(60), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("added_by", sa.String(60), nullable=False),
        sa.Column("added_at", sa.String(30), nullable=False),
        sa.UniqueConstraint("task", "number", name="one_prompt_a_number"),
    )
    op.create_table(
        "prompt_rounds",
        sa.Column("task", sa.String(60), primary_key=True),
        sa.Column("round", sa.Integer, primary_key=True),
        sa.Column("seed", sa.Text, nullable=False),
        sa.Column("closed_at", sa.String(30)),
    )
    op.create_table(
        "prompt_ratings",
        sa.Column("prompt_id", sa.String(80), sa.ForeignKey("prompts.prompt_id"), primary_key=True),
        sa.Column("person", sa.String(60), primary_key=True),
        sa.Column("round", sa.Integer, primary_key=True),
        sa.Column("accuracy", sa.Integer),
        sa.Column("naturalness", sa.Integer),
        sa.Column("informativeness", sa.Integer),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("rated_at", sa.String(30)),
    )
    op.create_index("ratings_by_person", "prompt_ratings", ["person", "round"])


def _accounts() -> None:
    op.create_table(
        "invitations",
        sa.Column("token_id", sa.String(32), primary_key=True),
        sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("created_by", sa.String(60), nullable=False),
        sa.Column("created_at", sa.String(30), nullable=False),
        sa.Column("expires_at", sa.String(30), nullable=False),
        sa.Column("used_at", sa.String(30)),
        sa.Column("revoked_at", sa.String(30)),
    )
    op.create_table(
        "api_tokens",
        sa.Column("token_id", sa.String(32), primary_key=True),
        sa.Column("token_hash", sa.String(64), nullable=False, unique=True),
        sa.Column("name", sa.String(60), sa.ForeignKey("people.name"), nullable=False),
        sa.Column("label", sa.String(80), nullable=False),
        sa.Column("scope", sa.String(20), nullable=False),
        sa.Column("created_at", sa.String(30), nullable=False),
        sa.Column("expires_at", sa.String(30), nullable=False),
        sa.Column("last_used_at", sa.String(30)),
        sa.Column("revoked_at", sa.String(30)),
    )
    op.create_table(
        "identities",
        sa.Column("issuer", sa.String(200), primary_key=True),
        sa.Column("subject", sa.String(200), primary_key=True),
        sa.Column("name", sa.String(60), sa.ForeignKey("people.name"), nullable=False),
        sa.Column("email", sa.String(200), nullable=False),
        sa.Column("linked_at", sa.String(30), nullable=False),
    )
    op.create_table(
        "sign_in_attempts",
        sa.Column("attempt_id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("subject", sa.String(120), nullable=False),
        sa.Column("at", sa.String(30), nullable=False),
    )
    op.create_index("attempts_by_subject", "sign_in_attempts", ["subject", "at"])


def _webhooks() -> None:
    op.create_table(
        "webhooks",
        sa.Column("webhook_id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("url", sa.Text, nullable=False),
        sa.Column("events", sa.JSON, nullable=False),
        sa.Column("secret_env", sa.String(80), nullable=False),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("created_by", sa.String(60), nullable=False),
        sa.Column("created_at", sa.String(30), nullable=False),
    )
    op.create_table(
        "deliveries",
        sa.Column("delivery_id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("webhook_id", sa.Integer, sa.ForeignKey("webhooks.webhook_id"), nullable=False),
        sa.Column("event_id", sa.String(120), sa.ForeignKey("outbox.event_id"), nullable=False),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("next_at", sa.String(30), nullable=False),
        sa.Column("last_error", sa.Text, nullable=False),
        sa.Column("delivered_at", sa.String(30)),
        sa.UniqueConstraint("webhook_id", "event_id", name="one_delivery_a_hook"),
    )
    op.create_index("deliveries_due", "deliveries", ["state", "next_at"])


def downgrade() -> None:
    """A queue is not taken back to an older schema: restore a backup instead."""
    raise NotImplementedError("the queue's schema goes forward only; restore a backup made before the upgrade")
