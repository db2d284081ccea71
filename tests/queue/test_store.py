"""The database itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from queue_samples import Clock, fill
from sqlalchemy import text
from sqlalchemy.exc import DatabaseError

from taxpraben.queue.people import close_session, create_person, find_session, open_session, set_password, verify
from taxpraben.queue.states import QueueError
from taxpraben.queue.store import HEAD, Queue, StoreError, open_queue, schema_version
from taxpraben.queue.tables import Base


def test_migrations_make_exactly_the_tables_that_the_code_knows(queue: Queue) -> None:
    with queue.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), Base.metadata) == []
    assert schema_version(queue) == HEAD


@pytest.mark.parametrize(
    "act",
    [
        "UPDATE audit SET actor = 'x'",
        "DELETE FROM audit",
        "REPLACE INTO audit SELECT audit_id, at, 'x', act, draft_id, work_id, detail FROM audit",
        "TRUNCATE audit",
    ],
)
def test_the_audit_log_refuses_changes(queue: Queue, act: str) -> None:
    if (act.startswith("REPLACE") and queue.locks_rows) or (act.startswith("TRUNCATE") and not queue.locks_rows):
        pytest.skip("the other database's word")
    fill(queue, 1)
    with pytest.raises(DatabaseError, match="audit only grows"), queue.write() as session:
        session.execute(text(act))


def test_a_queue_made_by_a_newer_version_is_refused_by_name(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'queue.sqlite'}"
    queue = open_queue(url)
    with queue.write() as session:
        session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    queue.close()
    with pytest.raises(StoreError, match="'9999' is not known"):
        open_queue(url)


def test_a_wrong_address_is_named_without_its_password() -> None:
    with pytest.raises(StoreError, match="expected sqlite") as raised:
        open_queue("nosuchdatabase://somebody:secret@host/base")
    assert "secret" not in str(raised.value)


def test_sqlite_keeps_a_write_ahead_log(tmp_path: Path) -> None:
    queue = open_queue(f"sqlite:///{tmp_path / 'queue.sqlite'}")
    with queue.read() as session:
        assert session.execute(text("PRAGMA journal_mode")).scalar() == "wal"
    queue.close()


def test_a_password_is_kept_as_an_argon2_hash_and_verified(queue: Queue) -> None:
    create_person(queue, "a01", "annotator", "四个字的密码不够长")
    with queue.read() as session:
        assert str(session.execute(text("SELECT password_hash FROM people")).scalar()).startswith("$argon2id$")
    assert verify(queue, "a01", "wrong password") is None
    assert verify(queue, "a02", "四个字的密码不够长") is None
    member = verify(queue, "a01", "四个字的密码不够长")
    assert member is not None
    assert member.role == "annotator"


@pytest.mark.parametrize(
    ("name", "role", "password", "cause"),
    [
        ("a 01", "annotator", "long enough", "unfit"),
        ("a01", "boss", "long enough", "Unknown role"),
        ("a01", "annotator", "short", "at least 8"),
    ],
)
def test_unfit_people_are_refused_with_the_cause(queue: Queue, name: str, role: str, password: str, cause: str) -> None:
    with pytest.raises(QueueError, match=cause):
        create_person(queue, name, role, password)


def test_a_session_ends_by_time_by_signing_out_and_by_a_new_password(queue: Queue, clock: Clock) -> None:
    create_person(queue, "a01", "annotator", "long enough")
    first, second, third = (open_session(queue, "a01") for _ in range(3))
    close_session(queue, first)
    assert find_session(queue, first) is None
    assert find_session(queue, second) is not None
    set_password(queue, "a01", "longer still", "admin")
    assert find_session(queue, third) is None
    fourth = open_session(queue, "a01")
    clock.move(13 * 60)
    assert find_session(queue, fourth) is None


@pytest.mark.parametrize(
    "url",
    [
        "postgresql+psycopg://u:geheim@127.0.0.1:1/db",
        "postgresql+psycopg://u@127.0.0.1:1/db?password=geheim",
        "postgresql+psycopg://u:pw@127.0.0.1:1/db?nonsense=geheim",
        "postgresql+psycopg://u:geheim/xy@127.0.0.1/db",
        "postgresql+psycopg://u:12/geheim@127.0.0.1/db",
        "nosuch://u:geheim@127.0.0.1/db",
        "postgresql geheim",
    ],
)
def test_an_address_that_does_not_work_is_one_clear_line_without_its_password(url: str) -> None:
    with pytest.raises(StoreError) as failed:
        open_queue(url)
    assert str(failed.value).startswith("Queue")
    assert "geheim" not in str(failed.value)
