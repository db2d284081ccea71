"""Tables that hold texts: CSV and JSON lines as rows of named cells, whatever the charset."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

from stages.ingest.decoding import decode
from stages.ingest.outcome import Harvest, Place

Row = tuple[int, dict[str, str]]


class TableError(ValueError):
    """A table without the columns that its reader needs; the message names those found."""


def read_rows(data: bytes, suffix: str, place: Place, harvest: Harvest) -> list[Row]:
    """Rows as (line number from 1, cells by lower-case column name); lines that are no row are quarantined.

    CSV cells may hold line ends; a byte-order mark, GB18030 and null characters are taken in stride.
    """
    text = decode(data).replace("\x00", "")
    if suffix in (".jsonl", ".json"):
        return list(_json_rows(text, place, harvest))
    csv.field_size_limit(16 * 1024 * 1024)
    sample = text[:4096].split("\n", 1)[0]
    delimiter = "\t" if sample.count("\t") > sample.count(",") else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    header: list[str] = []
    rows: list[Row] = []
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return rows
        except csv.Error as error:
            harvest.set_aside(place, f"line {start}", f"not a CSV row ({error})", "mend the line")
            continue
        if not any(cell.strip() for cell in cells):
            continue
        if not header:
            header = [cell.strip().lower() for cell in cells]
            continue
        if len(cells) > len(header) and any(cell.strip() for cell in cells[len(header) :]):
            harvest.set_aside(
                place, f"line {start}", f"{len(cells)} cells where the head has {len(header)} columns",
                "put quotation marks around cells that hold commas", ",".join(cells),
            )  # fmt: skip
            continue
        rows.append((start, dict(zip(header, (cell.strip() for cell in cells), strict=False))))


def _json_rows(text: str, place: Place, harvest: Harvest) -> Iterator[Row]:
    stripped = text.lstrip()
    if stripped.startswith("["):
        listed = json.loads(stripped)
        lines = [(number, json.dumps(row, ensure_ascii=False)) for number, row in enumerate(listed, start=1)]
    else:
        lines = list(enumerate(text.split("\n"), start=1))
    for number, line in lines:
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            harvest.set_aside(place, f"line {number}", f"not JSON ({error.msg})", "mend the line", line)
            continue
        if not isinstance(row, dict):
            harvest.set_aside(place, f"line {number}", "not a JSON object", "mend the line", line)
            continue
        yield number, {str(key).strip().lower(): _cell(value) for key, value in row.items()}


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value.strip() if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
