"""The whole queue as one file, from either database and into either.

The file is gzipped JSON lines: a head (format, schema revision, time, rows a table), every row of every table in the
order of its key, and a foot with the SHA-256 of all that stands before it. It holds password hashes: keep it as safe as
the database.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, MetaData, Table, func, inspect, select, text

from taxpraben.queue.states import QueueError
from taxpraben.queue.store import Queue, migrate_within
from taxpraben.queue.tables import Base

FORMAT = "taxpraben-queue-backup-1"
CHUNK = 500


class BackupError(QueueError):
    """A backup that cannot be written or is not whole."""


@dataclass(frozen=True)
class Contents:
    """What a backup holds: the schema's revision, when it was made, the number of rows by table, and its checksum."""

    revision: str
    made_at: str
    rows: dict[str, int]
    checksum: str

    @property
    def total(self) -> int:
        """Rows in all."""
        return sum(self.rows.values())


def backup(queue: Queue, path: Path, force: bool = False) -> Contents:
    """Write the whole queue to a file, as it is at one moment, while people work on.

    The file appears whole or not at all, readable by its owner alone, and is read again to be sure.

    Raises:
        BackupError: the file is there already and ``force`` was not given.
    """
    if path.exists() and not force:
        raise BackupError(f"{path} is there already; choose another name, or overwrite it with --force")
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    partial.unlink(missing_ok=True)
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    digest = hashlib.sha256()
    # One snapshot for all tables: SQLite's read transaction is one, PostgreSQL has to be asked for it.
    isolation = {"isolation_level": "REPEATABLE READ"} if queue.locks_rows else {}
    with (
        os.fdopen(descriptor, "wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as stream,
        queue.engine.connect().execution_options(**isolation) as connection,
        connection.begin(),
    ):

        def put(line: dict[str, Any]) -> None:
            encoded = (json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n").encode()
            digest.update(encoded)
            stream.write(encoded)

        tables = Base.metadata.sorted_tables
        rows = {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one() for table in tables
        }
        revision = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one()
        put({"format": FORMAT, "revision": revision, "made_at": queue.now(), "rows": rows})
        for table in tables:
            for row in connection.execute(select(table).order_by(*table.primary_key.columns)).mappings():
                put({"table": table.name, "row": dict(row)})
        checksum = digest.hexdigest()
        put({"sha256": checksum})
    partial.replace(path)
    return inspect_backup(path)


def inspect_backup(path: Path) -> Contents:
    """Read a backup through and check that it is whole.

    Raises:
        BackupError: it is missing, no backup, cut off or damaged.
    """
    for _ in (lines := _Lines(path)).rows():
        pass
    return lines.contents()


class _Lines:
    """The rows of a backup; after the last one, what it held, checked against its head and foot."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._head: dict[str, Any] = {}
        self._counted: dict[str, int] = {}
        self._checksum = ""

    def _bad(self, cause: str) -> BackupError:
        return BackupError(f"{self._path}: {cause}; take another backup")

    def head(self) -> dict[str, Any]:
        """The head alone."""
        for _ in self.rows():
            break
        return self._head

    def rows(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Pairs of a table's name and a row."""
        if not self._path.exists():
            raise BackupError(f"{self._path}: no such file")
        digest = hashlib.sha256()
        self._counted = {}
        try:
            with gzip.open(self._path, "rb") as stream:
                first = stream.readline()
                self._head = json.loads(first)
                if not isinstance(self._head, dict) or self._head.get("format") != FORMAT:
                    raise self._bad("no backup of a review queue")
                digest.update(first)
                for line in stream:
                    parsed = json.loads(line)
                    if "sha256" in parsed:
                        self._checksum = parsed["sha256"]
                        if self._checksum != digest.hexdigest():
                            raise self._bad("its checksum is wrong, so it is damaged")
                        if stream.read(1):
                            raise self._bad("something follows its end")
                        break
                    digest.update(line)
                    table = parsed["table"]
                    self._counted[table] = self._counted.get(table, 0) + 1
                    yield table, parsed["row"]
        except (OSError, EOFError, ValueError, KeyError) as error:
            if isinstance(error, BackupError):
                raise
            raise self._bad(f"cut off or damaged ({error})") from error

    def contents(self) -> Contents:
        """What was read, once ``rows`` has ended."""
        if not self._checksum:
            raise self._bad("cut off: its end is missing")
        expected = {table: count for table, count in self._head["rows"].items() if count}
        if expected != self._counted:
            raise self._bad("its counts are wrong, so it is damaged")
        return Contents(self._head["revision"], self._head["made_at"], dict(self._head["rows"]), self._checksum)


def restore(queue: Queue, path: Path, force: bool = False) -> Contents:
    """Put a backup in the place of the queue's contents, all of it or nothing, and compare the counts.

    A backup of an older schema is brought to the present one. Stop the portal first.

    Raises:
        BackupError: the backup is damaged or newer, or the queue holds something and ``force`` was not given.
    """
    contents = inspect_backup(path)
    with queue.writer.begin() as connection:
        if queue.locks_rows:
            connection.execute(text("SELECT pg_advisory_xact_lock(72461)"))
        present = _held(connection)
        if present and not force:
            raise BackupError(
                f"The queue holds {present} drafts and people; take a backup of it, then restore with --force"
            )
        _drop_all(connection)
        migrate_within(connection, contents.revision)
        _fill(connection, _Lines(path))
        migrate_within(connection, "head")
        _mend_counters(connection)
        _compare(connection, contents)
    return contents


def _held(connection: Connection) -> int:
    names = set(inspect(connection).get_table_names())
    return sum(
        connection.execute(select(func.count()).select_from(Base.metadata.tables[name])).scalar_one()
        for name in ("entries", "people")
        if name in names
    )


def _drop_all(connection: Connection) -> None:
    # By reflection: the database may be of another revision. Dropping takes the audit log's triggers along. Tables of
    # somebody else in the same database stay.
    there = MetaData()
    ours = {*Base.metadata.tables, "alembic_version"}
    there.reflect(connection, only=lambda name, _metadata: name in ours)
    there.drop_all(connection)
    if connection.dialect.name == "postgresql":
        connection.execute(text("DROP FUNCTION IF EXISTS audit_only_grows() CASCADE"))


def _fill(connection: Connection, lines: _Lines) -> None:
    there = MetaData()
    there.reflect(connection)
    waiting: list[dict[str, Any]] = []
    of = ""
    for name, row in lines.rows():
        if name != of or len(waiting) >= CHUNK:
            _insert(connection, there, of, waiting)
            waiting, of = [], name
        waiting.append(row)
    _insert(connection, there, of, waiting)


def _insert(connection: Connection, there: MetaData, name: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    if name not in there.tables:
        raise BackupError(f"The backup holds a table {name!r} that its schema does not have")
    # With the code's column types where it has them: a JSON null and no value are not the same.
    known = Base.metadata.tables.get(name)
    table: Table = there.tables[name]
    for column in table.columns:
        if known is not None and column.name in known.columns:
            column.type = known.columns[column.name].type
    connection.execute(table.insert(), rows)


def _mend_counters(connection: Connection) -> None:
    """PostgreSQL's sequences do not see numbers that were given; set them behind the highest."""
    if connection.dialect.name != "postgresql":
        return
    for table in Base.metadata.sorted_tables:
        column = table.autoincrement_column
        if column is None:
            continue
        connection.execute(
            text(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', '{column.name}'), "  # noqa: S608  # own names
                f"(SELECT COALESCE(MAX({column.name}), 0) + 1 FROM {table.name}), false)"
            )
        )


def _compare(connection: Connection, contents: Contents) -> None:
    for name, count in contents.rows.items():
        table = Base.metadata.tables.get(name)
        if table is None:
            continue
        found = connection.execute(select(func.count()).select_from(table)).scalar_one()
        if found != count:
            raise BackupError(f"Table {name}: {found} rows arrived of {count}; nothing was changed")
