"""A person's share as a file to fill in without the portal, and back into the queue without losing a word."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

from pydantic import ValidationError
from sqlalchemy import select

from taxpraben.queue.excel import read_table, write_table
from taxpraben.queue.flat import PARTS, flatten, rebuild
from taxpraben.queue.pieces import Piece, pieces_of
from taxpraben.queue.rulings import ruled, submit
from taxpraben.queue.states import QueueError, Verdict
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Entry, Work
from taxpraben.queue.texts import keep
from taxpraben.records.base import JsonObject, Record
from taxpraben.records.content import Content

Kind = Literal["jsonl", "xlsx"]
LARGEST_SHARE = 5000
_VERDICTS: tuple[str, ...] = get_args(Verdict)


class ShareRow(Record):
    """A work in a person's hands; the last fields are filled in offline.

    Attributes:
        work_id, version, draft_digest: what the row was made of; the queue compares them when it comes back.
        source: what of the document is shown beside the draft.
        note: why it was returned, where it was.
        draft: the drafted content; None where drafting failed (``error`` says why).
        verdict: to fill in: ``accepted``, ``fixed`` or ``rejected``; an empty one is left for later.
        fixed: to fill in for a fix: the whole corrected content.
        reason: to fill in for a rejection.
    """

    NAME: ClassVar[str] = "share_row"
    VERSION: ClassVar[int] = 1
    KEY: ClassVar[tuple[str, ...]] = ("work_id",)

    work_id: int
    version: int
    draft_id: str
    task: str
    draft_digest: str
    title: str
    source: str
    note: str
    error: str
    draft: Content | None
    verdict: Literal["", "accepted", "fixed", "rejected"] = ""
    fixed: Content | None = None
    reason: str = ""


@dataclass(frozen=True)
class RowNote:
    """What became of one row; ``row`` is its number in the file, from 1 (the head of a sheet is row 1)."""

    row: int
    draft_id: str
    message: str


@dataclass
class ShareReport:
    """What became of a share that came back: rows by fate.

    Attributes:
        taken: handed in.
        unchanged: handed in before, with the same ruling.
        empty: left for later.
        conflicts: the text or the draft changed meanwhile; both texts are kept, the queue's stands.
        late: the work went to somebody else or is settled; the text is kept beside it.
        problems: what is wrong with rows; while there is one, nothing of the file is taken.
    """

    taken: list[RowNote] = field(default_factory=list)
    unchanged: list[RowNote] = field(default_factory=list)
    empty: list[RowNote] = field(default_factory=list)
    conflicts: list[RowNote] = field(default_factory=list)
    late: list[RowNote] = field(default_factory=list)
    problems: list[RowNote] = field(default_factory=list)


@dataclass(frozen=True)
class _Ruling:
    row: int
    work_id: int
    version: int
    draft_id: str
    digest: str
    verdict: Verdict
    content: Content | None
    reason: str


_HIDDEN = ("work_id", "version", "draft_digest")
_SHOWN = ("draft_id", "task", "title", "source", "note", "error")
_FILL = ("verdict", *(f"fixed_{part}" for part in PARTS), "reason")
COLUMNS = (*_HIDDEN, *_SHOWN, *(f"draft_{part}" for part in PARTS), *_FILL)
_WIDTHS = {"source": 60, "draft_text": 40, "draft_answer": 40, "fixed_text": 40, "fixed_answer": 40, "reason": 30}


def export_share(queue: Queue, person: str, kind: Kind) -> bytes:
    """What a person holds, in list order, as JSON lines or an Excel file; the same state gives the same bytes.

    Nothing changes in the queue: claims go on to run out, so hand out offline work with a long ``claim_minutes``.
    """
    rows = [_as_row(piece) for piece in pieces_of(queue, person, ("returned", "claimed"), LARGEST_SHARE)]
    if kind == "jsonl":
        return "".join(json.dumps(row.model_dump(mode="json"), ensure_ascii=False) + "\n" for row in rows).encode()
    return write_table(
        COLUMNS,
        [_as_texts(row) for row in rows],
        widths=_WIDTHS,
        hidden=_HIDDEN,
        to_fill=_FILL,
        choices={"verdict": _VERDICTS},
        title="share",
    )


def _as_row(piece: Piece) -> ShareRow:
    return ShareRow(
        work_id=piece.work_id,
        version=piece.version,
        draft_id=piece.draft_id,
        task=piece.task,
        draft_digest=piece.digest,
        title=piece.excerpt.title,
        source=piece.excerpt.text,
        note=piece.note,
        error=piece.error,
        draft=piece.draft,
    )


def _as_texts(row: ShareRow) -> dict[str, str]:
    texts = {name: str(getattr(row, name)) for name in (*_HIDDEN, *_SHOWN)}
    for part, text in (flatten(row.draft) if row.draft is not None else {}).items():
        texts[f"draft_{part}"] = text
    return texts


def import_share(queue: Queue, data: bytes, kind: Kind, person: str) -> ShareReport:
    """Take back a share that a person filled in; a second time changes nothing.

    Args:
        queue: the queue.
        data: the file.
        kind: ``jsonl`` or ``xlsx``.
        person: whose share it is; rows of others' works are told as late.

    Raises:
        QueueError: the file cannot be read at all.
    """
    report = ShareReport()
    rulings = _read_jsonl(data, report) if kind == "jsonl" else _read_xlsx(queue, data, report)
    _must_be_allowed(queue, rulings, report)
    if report.problems:
        return report
    for ruling in rulings:
        _hand_in(queue, ruling, person, report)
    return report


def _read_jsonl(data: bytes, report: ShareReport) -> list[_Ruling]:
    try:
        lines = data.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise QueueError(f"The file is no UTF-8 text ({error.reason} at byte {error.start})") from error
    rulings: list[_Ruling] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = ShareRow.model_validate(json.loads(line))
        except json.JSONDecodeError as error:
            report.problems.append(RowNote(number, "", f"not JSON ({error.msg})"))
            continue
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "row"
            report.problems.append(RowNote(number, "", f"{where}: {first['msg']}"))
            continue
        if not row.verdict:
            report.empty.append(RowNote(number, row.draft_id, ""))
            continue
        fixed = row.fixed if row.verdict == "fixed" else None
        rulings.append(
            _Ruling(number, row.work_id, row.version, row.draft_id, row.draft_digest, row.verdict, fixed, row.reason)
        )
    return rulings


def _read_xlsx(queue: Queue, data: bytes, report: ShareReport) -> list[_Ruling]:
    rows = read_table(data)
    missing = [
        name for name in ("work_id", "version", "draft_digest", "draft_id", "verdict") if rows and name not in rows[0]
    ]
    if missing:
        raise QueueError(f"The sheet has no column {missing[0]!r}; fill in the file as it was exported")
    drafts = _drafts(queue, [row.get("draft_id", "") for row in rows])
    rulings: list[_Ruling] = []
    for row in rows:
        number, draft_id = int(row[""]), row["draft_id"]
        verdict = row["verdict"].strip().lower()
        parts = {part: row.get(f"fixed_{part}", "") for part in PARTS}
        if not verdict:
            if any(parts.values()) or row.get("reason", ""):
                report.problems.append(RowNote(number, draft_id, "filled in without a verdict"))
            else:
                report.empty.append(RowNote(number, draft_id, ""))
            continue
        try:
            work_id, version = int(row["work_id"]), int(row["version"])
            if verdict not in _VERDICTS:
                raise QueueError(f"unknown verdict {verdict!r}; known: {', '.join(_VERDICTS)}")
            content = rebuild(parts, drafts.get(draft_id)) if verdict == "fixed" else None
        except (ValueError, QueueError) as error:
            report.problems.append(RowNote(number, draft_id, str(error)))
            continue
        rulings.append(
            _Ruling(
                number,
                work_id,
                version,
                draft_id,
                row["draft_digest"],
                verdict,  # type: ignore[arg-type]  # checked above
                content,
                row.get("reason", ""),
            )
        )
    return rulings


def _drafts(queue: Queue, ids: Sequence[str]) -> dict[str, Content | None]:
    found: dict[str, Content | None] = {}
    with queue.read() as session:
        for start in range(0, len(ids), 500):
            for entry in session.scalars(select(Entry).where(Entry.draft_id.in_(ids[start : start + 500]))):
                found[entry.draft_id] = Content.model_validate(entry.content) if entry.content is not None else None
    return found


def _must_be_allowed(queue: Queue, rulings: Sequence[_Ruling], report: ShareReport) -> None:
    seen: set[int] = set()
    with queue.read() as session:
        for ruling in rulings:
            work = session.get(Work, ruling.work_id)
            entry = session.get(Entry, ruling.draft_id)
            if work is None or entry is None or work.draft_id != ruling.draft_id:
                report.problems.append(RowNote(ruling.row, ruling.draft_id, "the queue has no such work"))
                continue
            if ruling.work_id in seen:
                report.problems.append(RowNote(ruling.row, ruling.draft_id, "the same work stands in two rows"))
            seen.add(ruling.work_id)
            try:
                ruled(entry, ruling.verdict, ruling.content, ruling.reason)
            except QueueError as error:
                report.problems.append(RowNote(ruling.row, ruling.draft_id, str(error)))


def _hand_in(queue: Queue, ruling: _Ruling, person: str, report: ShareReport) -> None:
    note = RowNote(ruling.row, ruling.draft_id, "")
    with queue.write() as session:
        work = session.get_one(Work, ruling.work_id)
        entry = session.get_one(Entry, ruling.draft_id)
        verdict, content = ruled(entry, ruling.verdict, ruling.content, ruling.reason)
        digest = content.digest if content is not None else ""
        own = work.person == person and work.verdict == verdict and work.reason == ruling.reason.strip()
        held = Content.model_validate(work.content).digest if work.content is not None else ""
        if own and held == digest and work.state not in ("claimed", "returned"):
            report.unchanged.append(note)
            return
        if entry.digest != ruling.digest:
            # Below every version, so that it is kept beside the present text and takes its place nowhere.
            keep(session, queue.now(), work, person, -1, _typed(ruling))
            report.conflicts.append(
                RowNote(ruling.row, ruling.draft_id, "the draft changed since the export; your text is kept beside it")
            )
            return
    outcome = submit(
        queue,
        ruling.work_id,
        person,
        ruling.verdict,
        ruling.content,
        ruling.reason,
        version=ruling.version,
    )
    if outcome.kind == "submitted":
        report.taken.append(note)
    elif outcome.kind == "conflict":
        by = outcome.saved.by if outcome.saved is not None and outcome.saved.by else "the portal"
        report.conflicts.append(
            RowNote(ruling.row, ruling.draft_id, f"another text was saved meanwhile ({by}); both are kept, its stands")
        )
    else:
        report.late.append(
            RowNote(ruling.row, ruling.draft_id, f"it is {outcome.state} and no longer yours; your text is kept")
        )


def _typed(ruling: _Ruling) -> JsonObject:
    typed: JsonObject = {"verdict": ruling.verdict, "reason": ruling.reason}
    if ruling.content is not None:
        typed["content"] = ruling.content.model_dump(mode="json")
    return typed
