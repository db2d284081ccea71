"""What every record shares: a frozen row type, its Arrow schema, and strict, byte-stable Parquet files."""

from __future__ import annotations

import itertools
import json
import types
import typing
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias, TypeVar, Union, get_args, get_origin

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

JsonObject: TypeAlias = dict[str, JsonValue]
"""An open mapping; stored as JSON text with sorted keys, so that equal objects give equal bytes."""

RecordT = TypeVar("RecordT", bound="Record")


class RecordFileError(ValueError):
    """A file that is not what its reader expects; the message names the file, the row and the remedy."""


class Part(BaseModel):
    """Base of structs nested in a record: frozen, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Record(Part):
    """A row that crosses a stage border.

    Attributes:
        NAME: the record's word in the design, stored in each file.
        VERSION: raised whenever a column is added, removed or changes its meaning.
        KEY: the columns that identify a row; files are sorted by them and hold each key once.
    """

    NAME: ClassVar[str]
    VERSION: ClassVar[int]
    KEY: ClassVar[tuple[str, ...]]

    @classmethod
    def arrow_schema(cls) -> pa.Schema:
        """The Arrow schema, with the record's name and version as metadata."""
        fields = [_arrow_field(name, hint) for name, hint in _hints(cls).items()]
        return pa.schema(fields, metadata={"record": cls.NAME, "version": str(cls.VERSION)})

    @property
    def key(self) -> tuple[Any, ...]:
        """The row's identity: its values of ``KEY``, in that order."""
        return tuple(getattr(self, column) for column in self.KEY)


def _hints(model: type[BaseModel]) -> dict[str, Any]:
    hints = typing.get_type_hints(model)
    return {name: hints[name] for name in model.model_fields}


def _is_optional(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) in (Union, types.UnionType):
        inner = [arg for arg in get_args(hint) if arg is not type(None)]
        if len(inner) == 1 and len(inner) < len(get_args(hint)):
            return inner[0], True
    return hint, False


def _is_json(hint: Any) -> bool:
    return hint is JsonValue or get_origin(hint) is dict


def _arrow_type(hint: Any) -> pa.DataType:
    if _is_json(hint):
        return pa.string()
    if get_origin(hint) is Literal:
        return pa.string()
    if get_origin(hint) in (list, tuple):
        return pa.list_(pa.field("item", _arrow_type(get_args(hint)[0]), nullable=False))
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        return pa.struct([_arrow_field(name, inner) for name, inner in _hints(hint).items()])
    scalars: dict[Any, pa.DataType] = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    if hint not in scalars:
        raise TypeError(f"No Arrow type for {hint!r}; records hold text, numbers, flags, lists, structs and JSON")
    return scalars[hint]


def _arrow_field(name: str, hint: Any) -> pa.Field:
    inner, optional = _is_optional(hint)
    return pa.field(name, _arrow_type(inner), nullable=optional)


def _encode(value: Any, hint: Any) -> Any:
    inner, _ = _is_optional(hint)
    if _is_json(inner):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    if value is None:
        return None
    if get_origin(inner) in (list, tuple):
        return [_encode(element, get_args(inner)[0]) for element in value]
    if isinstance(inner, type) and issubclass(inner, BaseModel):
        return {name: _encode(getattr(value, name), sub) for name, sub in _hints(inner).items()}
    return value


def _decode(value: Any, hint: Any) -> Any:
    inner, _ = _is_optional(hint)
    if value is None:
        return None
    if _is_json(inner):
        return json.loads(value)
    if get_origin(inner) in (list, tuple):
        return [_decode(element, get_args(inner)[0]) for element in value]
    if isinstance(inner, type) and issubclass(inner, BaseModel):
        return {name: _decode(value[name], sub) for name, sub in _hints(inner).items()}
    return value


def write_records(path: Path, kind: type[RecordT], rows: Iterable[RecordT]) -> int:
    """Write rows as Parquet, sorted by the record's key; the same rows give the same bytes.

    Args:
        path: the file to write; parent folders are made, the file appears whole or not at all.
        kind: the record type, which gives the schema.
        rows: rows in any order.

    Returns:
        The number of rows written.

    Raises:
        RecordFileError: two rows have the same key.
    """
    ordered = sorted(rows, key=lambda row: row.key)
    for before, after in itertools.pairwise(ordered):
        if before.key == after.key:
            raise RecordFileError(
                f"{path}: two {kind.NAME} rows share the key {dict(zip(kind.KEY, after.key, strict=True))}; "
                "each row must be written once"
            )
    hints = _hints(kind)
    columns = [[_encode(getattr(row, name), hint) for row in ordered] for name, hint in hints.items()]
    schema = kind.arrow_schema()
    arrays = [pa.array(column, type=field.type) for column, field in zip(columns, schema, strict=True)]
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    pq.write_table(pa.Table.from_arrays(arrays, schema=schema), partial, compression="zstd", store_schema=True)
    partial.replace(path)
    return len(ordered)


def read_records(path: Path, kind: type[RecordT]) -> list[RecordT]:
    """Read the rows of a Parquet file, in file order (sorted by key).

    Raises:
        RecordFileError: the file is missing, holds another record or version, or a row breaks the schema.
    """
    if not path.exists():
        raise RecordFileError(f"{path}: no such file; run the stage that writes it (`dvc repro`) first")
    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise RecordFileError(
            f"{path}: not a readable Parquet file ({error}); make it again with `dvc repro`"
        ) from error
    expected = kind.arrow_schema()
    metadata = {key.decode(): value.decode() for key, value in (table.schema.metadata or {}).items()}
    found = (metadata.get("record"), metadata.get("version"))
    if found != (kind.NAME, str(kind.VERSION)):
        raise RecordFileError(
            f"{path}: holds record {found[0]!r} version {found[1]!r}, expected {kind.NAME!r} version "
            f"{kind.VERSION}; make the file again with `dvc repro`"
        )
    if not table.schema.equals(expected):
        raise RecordFileError(f"{path}: columns differ from {kind.NAME} version {kind.VERSION}; run `dvc repro`")
    hints = _hints(kind)
    rows: list[RecordT] = []
    for number, raw in enumerate(table.to_pylist()):
        try:
            rows.append(kind.model_validate({name: _decode(raw[name], hint) for name, hint in hints.items()}))
        except ValidationError as error:
            raise RecordFileError(f"{path}, row {number}: {_first_problem(error)}") from error
    return rows


def write_jsonl(path: Path, rows: Sequence[BaseModel]) -> None:
    """Write one JSON object a line (UTF-8, keys in field order, no BOM), in the given order."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("w", encoding="utf-8", newline="\n") as stream:
        stream.writelines(json.dumps(row.model_dump(mode="json"), ensure_ascii=False) + "\n" for row in rows)
    partial.replace(path)


def read_jsonl(path: Path, kind: type[RecordT]) -> list[RecordT]:
    """Read rows from JSON lines, in file order; a byte-order mark and blank lines are passed over.

    Raises:
        RecordFileError: a line is no JSON object or breaks the schema; the message has the line number.
    """
    rows: list[RecordT] = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append(kind.model_validate(json.loads(line)))
        except json.JSONDecodeError as error:
            raise RecordFileError(f"{path}, line {number}: not JSON ({error.msg}); mend or remove the line") from error
        except ValidationError as error:
            raise RecordFileError(f"{path}, line {number}: {_first_problem(error)}") from error
    return rows


def _first_problem(error: ValidationError) -> str:
    first = error.errors()[0]
    where = ".".join(str(step) for step in first["loc"]) or "row"
    return f"column {where!r}: {first['msg']}"


def revise(row: RecordT, **changes: Any) -> RecordT:
    """A copy of the row with some columns changed, validated again."""
    return type(row).model_validate({**{name: getattr(row, name) for name in type(row).model_fields}, **changes})


__all__ = [
    "JsonObject",
    "Part",
    "Record",
    "RecordFileError",
    "read_jsonl",
    "read_records",
    "revise",
    "write_jsonl",
    "write_records",
]
