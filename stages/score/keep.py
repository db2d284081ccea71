"""Scores kept between runs, by what made them: the metric's signature, the reference and the candidate."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from taxpraben.metrics import Pair, PairScore


def score_key(signature: str, pair: Pair) -> bytes:
    """Twenty bytes over signature, what the pair is compared as, reference and candidate."""
    body = json.dumps([signature, pair.compared, pair.reference, pair.candidate], ensure_ascii=False)
    return hashlib.sha256(body.encode("utf-8", "surrogatepass")).digest()[:20]


class ScoreKeep:
    """A file of scores. Kept over runs and models; safe to delete, and to use from several processes at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Self:
        """Open the file, or make it."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = sqlite3.connect(self.path, timeout=60.0)
        self._connection.execute("PRAGMA journal_mode=WAL")
        self._connection.execute("PRAGMA synchronous=NORMAL")
        with self._connection:
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS score (key BLOB PRIMARY KEY, value REAL, flags TEXT) WITHOUT ROWID"
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file."""
        self._connection.close()

    def find(self, keys: Iterable[bytes]) -> dict[bytes, PairScore]:
        """The kept scores among these keys."""
        wanted = list(keys)
        found: dict[bytes, PairScore] = {}
        for start in range(0, len(wanted), 500):
            part = wanted[start : start + 500]
            marks = ",".join("?" * len(part))
            rows = self._connection.execute(f"SELECT key, value, flags FROM score WHERE key IN ({marks})", part)  # noqa: S608
            found.update({key: PairScore(value=value, flags=tuple(flags.split())) for key, value, flags in rows})
        return found

    def add(self, scores: Mapping[bytes, PairScore]) -> None:
        """Keep these scores; they are on disk when this returns."""
        rows = [(key, score.value, " ".join(score.flags)) for key, score in scores.items()]
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO score VALUES (?, ?, ?)", rows)
