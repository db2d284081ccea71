"""The queue and files: decisions as JSON lines or Parquet, and sheets for people who work without the portal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

from sqlalchemy import select

from taxpraben.queue.intake import Import, export_decisions, import_decisions
from taxpraben.queue.states import FILTERED, FINAL, QueueError
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Entry
from taxpraben.records.base import Record, read_jsonl, read_records, write_jsonl, write_records
from taxpraben.records.content import Content
from taxpraben.records.decision import Decision


class SheetRow(Record):
    """A draft to be judged on paper, so to speak: one JSON line, in which a person fills in the last fields.

    Attributes:
        source: what of the document is shown beside the draft.
        draft: the drafted content; None where drafting failed (``error`` says why).
        verdict: to fill in: ``accepted``, ``fixed`` or ``rejected``; an empty one is left for later.
        fixed: to fill in for a fix: the whole corrected content.
        reason: to fill in for a rejection.
    """

    NAME: ClassVar[str] = "sheet_row"
    VERSION: ClassVar[int] = 1
    KEY: ClassVar[tuple[str, ...]] = ("task", "draft_id")

    draft_id: str
    task: str
    draft_digest: str
    title: str
    source: str
    error: str
    draft: Content | None
    verdict: Literal["", "accepted", "fixed", "rejected"] = ""
    fixed: Content | None = None
    reason: str = ""


def read_decisions(path: Path) -> list[Decision]:
    """Decisions from a ``.jsonl`` or ``.parquet`` file, in file order.

    Raises:
        QueueError: the file is missing or of another kind.
        RecordFileError: a row is wrong.
    """
    _must_be(path, exists=True)
    return read_jsonl(path, Decision) if path.suffix == ".jsonl" else read_records(path, Decision)


def write_decisions(queue: Queue, path: Path, tasks: Sequence[str] = ()) -> int:
    """Write the decisions that stand to a ``.jsonl`` or ``.parquet`` file, in stable order; returns their number.

    Raises:
        QueueError: the file's name ends otherwise.
    """
    _must_be(path, exists=False)
    rows = export_decisions(queue, tasks)
    if path.suffix == ".jsonl":
        write_jsonl(path, rows)
    else:
        write_records(path, Decision, rows)
    return len(rows)


def write_sheet(queue: Queue, path: Path, tasks: Sequence[str] = (), limit: int | None = None) -> int:
    """Write what waits for people as a sheet of JSON lines to fill in; returns the number of rows.

    Writing a sheet claims nothing: a conflict shows when it comes back.

    Raises:
        QueueError: the file's name does not end in ``.jsonl``.
    """
    if path.suffix != ".jsonl":
        raise QueueError(f"{path}: a sheet is a .jsonl file")
    with queue.read() as session:
        query = select(Entry).where(Entry.active.is_(True), Entry.state.not_in([*FINAL, FILTERED]))
        if tasks:
            query = query.where(Entry.task.in_(tasks))
        entries = list(session.scalars(query.order_by(Entry.place).limit(limit)))
    write_jsonl(
        path,
        [
            SheetRow(
                draft_id=entry.draft_id,
                task=entry.task,
                draft_digest=entry.digest,
                title=str(entry.excerpt["title"]),
                source=str(entry.excerpt["text"]),
                error=entry.error,
                draft=Content.model_validate(entry.content) if entry.content is not None else None,
            )
            for entry in entries
        ],
    )
    return len(entries)


def import_file(queue: Queue, path: Path, person: str) -> tuple[Import, int]:
    """Take back a file of decisions, or a sheet that somebody filled in.

    Args:
        queue: the queue.
        path: a ``.jsonl`` or ``.parquet`` file of decisions, or a ``.jsonl`` sheet.
        person: who filled in the sheet; decisions name their own.

    Returns:
        What became of the decisions, and how many rows of a sheet were left empty.

    Raises:
        QueueError: the file is missing or a row contradicts itself; nothing of it was taken then.
        RecordFileError: a row is wrong.
    """
    _must_be(path, exists=True)
    if path.suffix == ".jsonl" and _is_sheet(path):
        rows = read_jsonl(path, SheetRow)
        at = queue.now()
        filled = [_ruled(row, person, at) for row in rows if row.verdict]
        return import_decisions(queue, filled, person), len(rows) - len(filled)
    return import_decisions(queue, read_decisions(path), person), 0


def _is_sheet(path: Path) -> bool:
    first = _first_line(path)
    return '"source":' in first and '"annotator":' not in first


def is_share(path: Path) -> bool:
    """Whether a ``.jsonl`` file is a person's share (``share.export_share``): its rows name works."""
    return path.suffix == ".jsonl" and '"work_id":' in _first_line(path)


def _first_line(path: Path) -> str:
    with path.open(encoding="utf-8-sig") as lines:
        return next((line for line in lines if line.strip()), "")


def _ruled(row: SheetRow, person: str, at: str) -> Decision:
    if row.verdict == "accepted" and row.draft is None:
        raise QueueError(f"Draft {row.draft_id}: drafting failed here, so there is nothing to accept; fix or reject it")
    content = {"accepted": row.draft, "fixed": row.fixed, "rejected": None}[row.verdict]
    return Decision(
        draft_id=row.draft_id,
        task=row.task,
        draft_digest=row.draft_digest,
        verdict=row.verdict,
        content=content,
        reason=row.reason,
        annotator=person,
        decided_at=at,
    )


def _must_be(path: Path, exists: bool) -> None:
    if path.suffix not in (".jsonl", ".parquet"):
        raise QueueError(f"{path}: decisions are kept in .jsonl or .parquet files")
    if exists and not path.exists():
        raise QueueError(f"{path}: no such file")
