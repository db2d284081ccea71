"""Times the asking of a service over the loopback: the ideal, a bare aiohttp loop, the openai client, and this layer.

The server runs in a process of its own, waits the given latency before each answer and costs nearly nothing; the
answer to a prompt holds the prompt's number, so that a reply that went astray is found. One command:

    python benchmarks/inference_client.py

The layer's row has everything on: prompt hash, gate, budget, journal on disk before a slot asks again. The rows are
taken in turn, so that all see the same machine; the median of the repetitions counts.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import selectors
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import openai

sys.path.insert(0, str(Path(__file__).parents[1]))

from taxpraben.backends.asking import Asker, Manners, work_through
from taxpraben.backends.journal import Journal, read_replies
from taxpraben.backends.openai_api import OpenAIBackend, OpenAIOptions
from taxpraben.backends.protocol import Message, Request, Sampling
from taxpraben.backends.spending import Budget, Price, Purse

PASSAGE = "一般纳税人销售货物适用的税率。" * 40
NEEDED = 0.9


def prompt_of(number: int) -> str:
    """A prompt of some 600 characters with its number."""
    return f"<{number:06d}>{PASSAGE}"


class Answering(asyncio.Protocol):
    """Answers each request on a connection after the latency, with the number found in its body."""

    latency = 0.05

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the way back."""
        self.transport: asyncio.WriteTransport = transport  # type: ignore[assignment]
        self.received = b""

    def data_received(self, data: bytes) -> None:
        """Answer every request that is complete."""
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = self.received[:end].lower()
            at = head.find(b"content-length:") + 15
            whole = end + 4 + int(head[at:].split(b"\r\n", 1)[0])
            if len(self.received) < whole:
                return
            begin = self.received.find(b"<", end) + 1
            answer = _completion(self.received[begin : begin + 6])
            self.received = self.received[whole:]
            asyncio.get_running_loop().call_later(self.latency, self.transport.write, answer)


def _completion(number: bytes) -> bytes:
    body = (
        b'{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":'
        b'"assistant","content":"' + number + b'"},"finish_reason":"stop"}],"usage":{"prompt_tokens":600,'
        b'"completion_tokens":6,"total_tokens":606}}'
    )
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body


async def serve(latency: float) -> None:
    """Serve on a free port of the loopback, which is printed, until the process is ended."""
    Answering.latency = latency
    server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


@contextmanager
def served(latency: float) -> Iterator[str]:
    """The address of a server in a process of its own."""
    command = [sys.executable, __file__, "--serve", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}/v1"
        finally:
            process.kill()


async def bare(url: str, requests: int, concurrency: int, folder: Path) -> list[str]:  # noqa: ARG001 - one shape
    """The least that a client in this language can do: aiohttp and json, nothing kept."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def ask(number: int) -> str:
            body = {"model": "m", "messages": [{"role": "user", "content": prompt_of(number)}], "max_tokens": 20}
            async with session.post(f"{url}/chat/completions", data=json.dumps(body)) as response:
                return str(json.loads(await response.read())["choices"][0]["message"]["content"])

        return await work_through(range(requests), ask, concurrency)


async def by_openai(url: str, requests: int, concurrency: int, folder: Path) -> list[str]:  # noqa: ARG001 - one shape
    """The openai client over aiohttp, nothing kept."""
    http = openai.DefaultAioHttpClient()
    async with openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0, http_client=http) as client:

        async def ask(number: int) -> str:
            done = await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": prompt_of(number)}], max_tokens=20
            )
            return str(done.choices[0].message.content)

        return await work_through(range(requests), ask, concurrency)


async def ours(url: str, requests: int, concurrency: int, folder: Path) -> list[str]:
    """This layer, its journal on disk."""
    backend = OpenAIBackend("m", OpenAIOptions(base_url=url))
    purse = Purse("m", Price(input=1, output=2), [Budget(1e6)])
    with Journal(folder / "journal.jsonl") as journal:
        async with Asker(backend, journal, Manners(concurrency=concurrency), purse=purse) as asker:

            async def ask(number: int) -> str:
                request = Request(
                    model="m",
                    revision=backend.revision,
                    messages=[Message(role="user", content=prompt_of(number))],
                    sampling=Sampling(max_tokens=20),
                )
                return (await asker.ask(request, str(number))).text

            return await work_through(range(requests), ask, asker.workers)


CLIENTS: dict[str, Callable[[str, int, int, Path], Awaitable[list[str]]]] = {
    "bare aiohttp": bare,
    "openai client": by_openai,
    "this layer": ours,
}


def fsync_ms(folder: Path) -> float:
    """The median time of a write that is on disk, in milliseconds."""
    descriptor = os.open(folder / "probe", os.O_WRONLY | os.O_CREAT)
    times = []
    for _ in range(100):
        os.write(descriptor, b"x" * 400)
        begin = time.perf_counter()
        os.fsync(descriptor)
        times.append(time.perf_counter() - begin)
    os.close(descriptor)
    return statistics.median(times) * 1000


def main() -> None:
    """Print a table for docs/performance.md; exit status 1 where an answer is wrong or this layer is too slow."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=2000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds before each answer")
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--folder", type=Path, default=None, help="where the journal is written (a temporary folder)")
    parser.add_argument("--serve", type=float, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        # the selector of epoll rounds every wait up to a whole millisecond, that of select does not
        with asyncio.Runner(loop_factory=lambda: asyncio.SelectorEventLoop(selectors.SelectSelector())) as runner:
            runner.run(serve(options.serve))
        return
    expected = [f"{number:06d}" for number in range(options.requests)]
    walls: dict[str, list[float]] = {name: [] for name in CLIENTS}
    cores: dict[str, list[float]] = {name: [] for name in CLIENTS}
    gc.freeze()  # as the infer stage does, here for all rows
    with tempfile.TemporaryDirectory(dir=options.folder) as folder, served(options.latency) as url:
        disk = fsync_ms(Path(folder))
        for repetition in range(options.repetitions):
            for name, client in CLIENTS.items():
                place = Path(folder) / f"{repetition}-{name.replace(' ', '-')}"
                place.mkdir()
                begin, used = time.perf_counter(), time.process_time()
                answers = asyncio.run(client(url, options.requests, options.concurrency, place))  # type: ignore[arg-type]
                walls[name].append(time.perf_counter() - begin)
                cores[name].append(time.process_time() - used)
                if answers != expected:
                    sys.exit(f"{name}: an answer is not its prompt's")
                journal = place / "journal.jsonl"
                if client is ours and len(read_replies(journal)[0]) != options.requests:
                    sys.exit(f"{journal} does not hold every answer")
    ideal = options.requests * options.latency / options.concurrency
    whole = -(-options.requests // options.concurrency) * options.latency
    print(
        f"{options.requests} requests, {options.concurrency} at a time, {options.latency * 1000:g} ms each; median "
        f"(best) of {options.repetitions}; a write is on disk after {disk:.2f} ms\n\n"
        "| client | wall | of the ideal | core time a request |\n|---|---:|---:|---:|\n"
        f"| ideal (requests x latency / concurrency) | {ideal:.2f} s | 1.00 | |\n"
        f"| ideal, in whole rounds | {whole:.2f} s | {ideal / whole:.2f} | |"
    )
    for name in CLIENTS:
        wall = statistics.median(walls[name])
        core = statistics.median(cores[name]) / options.requests * 1000
        print(f"| {name} | {wall:.2f} s ({min(walls[name]):.2f}) | {ideal / wall:.2f} | {core:.2f} ms |")
    reached = ideal / statistics.median(walls["this layer"])
    floor = ideal / statistics.median(walls["bare aiohttp"])
    print(
        f"\nevery answer is its prompt's and stands in the journal; this layer reaches {reached:.2f} of the ideal "
        f"(needed: {NEEDED}), the bare loop {floor:.2f}"
    )
    if reached < NEEDED:
        sys.exit(1)


if __name__ == "__main__":
    main()
