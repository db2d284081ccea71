"""Embedded references kept on disk: what every model, setting and run is compared with is embedded once.

One SQLite file, by what made the vectors (encoder, layer, limits, package versions) and the text. A write is whole or
not there at all (a kill loses only what was not yet written), several processes may share the file, and what was used
least recently makes room. Deleting the file costs time only.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from taxpraben.metrics.base import MetricError

Kept = tuple[np.ndarray[Any, np.dtype[np.float32]], list[int], frozenset[str]]
"""A text's token vectors (tokens x width), its token ids, and its flags."""


class VectorShelf:
    """A file of embedded texts.

    Args:
        path: the file; it and its folder are made where there is none.
        megabytes: most of vectors in the file; what was used least recently goes first. 0 keeps nothing.

    Raises:
        MetricError: the file is no such shelf; the message says that it may be deleted.
    """

    def __init__(self, path: Path, megabytes: int) -> None:
        self.path, self._limit = path, megabytes * 2**20
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = sqlite3.connect(path, timeout=60.0)
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            with self._connection:
                self._connection.execute(
                    "CREATE TABLE IF NOT EXISTS text (key BLOB PRIMARY KEY, used REAL, size INTEGER, width INTEGER, "
                    "ids TEXT, flags TEXT, vectors BLOB)"
                )
        except sqlite3.DatabaseError as error:
            raise MetricError(f"{path}: cannot be used ({error}); delete it, it is made again") from error

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def find(self, made_by: str, texts: Iterable[str]) -> dict[str, Kept]:
        """The kept ones among these texts.

        Args:
            made_by: what shapes the vectors; the same words give the same vectors.
            texts: the texts.
        """
        found: dict[str, Kept] = {}
        keys = {_key(made_by, text): text for text in texts}
        for key, text in keys.items():
            row = self._connection.execute(
                "SELECT width, ids, flags, vectors FROM text WHERE key = ?", (key,)
            ).fetchone()
            if row is not None:
                width, ids, flags, vectors = row
                array = np.frombuffer(vectors, dtype=np.float32).reshape(-1, width)
                found[text] = (array, json.loads(ids), frozenset(flags.split()))
        if found:
            now = time.time()
            with self._connection:
                used = [(now, key) for key, text in keys.items() if text in found]
                self._connection.executemany("UPDATE text SET used = ? WHERE key = ?", used)
        return found

    def add(self, made_by: str, texts: Mapping[str, Kept]) -> None:
        """Keep these texts; they are on disk when this returns."""
        if not texts or not self._limit:
            return
        now = time.time()
        rows = [
            (
                _key(made_by, text), now, vectors.nbytes, vectors.shape[1], json.dumps(ids), " ".join(sorted(flags)),
                np.ascontiguousarray(vectors, dtype=np.float32).tobytes(),
            )
            for text, (vectors, ids, flags) in texts.items()
        ]  # fmt: skip
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO text VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            self._make_room()

    def _make_room(self) -> None:
        size = self._connection.execute("SELECT COALESCE(SUM(size), 0) FROM text").fetchone()[0]
        if size <= self._limit:
            return
        gone: list[tuple[bytes]] = []
        for key, one in self._connection.execute("SELECT key, size FROM text ORDER BY used, key"):
            # A tenth of room, so that not every call has to clear up.
            if size <= self._limit * 0.9:
                break
            gone.append((key,))
            size -= one
        self._connection.executemany("DELETE FROM text WHERE key = ?", gone)


def _key(made_by: str, text: str) -> bytes:
    return hashlib.sha256(f"{made_by}\n{text}".encode("utf-8", "surrogatepass")).digest()[:20]
