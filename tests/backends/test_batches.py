from __future__ import annotations

import asyncio
import json
from collections import Counter
from pathlib import Path

import pytest

from taxpraben.backends.asking import Asker, Manners
from taxpraben.backends.batches import BatchFiles, BatchParams, Wanted
from taxpraben.backends.journal import Journal
from taxpraben.backends.openai_api import OpenAIBackend, OpenAIOptions
from taxpraben.backends.protocol import BackendError
from taxpraben.backends.spending import Budget, BudgetSpentError, Price, Purse
from tests.backends.batch_server import BatchServer
from tests.backends.faulty_server import answer_to
from tests.backends.test_asking import question

QUICK = BatchParams(poll_s=0.02, requests=7)


async def by_batches(
    server: BatchServer,
    folder: Path,
    prompts: list[str],
    params: BatchParams = QUICK,
    purse: Purse | None = None,
) -> tuple[dict[str, str], int, list[str]]:
    """The journal's statuses by prompt, what no batch answered, and what was said."""
    backend = OpenAIBackend("m", OpenAIOptions(base_url=server.url, served="served", batch_api=True))
    wanted = [Wanted(question(prompt), prompt) for prompt in prompts]
    said: list[str] = []
    with Journal(folder / "j.jsonl") as journal:
        async with Asker(backend, journal, Manners(), purse=purse) as asker:
            files = BatchFiles(asker, backend, folder / "batches.json", params, said.append)
            left = await files.ask([one for one in wanted if asker.known(one.request) is None])
        statuses = {one.about: journal.replies[one.key] for one in wanted if one.key in journal.replies}
    for prompt, reply in statuses.items():
        assert reply.status != "ok" or reply.text == answer_to(prompt)
    return {prompt: reply.status for prompt, reply in statuses.items()}, left, said


PROMPTS = [f"{'[filter]' if number % 5 == 0 else ''}第{number}问" for number in range(20)]


async def test_batches_answer_every_request_once_in_files_of_the_allowed_size(tmp_path: Path) -> None:
    server = BatchServer()
    try:
        statuses, left, said = await by_batches(server, tmp_path, PROMPTS)
        assert Counter(statuses.values()) == {"ok": 16, "content_filter": 4}
        assert (left, server.singly, len(server.batches)) == (0, 0, 3)
        rows = [json.loads(line) for line in server.files["file-0"].splitlines()]
        assert len(rows) == 7
        assert rows[0]["method"] == "POST"
        assert rows[0]["url"] == "/v1/chat/completions"
        assert rows[0]["body"]["model"] == "served"
        assert len((tmp_path / "j.jsonl").read_text(encoding="utf-8").splitlines()) == 20  # the line twice is one row
        assert any("1 lines that are none of ours" in line for line in said)
        assert not (tmp_path / "batches.json").exists()
        again = await by_batches(server, tmp_path, PROMPTS)
        assert (again[0], len(server.batches)) == (statuses, 3)  # nothing is asked again
    finally:
        server.close()


async def test_a_batch_under_way_survives_the_process_and_is_not_sent_again(tmp_path: Path) -> None:
    server = BatchServer(looks=10_000)
    try:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1.0):
                await by_batches(server, tmp_path, PROMPTS)
        kept = json.loads((tmp_path / "batches.json").read_text(encoding="utf-8"))
        assert [batch["batch_id"] for batch in kept] == ["batch-0", "batch-1", "batch-2"]
        server.until = 0
        statuses, left, _ = await by_batches(server, tmp_path, [*PROMPTS, "新的问题"])
        assert (len(statuses), left, len(server.batches)) == (21, 0, 4)  # one more batch, for the new question only
    finally:
        server.close()


async def test_a_batch_whose_creation_got_no_answer_is_found_again_by_its_mark(tmp_path: Path) -> None:
    server = BatchServer(create_fails=1)
    try:
        with pytest.raises(BackendError, match="the batch file was not taken: no connection"):
            await by_batches(server, tmp_path, PROMPTS[:5])
        assert (len(server.batches), json.loads((tmp_path / "batches.json").read_text())[0]["batch_id"]) == (1, "")
        statuses, _, _ = await by_batches(server, tmp_path, PROMPTS[:5])
        assert (len(statuses), len(server.batches)) == (5, 1)
    finally:
        server.close()


async def test_an_upload_that_was_never_made_a_batch_is_sent_again(tmp_path: Path) -> None:
    server = BatchServer()
    try:
        (tmp_path / "batches.json").write_text(json.dumps([{"mark": "gone", "batch_id": "", "keys": ["k"]}]))
        statuses, _, _ = await by_batches(server, tmp_path, PROMPTS[:5])
        assert len(statuses) == 5
    finally:
        server.close()


async def test_what_an_expired_batch_has_not_answered_is_left_to_be_asked_singly(tmp_path: Path) -> None:
    server = BatchServer(end="expired", answered_share=0.5)
    try:
        statuses, left, _ = await by_batches(server, tmp_path, PROMPTS[:6])
        assert (len(statuses), left) == (3, 3)
    finally:
        server.close()


async def test_a_refused_batch_ends_the_run_with_the_services_words(tmp_path: Path) -> None:
    server = BatchServer(end="failed")
    try:
        with pytest.raises(BackendError, match="batch-0 failed: the file is no good"):
            await by_batches(server, tmp_path, PROMPTS[:6])
        assert not (tmp_path / "batches.json").exists()  # it is over: the next run may send anew
    finally:
        server.close()


async def test_a_row_that_the_service_calls_bad_is_an_error_row(tmp_path: Path) -> None:
    server = BatchServer()
    try:
        _, left, _ = await by_batches(server, tmp_path, ["[400]问", "问"])
        lines = [json.loads(line) for line in (tmp_path / "j.jsonl").read_text(encoding="utf-8").splitlines()]
        assert {line["about"]: line["reply"]["status"] for line in lines} == {"[400]问": "error", "问": "ok"}
        assert left == 1  # an error is not final, as everywhere
    finally:
        server.close()


async def test_no_more_is_put_into_batches_than_the_budget_pays_for(tmp_path: Path) -> None:
    server = BatchServer()
    try:
        # "第n问" is estimated at 3 (or 4) + 8 tokens, and may bring 20: at most 32 x 1 each, so three fit into 100
        purse = Purse("m", Price(input=1e6, output=1e6), [Budget(100)])
        with pytest.raises(BudgetSpentError, match=r"infer\.budget is 100 USD"):
            await by_batches(server, tmp_path, [f"第{number}问" for number in range(1, 9)], purse=purse)
        sent = server.files["file-0"].splitlines()
        assert len(sent) == len((tmp_path / "j.jsonl").read_text(encoding="utf-8").splitlines()) == 3
        assert purse.spent == 3 * (3 + 9)  # by the service's own counts: three characters in, nine out
    finally:
        server.close()
