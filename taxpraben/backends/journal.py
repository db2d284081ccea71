"""An append-only file of answers, so that a crash never costs one and a resumed run asks only for what is missing."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout
from pydantic import ValidationError

from taxpraben.backends.protocol import Reply
from taxpraben.backends.spending import Usage
from taxpraben.records.base import Part

FINAL = frozenset({"ok", "length", "empty", "refused", "content_filter", "too_long"})
"""Statuses that a resumed run keeps; an ``error`` is asked again."""

QUICK_DISK_S = 0.0005
"""A disk that takes less than this is waited for where one stands: a thread and back costs as much."""


class JournalError(ValueError):
    """A journal that cannot be used; the message names the file and the remedy."""


class Entry(Part):
    """One line of a journal. Holds no headers, keys or addresses.

    Attributes:
        key: the request hash.
        model: the roster's name.
        about: what was asked, for people who read the file (for example ``TaxSCQ/one-shot/0/TaxSCQ-1a2b``).
        asked_at: ISO 8601, UTC.
        seconds: from asking to the reply, retries included.
    """

    key: str
    model: str
    about: str
    reply: Reply
    asked_at: str
    seconds: float


def utc_now() -> str:
    """The time as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Journal:
    """An open journal: read back when opened, appended to while held, closed to other processes meanwhile.

    Appends that come together, and those that come while the disk is busy, share one fsync; each caller goes on only
    when its line is on disk. Where the disk is slow, a thread waits for it, so that nobody else does.

    Attributes:
        replies: the final replies by request hash; of several lines with one key the first holds.
        healed: bytes of a torn last line that were cut away when the file was opened.
        broken: lines inside the file that could not be read; what they held is asked again.
        used: tokens of all replies in the file by model, those of errors and of equal requests included.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.replies: dict[str, Reply] = {}
        self.used: dict[str, Usage] = {}
        self.healed = 0
        self.broken = 0
        self._lock = FileLock(path.with_name(f"{path.name}.lock"))
        self._pending: list[tuple[Entry, asyncio.Future[None]]] = []
        self._writer: asyncio.Task[None] | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._disk_s = 0.0
        self._descriptor = -1

    def __enter__(self) -> Self:
        """Take the journal.

        Raises:
            JournalError: another process holds it.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise JournalError(
                f"{self.path}: another process is writing this journal; wait until it has finished, or stop it, "
                "then start again (what it has answered is kept)"
            ) from error
        try:
            self.healed = _heal(self.path)
            for entry in _lines(self.path):
                if entry is None:
                    self.broken += 1
                else:
                    self._take(entry)
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what is still pending and let the journal go."""
        if self._thread is not None:
            self._thread.shutdown()
            self._thread = None
        self._write([entry for entry, _ in self._pending])
        self._pending = []
        os.close(self._descriptor)
        self._descriptor = -1
        self._lock.release()

    async def append(self, entry: Entry) -> None:
        """Write one line; returns when it is on disk."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._pending.append((entry, written))
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._drain())
        await written

    async def _drain(self) -> None:
        await asyncio.sleep(0)  # lets appends of the same moment share the fsync
        while self._pending:
            batch, self._pending = self._pending, []
            try:
                await self._put([entry for entry, _ in batch])
            except OSError as error:
                refusal = JournalError(f"{self.path}: cannot be written ({error.strerror}); make room and start again")
                for _, written in batch:
                    if not written.done():
                        written.set_exception(refusal)
                continue
            for entry, written in batch:
                self._take(entry)
                if not written.done():
                    written.set_result(None)

    async def _put(self, entries: list[Entry]) -> None:
        if self._disk_s < QUICK_DISK_S:
            self._write(entries)
            return
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
        # shielded: what was handed to the thread is written, whoever is cancelled meanwhile
        await asyncio.shield(asyncio.wrap_future(self._thread.submit(self._write, entries)))

    def _take(self, entry: Entry) -> None:
        """Keep what a line says."""
        self.used.setdefault(entry.model, Usage()).add(entry.reply)
        if entry.reply.status in FINAL:
            self.replies.setdefault(entry.key, entry.reply)

    def _write(self, entries: list[Entry]) -> None:
        if not entries:
            return
        lines = "".join(entry.model_dump_json() + "\n" for entry in entries)
        data = lines.encode()
        begin = time.monotonic()
        while data:
            data = data[os.write(self._descriptor, data) :]
        os.fsync(self._descriptor)
        self._disk_s = 0.9 * self._disk_s + 0.1 * (time.monotonic() - begin)


def read_replies(path: Path) -> tuple[dict[str, Reply], int]:
    """The final replies of a journal by request hash, and the number of lines that could not be read.

    A missing file holds none. A torn last line counts as unread; only ``Journal`` mends the file.
    """
    replies: dict[str, Reply] = {}
    broken = 0
    for entry in _lines(path):
        if entry is None:
            broken += 1
        elif entry.reply.status in FINAL:
            replies.setdefault(entry.key, entry.reply)
    return replies, broken


def read_usage(path: Path) -> Usage:
    """What all replies of a journal used, whoever gave them; a missing file used nothing."""
    usage = Usage()
    for entry in _lines(path):
        if entry is not None:
            usage.add(entry.reply)
    return usage


def is_held(path: Path) -> bool:
    """Whether a process has this journal open."""
    lock = path.with_name(f"{path.name}.lock")
    if not lock.exists():
        return False
    try:
        with FileLock(lock).acquire(timeout=0):
            return False
    except Timeout:
        return True


def _lines(path: Path) -> Iterator[Entry | None]:
    """The lines of a journal that are not blank; None for one that cannot be read."""
    if not path.exists():
        return
    with path.open("rb") as stream:
        for line in stream:
            if line.strip():
                yield _parse(line)


def _parse(line: bytes) -> Entry | None:
    try:
        return Entry.model_validate_json(line)
    except ValidationError:
        return None


def _heal(path: Path) -> int:
    """End the file at a line's end: a whole last line gets its newline, a torn one is cut away. Gives what was cut."""
    if not path.exists():
        return 0
    with path.open("rb+") as stream:
        size = stream.seek(0, os.SEEK_END)
        if size == 0:
            return 0
        start = _last_line_start(path, size)
        stream.seek(start)
        tail = stream.read()
        if tail.endswith(b"\n"):
            return 0
        if _parse(tail) is not None:
            stream.write(b"\n")
            cut = 0
        else:
            stream.truncate(start)
            cut = len(tail)
        stream.flush()
        os.fsync(stream.fileno())
    return cut


def _last_line_start(path: Path, size: int) -> int:
    with path.open("rb") as stream:
        position = size - 1  # a newline at the very end closes the last line, it does not start one
        block = 1 << 16
        while position > 0:
            begin = max(0, position - block)
            stream.seek(begin)
            found = stream.read(position - begin).rfind(b"\n")
            if found >= 0:
                return begin + found + 1
            position = begin
    return 0
