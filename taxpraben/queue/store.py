"""The queue's database: SQLite with a write-ahead log, or PostgreSQL by URL; one schema, migrated on opening."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, inspect, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry

from taxpraben.queue.states import QueueError

HEAD = "0002"
"""The schema's revision that this code works on."""

BUSY_SECONDS = 30
"""How long SQLite waits for another writer before it gives up."""


class StoreError(QueueError):
    """A database that cannot be opened or is not of this version."""


def utc_now() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> str:
    """A time as the tables hold it: ISO 8601, UTC, milliseconds, one width."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


@dataclass(frozen=True)
class Queue:
    """An open queue; safe to share between threads.

    Attributes:
        engine: for reading; ``writer`` is the same pool, but SQLite takes the write lock at the start.
        clock: gives the time; tests put their own.
        turn: held while one writes in SQLite, so that this process's threads wait in line; SQLite itself lets them
            ask again and again after pauses, and some wait for seconds.
    """

    engine: Engine
    writer: Engine
    clock: Callable[[], datetime] = field(default=utc_now)
    turn: AbstractContextManager[object] = field(default_factory=nullcontext)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session for reading alone; in SQLite it sees one state, in PostgreSQL each statement the latest one."""
        with Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """A session whose changes are kept together when the block ends, or not at all when it raises."""
        with self.turn, Session(self.writer, expire_on_commit=False) as session, session.begin():
            yield session

    @property
    def locks_rows(self) -> bool:
        """Whether the database locks single rows (SQLite locks the whole file while one writes)."""
        return self.engine.dialect.name != "sqlite"

    def now(self) -> str:
        """The time as the tables hold it."""
        return stamp(self.clock())

    def later(self, minutes: float) -> str:
        """The time in so many minutes."""
        return stamp(self.clock() + timedelta(minutes=minutes))

    def close(self) -> None:
        """Give the connections back."""
        self.engine.dispose()


def open_queue(url: str, clock: Callable[[], datetime] = utc_now) -> Queue:
    """Open the queue, making or migrating its tables as needed.

    Args:
        url: ``sqlite:////folder/queue.sqlite`` or ``postgresql+psycopg://…``; SQLite's folder is made.
        clock: gives the time.

    Raises:
        StoreError: the address is wrong, the database cannot be reached, or a newer version made it.
    """
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite" and parsed.database:
            Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(url, connect_args=_connect_arguments(parsed.get_backend_name()), pool_size=20)
    except (ArgumentError, ModuleNotFoundError) as error:
        raise StoreError(f"Queue {_place(url)}: {error}; expected sqlite:///FILE or a PostgreSQL URL") from error
    except ValueError:
        # Its text quotes what stands where a port should, which is a piece of a password that is not escaped.
        raise StoreError(
            "Queue: the address has no number for a port; expected "
            "postgresql+psycopg://NAME:PASSWORD@HOST:PORT/DATABASE, with '/', ':' and '@' of the password written as "
            "%2F, %3A and %40"
        ) from None
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    queue = Queue(
        engine=engine,
        writer=engine.execution_options(queue_writes=True),
        clock=clock,
        turn=Lock() if engine.dialect.name == "sqlite" else nullcontext(),
    )
    try:
        _migrate(queue)
    except DBAPIError as error:
        queue.close()
        raise StoreError(f"Queue {_place(url)}: cannot be opened ({error.orig})") from error
    return queue


def _place(url: str) -> str:
    """Where the database is, for messages: a file's whole address, of a server no more than what holds no password."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        return "address"
    if parsed.get_backend_name() == "sqlite":
        return url
    return f"{parsed.drivername} at {parsed.host or 'this machine'}"


def _connect_arguments(backend: str) -> dict[str, Any]:
    return {"timeout": BUSY_SECONDS, "check_same_thread": False} if backend == "sqlite" else {}


def _prepare_sqlite(connection: Any, _entry: ConnectionPoolEntry) -> None:
    # The driver's own transaction handling would begin too late (at the first write) and unlocked.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    # A writer that begins as a reader can fail half way when another got in between; so it locks at once.
    writes = connection.get_execution_options().get("queue_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def schema_version(queue: Queue) -> str:
    """The schema's revision in the database; empty where there is none."""
    with queue.engine.connect() as connection:
        return _version(connection)


def _version(connection: Connection) -> str:
    if not inspect(connection).has_table("alembic_version"):
        return ""
    return str(connection.execute(text("SELECT version_num FROM alembic_version")).scalar() or "")


def _migrate(queue: Queue) -> None:
    if schema_version(queue) == HEAD:
        return
    with queue.writer.begin() as connection:
        if queue.locks_rows:
            connection.execute(text("SELECT pg_advisory_xact_lock(72461)"))
        migrate_within(connection, "head")


def migrate_within(connection: Connection, revision: str) -> None:
    """Bring the schema up to a revision, in the transaction of a connection.

    Raises:
        StoreError: a newer version of the code made the database.
    """
    # Imported late: it is needed once in the life of a database.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, revision)
    except CommandError as error:
        raise StoreError(
            f"The queue's schema {_version(connection)!r} is not known to this version of TaxPraBen ({error}); "
            "use the version that made it, or a newer one"
        ) from error
