"""The whole queue as one file, out of either database and into either."""

from __future__ import annotations

import gzip
import hashlib
import json
import stat
from pathlib import Path

import pytest
from queue_samples import content, fill
from sqlalchemy import func, select, text

from taxpraben.queue.audit import audit_page, history
from taxpraben.queue.backup import BackupError, backup, inspect_backup, restore
from taxpraben.queue.claims import claim
from taxpraben.queue.comments import add_comment
from taxpraben.queue.files import write_decisions
from taxpraben.queue.gold import add_gold
from taxpraben.queue.people import create_person, verify
from taxpraben.queue.rulings import submit
from taxpraben.queue.store import HEAD, Queue, open_queue, schema_version
from taxpraben.queue.tables import Base
from taxpraben.queue.texts import save, texts


def busy(queue: Queue) -> int:
    """A queue with something in most tables; returns a work that is in hand."""
    create_person(queue, "a01", "annotator", "long enough")
    drafts = fill(queue, 6)
    first, second, third, *_ = claim(queue, "a01", count=5)
    submit(queue, first, "a01", "accepted")
    submit(queue, second, "a01", "fixed", content("含“引号”、换行\n、𠮷字与制表\t符。"))
    submit(queue, third, "a01", "rejected", reason="与原文不符")
    add_gold(queue, drafts[0].draft_id, "e01")
    (last,) = claim(queue, "a02")
    save(queue, last, "a02", 0, {"answer": "半句"})
    add_comment(queue, last, "a02", "=1+1 不是公式")
    return last


def counts(queue: Queue) -> dict[str, int]:
    with queue.read() as session:
        return {
            table.name: session.scalar(select(func.count()).select_from(table)) or 0
            for table in Base.metadata.sorted_tables
        }


def test_a_backup_restored_elsewhere_holds_every_row_and_goes_on_working(queue: Queue, tmp_path: Path) -> None:
    work = busy(queue)
    made = backup(queue, tmp_path / "queue.backup")
    assert made.rows == counts(queue)
    other = open_queue(f"sqlite:///{tmp_path / 'other.sqlite'}", queue.clock)
    restore(other, tmp_path / "queue.backup")
    assert counts(other) == counts(queue)
    assert backup(other, tmp_path / "again.backup").checksum == made.checksum
    write_decisions(queue, tmp_path / "a.parquet")
    write_decisions(other, tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert audit_page(other) == audit_page(queue)
    assert verify(other, "a01", "long enough") is not None
    assert texts(other, work)[0].form == {"answer": "半句"}
    assert save(other, work, "a02", 1, {"answer": "一句"}).version == 2
    other.close()


def test_a_backup_goes_back_into_its_own_database_and_new_rows_get_new_numbers(queue: Queue, tmp_path: Path) -> None:
    busy(queue)
    backup(queue, tmp_path / "queue.backup")
    before = counts(queue)
    fill(queue, 9)
    with pytest.raises(BackupError, match="--force"):
        restore(queue, tmp_path / "queue.backup")
    assert counts(queue)["entries"] == 9
    with queue.write() as session:
        session.execute(text("CREATE TABLE of_somebody_else (word TEXT)"))
        session.execute(text("INSERT INTO of_somebody_else VALUES ('kept')"))
    restore(queue, tmp_path / "queue.backup", force=True)
    with queue.write() as session:
        assert session.scalar(text("SELECT word FROM of_somebody_else")) == "kept"
        session.execute(text("DROP TABLE of_somebody_else"))
    assert counts(queue) == before
    fill(queue, 7)
    (work,) = claim(queue, "a03", count=1)
    add_comment(queue, work, "a03", "接着来")
    assert history(queue, "TaxQA-000000000006")[0].act == "brought_in"
    with pytest.raises(Exception, match="audit only grows"), queue.write() as session:
        session.execute(text("DELETE FROM audit"))


def test_a_backup_is_for_its_owner_alone_and_overwrites_nothing_unasked(queue: Queue, tmp_path: Path) -> None:
    fill(queue, 1)
    path = tmp_path / "queue.backup"
    backup(queue, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(BackupError, match="--force"):
        backup(queue, path)
    fill(queue, 3)
    assert backup(queue, path, force=True).rows["entries"] == 3


@pytest.mark.parametrize("fault", ["cut", "changed", "foreign", "not gzip", "missing"])
def test_a_backup_that_is_not_whole_is_refused_and_nothing_changes(queue: Queue, tmp_path: Path, fault: str) -> None:
    busy(queue)
    path = tmp_path / "queue.backup"
    backup(queue, path)
    lines = gzip.decompress(path.read_bytes())
    if fault == "cut":
        path.write_bytes(gzip.compress(lines[: len(lines) // 2].rsplit(b"\n", 1)[0] + b"\n"))
    elif fault == "changed":
        path.write_bytes(gzip.compress(lines.replace("与原文不符".encode(), "与原文相符".encode())))
    elif fault == "foreign":
        path.write_bytes(gzip.compress(b'{"format": "other"}\n'))
    elif fault == "not gzip":
        path.write_bytes(b"plain")
    else:
        path.unlink()
    before = counts(queue)
    with pytest.raises(BackupError):
        restore(queue, path, force=True)
    assert counts(queue) == before


def test_a_backup_of_the_first_schema_is_brought_to_the_present_one(tmp_path: Path) -> None:
    queue = open_queue(f"sqlite:///{tmp_path / 'new.sqlite'}")
    # The file as version 0001 wrote it: no batch, no gold, none of the later tables.
    busy(queue)
    path = tmp_path / "queue.backup"
    backup(queue, path)
    old = _as_first_schema(path, tmp_path / "old.backup")
    fresh = open_queue(f"sqlite:///{tmp_path / 'fresh.sqlite'}")
    restored = restore(fresh, old)
    assert restored.revision == "0001"
    assert schema_version(fresh) == HEAD
    assert counts(fresh)["works"] == counts(queue)["works"]
    for each in (queue, fresh):
        each.close()


def _as_first_schema(path: Path, to: Path) -> Path:
    first = {
        "entries", "works", "saves", "decisions", "round_shares", "audit", "people", "sign_ins", "outbox", "settings",
    }  # fmt: skip
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    head, rows = lines[0], [line for line in lines[1:-1] if line["table"] in first]
    for line in rows:
        for later in ("batch", "gold", "gold_right", "gold_exact"):
            line["row"].pop(later, None)
    head["revision"] = "0001"
    head["rows"] = {name: count for name, count in head["rows"].items() if name in first}
    body = "".join(json.dumps(line, ensure_ascii=False, sort_keys=True) + "\n" for line in [head, *rows]).encode()
    foot = json.dumps({"sha256": hashlib.sha256(body).hexdigest()}) + "\n"
    to.write_bytes(gzip.compress(body + foot.encode()))
    return to


def test_inspecting_tells_what_a_backup_holds(queue: Queue, tmp_path: Path) -> None:
    busy(queue)
    backup(queue, tmp_path / "queue.backup")
    held = inspect_backup(tmp_path / "queue.backup")
    assert (held.revision, held.rows["entries"], held.rows["decisions"]) == (HEAD, 6, 3)
