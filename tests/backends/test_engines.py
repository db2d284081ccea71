"""vLLM and Ray themselves, on this machine's CPU with a small random model: `make test-engines`."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.tiny_model import TOKENIZER, make_tiny_model
from taxpraben.backends.asking import Asker, work_through
from taxpraben.backends.journal import Journal
from taxpraben.backends.protocol import Backend, Message, Reply, Request, Sampling
from taxpraben.backends.ray_vllm import RayBackend
from taxpraben.backends.replicas import ReplicaBackend
from taxpraben.backends.transformers_local import TransformersBackend, TransformersOptions
from taxpraben.backends.vllm_local import VllmBackend, VllmOptions, VllmSetup
from taxpraben.backends.vllm_served import VllmServedBackend
from tests.backends.processes import still_alive

ROOT = Path(__file__).parents[2]
PYTHON = ROOT / ".venv-vllm" / "bin" / "python"
COUNT = 24

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.exists(), reason="no .venv-vllm; run `make ray-cpu`"),
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("tiny"), ROOT / TOKENIZER)


def setup(model: Path, folder: Path, **body: object) -> VllmSetup:
    given = {"device": "cpu", "dtype": "float32", "threads": 1, "max_model_len": 512, "python": str(PYTHON), **body}
    return VllmSetup("tiny", VllmOptions.model_validate(given), model, "", "tiny", folder)


def question(at: int, repeat: int = 1) -> Request:
    turns = [Message(role="user", content=f"第{at}题：小规模纳税人如何申报？" * repeat)]
    return Request(model="tiny", revision="r", messages=turns, sampling=Sampling(max_tokens=12, seed=at))


async def ask_all(backend: Backend, count: int = COUNT) -> list[Reply]:
    async with backend:
        return await asyncio.gather(*(backend.answer(question(at)) for at in range(count)))


@pytest.fixture(scope="module")
def plain(model: Path) -> list[str]:
    """The greedy answers of transformers in float32, the reference."""
    options = TransformersOptions(dtype="float32", device="cpu", threads=1)
    return [reply.text for reply in asyncio.run(ask_all(TransformersBackend("tiny", options, model, "", "tiny")))]


async def test_the_offline_engine_answers_as_transformers_does_and_an_overlong_prompt_alone_is_too_long(
    model: Path, plain: list[str], tmp_path: Path
) -> None:
    async with VllmBackend(setup(model, tmp_path)) as engine:
        found = await asyncio.gather(
            engine.answer(question(0, repeat=100)), *(engine.answer(question(at)) for at in range(COUNT))
        )
        count = await engine.count_tokens(question(0).messages)
    assert found[0].status == "too_long"
    assert [reply.text for reply in found[1:]] == plain
    assert len(set(plain)) > COUNT // 2  # answers that could tell a mix-up
    assert count.tokens == found[1].prompt_tokens


async def test_vllm_serve_answers_as_the_offline_engine_and_is_gone_afterwards(
    model: Path, plain: list[str], tmp_path: Path
) -> None:
    server = VllmServedBackend(setup(model, tmp_path, serve=True))
    async with server:
        found = await asyncio.gather(
            server.answer(question(0, repeat=100)), *(server.answer(question(at)) for at in range(COUNT))
        )
        running = [server.process_id, *_children(server.process_id)]
    assert len(running) >= 3  # the watcher, the server, its engine
    assert found[0].status == "too_long"
    assert [reply.text for reply in found[1:]] == plain
    assert still_alive(running) == []


async def test_two_engines_side_by_side_answer_as_one(model: Path, plain: list[str], tmp_path: Path) -> None:
    two = setup(model, tmp_path, replicas=2)
    members = [VllmBackend(two, replica) for replica in range(2)]
    assert [reply.text for reply in await ask_all(ReplicaBackend("tiny", members))] == plain


def test_a_run_killed_in_the_middle_leaves_no_engine_and_resumes_with_what_is_missing(
    model: Path, tmp_path: Path
) -> None:
    program = f"""
import asyncio, pathlib, sys
sys.path.insert(0, {str(ROOT)!r})
from tests.backends.test_engines import *
async def main():
    backend = VllmBackend(setup(pathlib.Path({str(model)!r}), pathlib.Path({str(tmp_path)!r}), concurrency=4))
    with Journal(pathlib.Path({str(tmp_path / "j.jsonl")!r})) as journal:
        asker = Asker(backend, journal)
        async with asker:
            await asker.start()
            print(backend.process_id, flush=True)
            await work_through(range(200), lambda at: asker.ask(question(at), str(at)), 4)
asyncio.run(main())
"""
    run = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert run.stdout is not None
    with run.stdout:
        worker = int(run.stdout.readline())
        journal_file = tmp_path / "j.jsonl"
        while journal_file.stat().st_size < 8000:
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
        run.wait(30)
    assert still_alive([worker]) == []

    async def resume() -> tuple[int, int]:
        with Journal(journal_file) as journal:
            asker = Asker(VllmBackend(setup(model, tmp_path)), journal)
            async with asker:
                await work_through(range(60), lambda at: asker.ask(question(at), str(at)), 60)
            return asker.asked, asker.kept

    asked, kept = asyncio.run(resume())
    assert asked + kept == 60
    assert kept > 10
    keys = [json.loads(line)["key"] for line in journal_file.read_text(encoding="utf-8").splitlines()]
    assert len(keys) == len(set(keys))


@pytest.mark.ray
async def test_ray_answers_with_two_engines_and_later_asks_only_for_what_is_missing(
    model: Path, plain: list[str], tmp_path: Path
) -> None:
    ray = {"address": "local", "replicas": 2, "batch_size": 4, "storage": "store", "quiet_s": 0.5}
    cluster = setup(model, tmp_path, ray=ray)
    assert cluster.options.ray is not None
    first = await ask_all(RayBackend(cluster, cluster.options.ray), COUNT - 8)
    again = await ask_all(RayBackend(cluster, cluster.options.ray), COUNT)
    assert [reply.text for reply in first] == plain[: COUNT - 8]
    assert [reply.text for reply in again] == plain
    files = list((tmp_path / "store" / "tiny" / "rows").glob("*.parquet"))
    import pyarrow.parquet as pq

    ids = [row for path in files for row in pq.read_table(path, columns=["id"]).column("id").to_pylist()]
    assert len(ids) == len(set(ids)) == COUNT


def _children(number: int) -> list[int]:
    import psutil

    return [child.pid for child in psutil.Process(number).children(recursive=True)]
