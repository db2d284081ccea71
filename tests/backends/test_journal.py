from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from taxpraben.backends.journal import Entry, Journal, JournalError, read_replies
from taxpraben.backends.protocol import Reply


def entry(key: str, text: str = "A", status: str = "ok") -> Entry:
    reply = Reply.model_validate({"status": status, "text": text})
    return Entry(key=key, model="m", about="TaxSCQ/zero-shot/0/x", reply=reply, asked_at="2026-01-01", seconds=0.1)


async def write(path: Path, *entries: Entry) -> None:
    with Journal(path) as journal:
        for line in entries:
            await journal.append(line)


async def test_what_was_appended_is_there_when_the_journal_is_opened_again(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    await write(path, entry("k1", "甲"), entry("k2", "乙\n第二行\u2028"))
    with Journal(path) as journal:
        assert {key: reply.text for key, reply in journal.replies.items()} == {"k1": "甲", "k2": "乙\n第二行\u2028"}


async def test_an_append_returns_only_when_its_line_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        await journal.append(entry("k1"))
        assert '"key":"k1"' in path.read_text(encoding="utf-8")


async def test_appends_of_one_moment_are_all_written_once(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal(path) as journal:
        await asyncio.gather(*(journal.append(entry(f"k{number}")) for number in range(200)))
        assert len(path.read_text(encoding="utf-8").splitlines()) == 200
    assert len(read_replies(path)[0]) == 200


@pytest.mark.parametrize("cut", [1, 40, -1])
async def test_a_torn_last_line_is_cut_away_and_the_lines_before_it_are_kept(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "j.jsonl"
    await write(path, entry("k1"), entry("k2"))
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    torn = whole[first:][:cut].removesuffix(b"}")  # never a whole line
    path.write_bytes(whole[:first] + torn)
    with Journal(path) as journal:
        assert list(journal.replies) == ["k1"]
        assert journal.healed == len(torn)
        await journal.append(entry("k3"))
    assert list(read_replies(path)[0]) == ["k1", "k3"]


async def test_a_last_line_that_lacks_only_its_newline_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    await write(path, entry("k1"), entry("k2"))
    path.write_bytes(path.read_bytes()[:-1])
    with Journal(path) as journal:
        assert (list(journal.replies), journal.healed) == (["k1", "k2"], 0)
        await journal.append(entry("k3"))
    assert read_replies(path) == ({key: entry(key).reply for key in ("k1", "k2", "k3")}, 0)


async def test_a_file_that_is_one_torn_line_becomes_empty(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'{"key": "k1"' + b"x" * 100_000)
    with Journal(path) as journal:
        assert journal.replies == {}
    assert path.read_bytes() == b""


async def test_a_broken_line_inside_is_counted_and_the_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    await write(path, entry("k1"), entry("k2"), entry("k3"))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"\x00\x00{]\n" + lines[2])
    with Journal(path) as journal:
        assert (list(journal.replies), journal.broken) == (["k1", "k3"], 1)


async def test_an_error_is_written_down_but_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    await write(path, entry("k1", status="error"), entry("k2", status="empty"), entry("k1", "later"))
    replies, _ = read_replies(path)
    assert {key: reply.status for key, reply in replies.items()} == {"k1": "ok", "k2": "empty"}
    assert len(path.read_text(encoding="utf-8").splitlines()) == 3


HOLD = """
import sys
from pathlib import Path
from taxpraben.backends.journal import Journal
with Journal(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_process_on_a_journal_is_told_so_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(JournalError, match="another process is writing this journal"), Journal(path):
            pass
        other.kill()
    with Journal(path) as journal:
        assert journal.replies == {}


def test_a_missing_journal_reads_as_empty(tmp_path: Path) -> None:
    assert read_replies(tmp_path / "none.jsonl") == ({}, 0)
