"""A file of another harness's outputs: JSON lines in, readings as JSON lines out, no row lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from taxpraben.reading import ReadResult, read_asked
from taxpraben.reading.rows import BadRow, OutputRow, iter_rows, reading_row

Ask = Callable[[str], str]


class OutputFileError(ValueError):
    """A file of outputs that cannot be read at all; the message names it and the remedy."""


def load_rows(path: Path) -> list[OutputRow | BadRow]:
    """The rows of a file, bad ones in their places.

    Raises:
        OutputFileError: the file is not there, cannot be opened, or holds no row.
    """
    try:
        rows = list(iter_rows(path))
    except OSError as error:
        raise OutputFileError(f"{path}: {error.strerror}; name a file of JSON lines") from error
    if not rows:
        raise OutputFileError(f"{path}: holds no row; one JSON object a line is wanted")
    return rows


def read_rows(rows: Iterable[OutputRow | BadRow], ask: Ask | None = None) -> list[ReadResult | None]:
    """The readings of the rows, in order; None for a bad row. Equal rows are read once."""
    known: dict[str, ReadResult] = {}
    results: list[ReadResult | None] = []
    for row in rows:
        if isinstance(row, BadRow):
            results.append(None)
            continue
        key = row.model_dump_json(exclude={"id"})
        if key not in known:
            known[key] = read_asked(row.asked, row.text, status=row.status, ask=ask)
        results.append(known[key])
    return results


def write_readings(path: Path, rows: Sequence[OutputRow | BadRow], results: Sequence[ReadResult | None]) -> None:
    """Write one line a row, in the order of the rows; the file appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.partial")
    # Half of a character that an answer was cut in is written as its JSON escape.
    with partial.open("w", encoding="utf-8", errors="backslashreplace", newline="\n") as stream:
        for row, result in zip(rows, results, strict=True):
            stream.write(json.dumps(reading_row(row, result), ensure_ascii=False) + "\n")
    partial.replace(path)
