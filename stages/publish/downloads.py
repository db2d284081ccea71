"""The standings as files: CSV for spreadsheets, JSON for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence

from taxpraben.records.standing import Standing

# A spreadsheet takes a text that begins with one of these for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def standings_csv(standings: Sequence[Standing]) -> str:
    """One line a standing, columns as in the record; blanks stay blank, lists are joined by spaces.

    Texts that a spreadsheet would run as a formula begin with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = list(Standing.model_fields)
    writer.writerow(names)
    for row in standings:
        writer.writerow([_cell(getattr(row, name)) for name in names])
    return out.getvalue()


def standings_json(standings: Sequence[Standing], release: str) -> str:
    """An object with the release's number and the standings in order; null where there is no figure."""
    rows = [row.model_dump(mode="json") for row in standings]
    return json.dumps({"release": release, "standings": rows}, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _cell(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, list):
        value = " ".join(str(element) for element in value)
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return value
