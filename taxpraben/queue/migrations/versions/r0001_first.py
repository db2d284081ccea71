"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

FROZEN_SQLITE = "CREATE TRIGGER audit_no_{act} BEFORE {act} ON audit BEGIN SELECT RAISE(ABORT, 'audit only grows'); END"
FROZEN_POSTGRES = """
CREATE FUNCTION audit_only_grows() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'audit only grows'; END $$
LANGUAGE plpgsql;
CREATE TRIGGER audit_frozen BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
FOR EACH STATEMENT EXECUTE FUNCTION audit_only_grows();
"""


def upgrade() -> None:
    """Make all tables."""
    op.create_table(
        "entries",
        sa.Column("draft_id", sa.String(80), primary_key=True),
        sa.Column("task", sa.String(60), nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("document_id", sa.String(80), nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.Column("slot", sa.Text, nullable=False),
        sa.Column("method", sa.String(20), nullable=False),
        sa.Column("draft_status", sa.String(20), nullable=False),
        sa.Column("content", sa.JSON(none_as_null=True)),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("excerpt", sa.JSON, nullable=False),
        sa.Column("prompt", sa.Text, nullable=False),
        sa.Column("model", sa.Text, nullable=False),
        sa.Column("error", sa.Text, nullable=False),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
    )
    op.create_index("entries_by_task", "entries", ["active", "task", "state"])
    op.create_table(
        "works",
        sa.Column("work_id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("draft_id", sa.String(80), sa.ForeignKey("entries.draft_id"), nullable=False),
        sa.Column("slot", sa.Integer, nullable=False),
        sa.Column("task", sa.String(60), nullable=False),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("state", sa.String(20), nullable=False),
        sa.Column("person", sa.String(60)),
        sa.Column("claimed_until", sa.String(30)),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("verdict", sa.String(20), nullable=False),
        sa.Column("content", sa.JSON(none_as_null=True)),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("sampled", sa.Boolean, nullable=False),
        sa.Column("check_result", sa.String(20), nullable=False),
        sa.Column("checker", sa.String(60), nullable=False),
        sa.Column("submitted_at", sa.String(30), nullable=False),
        sa.UniqueConstraint("draft_id", "slot", name="one_work_a_slot"),
    )
    op.create_index("works_to_claim", "works", ["state", "place", "slot"])
    op.create_index("works_of_task", "works", ["task", "state", "place"])
    op.create_index("works_by_person", "works", ["person", "state"])
    op.create_table(
        "saves",
        sa.Column("save_id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("work_id", sa.Integer, sa.ForeignKey("works.work_id"), nullable=False),
        sa.Column("person", sa.String(60), nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(20), nullable=False),
        sa.Column("form", sa.JSON, nullable=False),
        sa.Column("at", sa.String(30), nullable=False),
    )
    op.create_index("saves_by_work", "saves", ["work_id", "save_id"])
    op.create_table(
        "decisions",
        sa.Column("draft_id", sa.String(80), sa.ForeignKey("entries.draft_id"), primary_key=True),
        sa.Column("task", sa.String(60), nullable=False),
        sa.Column("draft_digest", sa.String(64), nullable=False),
        sa.Column("verdict", sa.String(20), nullable=False),
        sa.Column("content", sa.JSON(none_as_null=True)),
        sa.Column("reason", sa.Text, nullable=False),
        sa.Column("annotator", sa.String(60), nullable=False),
        sa.Column("checker", sa.String(60), nullable=False),
        sa.Column("round", sa.Integer, nullable=False),
        sa.Column("decided_at", sa.String(40), nullable=False),
    )
    op.create_table(
        "round_shares",
        sa.Column("round", sa.Integer, primary_key=True),
        sa.Column("person", sa.String(60), primary_key=True),
        sa.Column("attempt", sa.Integer, primary_key=True),
        sa.Column("seed", sa.Text, nullable=False),
        sa.Column("drawn", sa.Integer, nullable=False),
        sa.Column("passed", sa.Integer),
        sa.Column("pass_mark", sa.Float),
        sa.Column("accepted", sa.Boolean, nullable=False),
    )
    op.create_table(
        "audit",
        sa.Column("audit_id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("at", sa.String(30), nullable=False),
        sa.Column("actor", sa.String(60), nullable=False),
        sa.Column("act", sa.String(40), nullable=False),
        sa.Column("draft_id", sa.String(80), nullable=False),
        sa.Column("work_id", sa.Integer),
        sa.Column("detail", sa.JSON, nullable=False),
    )
    op.create_index("audit_by_draft", "audit", ["draft_id", "audit_id"])
    op.create_table(
        "people",
        sa.Column("name", sa.String(60), primary_key=True),
        sa.Column("role", sa.String(20), nullable=False),
        sa.Column("password_hash", sa.Text, nullable=False),
        sa.Column("active", sa.Boolean, nullable=False),
        sa.Column("created_at", sa.String(30), nullable=False),
    )
    op.create_table(
        "sign_ins",
        sa.Column("token_hash", sa.String(64), primary_key=True),
        sa.Column("name", sa.String(60), sa.ForeignKey("people.name"), nullable=False),
        sa.Column("csrf", sa.String(64), nullable=False),
        sa.Column("expires_at", sa.String(30), nullable=False),
    )
    op.create_table(
        "outbox",
        sa.Column("event_id", sa.String(120), primary_key=True),
        sa.Column("name", sa.String(80), nullable=False),
        sa.Column("payload", sa.JSON, nullable=False),
        sa.Column("created_at", sa.String(30), nullable=False),
        sa.Column("delivered_at", sa.String(30)),
    )
    op.create_table(
        "settings",
        sa.Column("key", sa.String(60), primary_key=True),
        sa.Column("value", sa.JSON, nullable=False),
    )
    if op.get_bind().dialect.name == "sqlite":
        for act in ("UPDATE", "DELETE"):
            op.execute(FROZEN_SQLITE.format(act=act))
    else:
        op.execute(FROZEN_POSTGRES)


def downgrade() -> None:
    """There is nothing before the first schema."""
    raise NotImplementedError("0001 is the first schema; remove the database instead")
