"""Scores as columns: millions of rows without a Python object each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from taxpraben.records.base import RecordFileError
from taxpraben.records.score import Score

Codes: TypeAlias = np.ndarray[Any, np.dtype[np.int32]]
Mask: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]

_CODED = (
    "item_id",
    "task",
    "model",
    "setting",
    "protocol",
    "metric",
    "field",
    "gold",
    "predicted",
    "signature",
    "status",
)


@dataclass(frozen=True)
class Coded:
    """A text column as numbers: ``names[codes[row]]`` is the row's text."""

    codes: Codes
    names: list[str]

    def equal(self, name: str) -> Mask:
        """Where the column has this text."""
        if name not in self.names:
            return np.zeros(len(self.codes), dtype=np.bool_)
        return np.asarray(self.codes == self.names.index(name))

    def among(self, names: Sequence[str]) -> Mask:
        """Where the column has one of these texts."""
        return np.isin(self.codes, [place for place, name in enumerate(self.names) if name in set(names)])


@dataclass(frozen=True)
class ScoreColumns:
    """Score rows by column, in file order.

    Attributes:
        coded: the text columns by name.
        run: the run of each row.
        value: the value of each row, NaN where the metric exists over a list only.
        failed: whether no answer had come.
    """

    coded: dict[str, Coded]
    run: np.ndarray[Any, np.dtype[np.int64]]
    value: np.ndarray[Any, np.dtype[np.float64]]
    failed: Mask

    def __len__(self) -> int:
        """The number of rows."""
        return len(self.value)

    def where(self, mask: Mask) -> ScoreColumns:
        """The rows that the mask keeps."""
        coded = {name: Coded(column.codes[mask], column.names) for name, column in self.coded.items()}
        return ScoreColumns(coded, self.run[mask], self.value[mask], self.failed[mask])


def read_scores(paths: Sequence[Path]) -> ScoreColumns:
    """The scores of these files.

    Raises:
        RecordFileError: a file is missing or holds something else.
    """
    tables = [_table(path) for path in paths]
    return from_table(pa.concat_tables(tables).unify_dictionaries() if tables else _empty())


def _table(path: Path) -> pa.Table:
    if not path.exists():
        raise RecordFileError(f"{path}: no such file; run `dvc repro score@{path.stem}` first")
    try:
        schema = pq.read_schema(path)
        metadata = {key.decode(): text.decode() for key, text in (schema.metadata or {}).items()}
        if (metadata.get("record"), metadata.get("version")) != (Score.NAME, str(Score.VERSION)):
            raise RecordFileError(
                f"{path}: holds {metadata.get('record')!r} version {metadata.get('version')!r}, "
                f"expected 'score' version {Score.VERSION}; run `dvc repro score@{path.stem}`"
            )
        return pq.read_table(path, read_dictionary=list(_CODED))
    except pa.ArrowInvalid as error:
        raise RecordFileError(f"{path}: no Parquet ({error}); run `dvc repro score@{path.stem}`") from error


def _empty() -> pa.Table:
    return Score.arrow_schema().empty_table()


def from_table(table: pa.Table) -> ScoreColumns:
    """The columns of an Arrow table with the schema of ``Score``, text columns dictionary-encoded or plain."""
    return ScoreColumns(
        coded={name: _coded(table.column(name)) for name in _CODED},
        run=table.column("run").to_numpy(),
        value=pc.fill_null(table.column("value"), float("nan")).to_numpy(),
        failed=_flagged(table.column("flags"), "no_answer"),
    )


def _coded(column: pa.ChunkedArray) -> Coded:
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    joined = column.unify_dictionaries().combine_chunks()
    if isinstance(joined, pa.ChunkedArray):
        if joined.num_chunks == 0:
            return Coded(np.zeros(0, dtype=np.int32), [])
        joined = joined.chunk(0)
    return Coded(np.asarray(joined.indices, dtype=np.int32), [str(name) for name in joined.dictionary.to_pylist()])


def _flagged(column: pa.ChunkedArray, flag: str) -> Mask:
    out = np.zeros(len(column), dtype=np.bool_)
    start = 0
    for chunk in column.chunks:
        hits = pc.equal(chunk.flatten(), flag)
        parents = np.asarray(pc.list_parent_indices(chunk))
        out[start + parents[np.asarray(hits, dtype=np.bool_)]] = True
        start += len(chunk)
    return out
