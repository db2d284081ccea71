"""A table of texts as an Excel file and back.

Every cell is text: what looks like a formula is none, and stays a line of characters in whatever program opens it. The
same table gives the same bytes.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from taxpraben.queue.states import QueueError

LONGEST_CELL = 32_767
"""Most characters that Excel keeps in a cell."""

LARGEST = 200_000_000
"""Most bytes of an unpacked file: a small file may unpack to a huge one."""

MOST_ROWS = 100_000
_ESCAPE = re.compile(r"_(x[0-9A-Fa-f]{4}_)")
_UNFIT = re.compile(r"[\x00-\x08\x0b-\x1f]")
"""Characters that a cell cannot hold as they are, and the carriage return, which reading would make a line feed."""
_NOON = datetime(2000, 1, 1, 12, 0)


def write_table(
    columns: Sequence[str],
    rows: Sequence[Mapping[str, str]],
    widths: Mapping[str, int],
    hidden: Sequence[str],
    to_fill: Sequence[str],
    choices: Mapping[str, Sequence[str]],
    title: str,
) -> bytes:
    """An Excel file of one sheet: a head of column names, then the rows.

    Args:
        columns: names, in order.
        rows: texts by column; a missing one is empty.
        widths: of columns in characters; 14 by default.
        hidden: columns that are there and not shown.
        to_fill: columns that people fill in, in colour.
        choices: columns with a list to choose from.
        title: the sheet's name.

    Raises:
        QueueError: a text is longer than Excel keeps.
    """
    from openpyxl import Workbook
    from openpyxl.styles import Alignment, Font, PatternFill
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    book = Workbook()
    book.properties.created = book.properties.modified = _NOON
    book.properties.creator = "taxpraben"
    sheet = book.active
    sheet.title = title
    sheet.freeze_panes = "A2"
    wrapped = Alignment(wrap_text=True, vertical="top")
    shade = PatternFill("solid", fgColor="FFF6D6")

    def put(row: int, column: int, text: str) -> Any:
        # What looks like an escape (_x000D_) is escaped itself, or it would come back as the character.
        escaped = _UNFIT.sub(lambda match: f"_x{ord(match.group()):04X}_", _ESCAPE.sub(r"_x005F_\1", text))
        if len(escaped) > LONGEST_CELL:
            raise QueueError(
                f"Row {row}, {columns[column - 1]}: {len(escaped)} characters are more than Excel keeps; use .jsonl"
            )
        cell = sheet.cell(row=row, column=column)
        if text:
            cell.value = escaped
            # openpyxl takes a leading '=' for a formula, and some digits for a number.
            cell.data_type = "s"
        cell.number_format = "@"
        cell.quotePrefix = text[:1] in ("=", "+", "-", "@", "\t", "\r")
        return cell

    for place, name in enumerate(columns, start=1):
        head = put(1, place, name)
        head.font = Font(bold=True)
        letter = get_column_letter(place)
        sheet.column_dimensions[letter].width = widths.get(name, 14)
        sheet.column_dimensions[letter].hidden = name in hidden
        for number, row in enumerate(rows, start=2):
            cell = put(number, place, row.get(name, ""))
            cell.alignment = wrapped
            if name in to_fill:
                cell.fill = shade
        if name in choices and rows:
            rule = DataValidation(type="list", formula1=f'"{",".join(choices[name])}"', allow_blank=True)
            rule.add(f"{letter}2:{letter}{len(rows) + 1}")
            sheet.add_data_validation(rule)
    packed = io.BytesIO()
    book.save(packed)
    return _without_times(packed.getvalue())


def _without_times(packed: bytes) -> bytes:
    """The same archive with one time for all its parts, and none in its properties."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for info in sorted(old.infolist(), key=lambda info: info.filename):
            content = old.read(info)
            if info.filename == "docProps/core.xml":
                content = _fixed_time(content)
            part = zipfile.ZipInfo(info.filename, _NOON.timetuple()[:6])
            part.compress_type = zipfile.ZIP_DEFLATED
            part.external_attr = 0o600 << 16
            new.writestr(part, content)
    return out.getvalue()


def _fixed_time(core: bytes) -> bytes:
    # openpyxl writes the time of saving, whatever the properties say.
    return re.sub(rb"(<dcterms:modified[^>]*>)[^<]*", rb"\g<1>" + _NOON.isoformat().encode() + b"Z", core)


def read_table(packed: bytes) -> list[dict[str, str]]:
    """The rows of the first sheet by column name, as texts; a number as it would be typed. Empty rows are left out.

    Each row holds its number in the sheet under the empty name.

    Raises:
        QueueError: it is no Excel file, too large, without a head, or a cell holds a formula.
    """
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            if sum(info.file_size for info in archive.infolist()) > LARGEST:
                raise QueueError("The Excel file is too large when unpacked")
        book = load_workbook(io.BytesIO(packed), read_only=True, data_only=False)
        sheet = book.worksheets[0]
        found: list[dict[str, str]] = []
        columns: list[str] = []
        for number, cells in enumerate(sheet.iter_rows(max_row=MOST_ROWS), start=1):
            if number == 1:
                columns = [_text(cell, number, "head") for cell in cells]
                continue
            named = zip(cells, columns, strict=False)
            row = {name: _text(cell, number, name) for cell, name in named if name}
            if any(row.values()):
                row[""] = str(number)
                found.append(row)
        book.close()
    except QueueError:
        raise
    except (zipfile.BadZipFile, InvalidFileException, SyntaxError, LookupError, EOFError, ValueError) as error:
        raise QueueError(f"This is no Excel file (.xlsx) that can be read ({error})") from error
    if not any(columns):
        raise QueueError("The first row of the sheet names no columns")
    return found


def _text(cell: Any, row: int, column: str) -> str:
    from openpyxl.utils.escape import unescape

    value = cell.value
    if value is None:
        return ""
    if cell.data_type == "f":
        raise QueueError(f"Row {row}, {column}: a formula; write the text itself (begin it with an apostrophe)")
    if isinstance(value, str):
        return str(unescape(value))
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, date):
        return value.isoformat()
    return repr(int(value)) if isinstance(value, float) and value == int(value) else repr(value)
