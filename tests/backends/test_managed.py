"""Servers of our own, with a stand-in for `vllm serve`."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from taxpraben.backends.managed import ManagedServer
from taxpraben.backends.openai_api import OpenAIBackend, OpenAIOptions
from taxpraben.backends.protocol import BackendError, Message, Request, Sampling, TerminalBackendError
from taxpraben.backends.vllm_local import VllmOptions, VllmSetup
from taxpraben.backends.vllm_served import VllmServedBackend, flags
from tests.backends.processes import alive, still_alive

STUB = Path(__file__).with_name("stub_vllm")
ROOT = Path(__file__).parents[2]


def served(folder: Path, source: str = "model", **options: object) -> VllmServedBackend:
    body = {"python": sys.executable, "environment": {"PYTHONPATH": str(STUB)}, "serve": True, "start_s": 60, **options}
    setup = VllmSetup("m", VllmOptions.model_validate(body), source, "", "hub/model@rev", folder)
    return VllmServedBackend(setup)


def question(text: str) -> Request:
    turns = [Message(role="user", content=text)]
    return Request(model="m", revision="r", messages=turns, sampling=Sampling(max_tokens=9))


def log_of(folder: Path) -> str:
    return (folder / ".cache" / "servers" / "m.log").read_text()


def pids(folder: Path) -> list[int]:
    found = re.search(r"pids: (\d+) (\d+)", log_of(folder))
    assert found is not None
    return [int(number) for number in found.groups()]


async def test_a_server_is_started_asked_and_stopped_with_all_that_it_started(tmp_path: Path) -> None:
    async with served(tmp_path) as backend:
        reply = await backend.answer(question("问题"))
        count = await backend.count_tokens(question("问题").messages)
        running = pids(tmp_path)
        assert all(map(alive, running))
        assert backend.engine["vllm"] == "stub"
    assert (reply.status, reply.text, count.tokens) == ("ok", "问题", 2)
    assert still_alive(running) == []


async def test_nobody_without_the_key_of_the_run_is_answered(tmp_path: Path) -> None:
    async with served(tmp_path) as backend:
        stranger = OpenAIBackend("m", OpenAIOptions(base_url=backend.address, served="m"))
        async with stranger:
            with pytest.raises(TerminalBackendError, match="401"):
                await stranger.answer(question("问"))


async def test_a_server_that_does_not_come_up_shows_the_end_of_its_log_without_the_key(tmp_path: Path) -> None:
    backend = served(tmp_path, "bad-model")
    with pytest.raises(BackendError, match="no such model: bad-model") as caught:
        await backend.__aenter__()
    assert backend.key not in str(caught.value)
    assert "m.log" in str(caught.value)


async def test_a_server_that_is_never_ready_is_stopped_at_its_time_limit(tmp_path: Path) -> None:
    said: list[str] = []
    server = ManagedServer("m", tmp_path / "m.log", 0.6, said.append)
    mark = "import os, time; print('pids:', os.getpid(), os.getppid(), flush=True); time.sleep(600)"
    with pytest.raises(BackendError, match=r"not ready within 0.6 s.*start_s"):
        await server.start(lambda _port: [sys.executable, "-c", mark], {})
    number = int((tmp_path / "m.log").read_text().split()[1])
    assert still_alive([number]) == []


async def test_a_server_that_ends_in_the_middle_ends_the_run_by_name(tmp_path: Path) -> None:
    async with served(tmp_path) as backend:
        with pytest.raises(BackendError, match="no connection"):
            await backend.answer(question("[die]"))
        await asyncio.sleep(0.5)
        with pytest.raises(BackendError, match=r"the server ended by itself; what was answered is kept"):
            await backend.answer(question("问"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_however_a_run_ends_it_leaves_no_server(tmp_path: Path, number: int) -> None:
    program = f"""
import asyncio, pathlib, sys
sys.path.insert(0, {str(ROOT)!r})
from tests.backends.test_managed import served
async def main():
    async with served(pathlib.Path({str(tmp_path)!r})):
        print("up", flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""
    run = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert run.stdout is not None
    with run.stdout:
        assert run.stdout.readline() == "up\n"
        running = pids(tmp_path)
        run.send_signal(number)
        run.wait(30)
    assert still_alive(running) == []


async def test_a_watcher_that_is_killed_takes_the_server_with_it(tmp_path: Path) -> None:
    if sys.platform != "linux":
        pytest.skip("only Linux tells a process that its parent has been killed")
    async with served(tmp_path) as backend:
        server = pids(tmp_path)[0]
        import os

        os.kill(backend.process_id, signal.SIGKILL)
        await asyncio.to_thread(time.sleep, 0.2)
        assert still_alive([server]) == []


def test_arguments_of_the_engine_become_flags_of_the_server() -> None:
    arguments = {
        "model": "hub/model",
        "max_model_len": 2368,
        "enforce_eager": True,
        "enable_chunked_prefill": False,
        "trust_remote_code": False,
        "hf_overrides": {"rope": 1},
    }
    assert flags(arguments) == [
        "--model",
        "hub/model",
        "--max-model-len",
        "2368",
        "--enforce-eager",
        "--no-enable-chunked-prefill",
        "--hf-overrides",
        '{"rope": 1}',
    ]


async def test_the_server_gets_the_flags_of_the_offline_engine(tmp_path: Path) -> None:
    async with served(tmp_path, device="cpu", dtype="float32", engine={"max_num_seqs": 8}):
        said = log_of(tmp_path)
    for flag in ("--dtype float32", "--enable-prefix-caching", "--enforce-eager", "--max-num-seqs 8"):
        assert flag in said
