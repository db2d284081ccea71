"""Drives Ray Data's LLM processor and speaks JSON lines; started by ``ray_vllm`` with vLLM's own Python.

Lines in: one ``{"load": {...}}``, then ``{"id", "key", "messages", "sampling"}`` and ``{"id", "count": messages}``.
When no line came for ``quiet_s``, the questions so far are one batch. Lines out as ``vllm_worker`` writes them.
Under ``storage`` lie, as Parquet, ``questions``, the finished ``rows``, and Ray's ``checkpoint`` by key. Imports the
standard library, the worker beside it, Ray, and what Ray brings.
"""

from __future__ import annotations

import importlib
import os
import queue
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

from vllm_worker import (  # type: ignore[import-not-found]  # beside this file, which is run as a script
    Lines,
    prompt_ids,
    read_lines,
    write_line,
)

sys.path.pop(0)  # no other module of this folder may stand before a library of the same name

LOOK_EVERY_S = 1.0
"""Seconds between two looks for finished rows while a batch runs."""

COLUMNS = ("id", "text", "new_ids", "prompt_tokens", "completion_tokens", "failed")

Asked = dict[str, list[dict[str, Any]]]
"""Questions by key; equal ones share a row."""


def main() -> None:
    """Serve until standard input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lines: Lines = queue.Queue()
    threading.Thread(target=read_lines, args=(lines,), daemon=True).start()
    first = lines.get()
    if first is None:
        return
    try:
        cluster = Cluster(first["load"])
    except Exception as error:
        # whatever Ray raises while connecting must reach the other side as a line
        write_line(out, {"failed": f"{type(error).__name__}: {error}"})
        return
    write_line(out, {"ready": cluster.facts})
    while gathered := _gather(lines, cluster, out):
        cluster.answer(gathered, out)
    cluster.leave()


def _gather(lines: Lines, cluster: Cluster, out: TextIO) -> Asked:
    """The questions that come before a pause; none means that the input has ended."""
    asked: Asked = {}
    while True:
        try:
            line = lines.get(timeout=cluster.quiet_s if asked else None)
        except queue.Empty:
            return asked
        if line is None:
            return {}
        if "count" in line:
            write_line(out, {"id": line["id"], "tokens": len(prompt_ids(cluster.tokenizer, line["count"]))})
        elif said := cluster.refusal(line):
            write_line(out, {"id": line["id"], "too_long": said})
        else:
            asked.setdefault(line["key"], []).append(line)


class Cluster:
    """A Ray cluster, and one model on it."""

    def __init__(self, load: dict[str, Any]) -> None:
        """Connect, and load the tokenizer.

        Raises:
            Exception: what Ray or the tokenizer raise.
        """
        self._settings = load.pop("ray")
        self._model = load.pop("model")
        self._arguments = load
        self._room = load["max_model_len"]
        self.quiet_s = float(self._settings["quiet_s"])
        self._storage = Path(self._settings["storage"])
        self._seen_files: dict[Path, list[dict[str, Any]]] = {}
        self._ray = ray = importlib.import_module("ray")
        transformers = importlib.import_module("transformers")
        common = {"revision": load.get("revision"), "trust_remote_code": load["trust_remote_code"]}
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(self._model, **common)
        self._ends = self._end_ids(transformers, common)
        local = self._settings["address"] == "local"
        own = {"num_cpus": self._settings["replicas"] + 2, "include_dashboard": False} if local else {}
        ray.init(address=self._settings["address"], log_to_driver=True, **own)
        self.facts = {
            "ray": ray.__version__,
            "arguments": {"model": self._model, **load},
            "replicas": self._settings["replicas"],
            "cluster": {name: value for name, value in ray.cluster_resources().items() if "node:" not in name},
        }

    def _end_ids(self, transformers: Any, common: dict[str, Any]) -> set[int]:
        ends = {self.tokenizer.eos_token_id}
        try:
            found = transformers.GenerationConfig.from_pretrained(self._model, **common).eos_token_id
        except OSError:
            found = None
        return ends | (set(found) if isinstance(found, list) else {found})

    def refusal(self, line: dict[str, Any]) -> str:
        """Why a prompt does not fit the engine, or nothing."""
        tokens, new = len(prompt_ids(self.tokenizer, line["messages"])), line["sampling"]["max_tokens"]
        return f"{tokens} tokens and {new} new ones, max_model_len {self._room}" if tokens + new > self._room else ""

    def leave(self) -> None:
        """Leave the cluster; one of our own ends."""
        self._ray.shutdown()

    def answer(self, asked: Asked, out: TextIO) -> None:
        """Answer every question: from the finished rows, then from the cluster, each as soon as its row is there."""
        wanted = dict(asked)
        self._hand_on(wanted, out)
        failure = ""
        if wanted:
            errors: list[str] = []
            running = threading.Thread(target=self._run, args=(asked, errors), daemon=True)
            running.start()
            while running.is_alive():
                running.join(LOOK_EVERY_S)
                self._hand_on(wanted, out)
            self._hand_on(wanted, out)
            failure = errors[0] if errors else f"no row came back; clear {self._storage} and ask again"
        for lines in wanted.values():
            for line in lines:
                write_line(out, {"id": line["id"], "error": failure})

    def _hand_on(self, wanted: Asked, out: TextIO) -> None:
        for row in self._finished():
            for line in wanted.pop(row["id"], []):
                write_line(out, {"id": line["id"], **self._reply(row, line)})

    def _reply(self, row: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
        if row["failed"]:
            return {"error": row["failed"]}
        new = row["new_ids"]
        cut = len(new) >= line["sampling"]["max_tokens"] and new[-1] not in self._ends
        return {
            "text": row["text"],
            "finish_reason": "length" if cut else "stop",  # Ray keeps no reason of its own
            "prompt_tokens": row["prompt_tokens"],
            "completion_tokens": row["completion_tokens"],
        }

    def _finished(self) -> Iterator[dict[str, Any]]:
        parquet = importlib.import_module("pyarrow.parquet")
        for path in sorted((self._storage / "rows").glob("*.parquet")):
            if path in self._seen_files:
                continue
            try:
                rows = parquet.read_table(path, columns=list(COLUMNS)).to_pylist()
            except Exception:  # noqa: S112 - still being written; it is looked at again
                continue
            self._seen_files[path] = rows
        for rows in self._seen_files.values():
            yield from rows

    def _run(self, asked: Asked, errors: list[str]) -> None:
        try:
            self._process(asked)
        except Exception as error:
            errors.append(f"{type(error).__name__}: {str(error)[:500]}")

    def _process(self, asked: Asked) -> None:
        data = importlib.import_module("ray.data")
        llm = importlib.import_module("ray.data.llm")
        checkpoint = importlib.import_module("ray.data.checkpoint")
        settings = self._settings
        context = data.DataContext.get_current()
        context.checkpoint_config = checkpoint.CheckpointConfig(
            id_column="id",
            checkpoint_path=str(self._storage / "checkpoint"),
            delete_checkpoint_on_success=False,
        )
        on_cpu = settings["device"] == "cpu"
        processor = llm.build_processor(
            llm.vLLMEngineProcessorConfig(
                model_source=self._model,
                engine_kwargs=self._arguments,
                batch_size=settings["batch_size"],
                concurrency=(settings["replicas"], settings["replicas"]),  # one number would start with a single engine
                should_continue_on_error=True,
                chat_template_stage=False,
                tokenize_stage=False,
                detokenize_stage=False,
                log_engine_metrics=False,
                runtime_env={"env_vars": settings["environment"]},
                **({"placement_group_config": {"bundles": [{"CPU": 1}]}} if on_cpu else {}),
            ),
            preprocess=_question,
            postprocess=_row,
        )
        rows = [
            {"id": key, "ids": prompt_ids(self.tokenizer, lines[0]["messages"]), "sampling": lines[0]["sampling"]}
            for key, lines in asked.items()
        ]
        # through files, because Ray's checkpoint leaves out finished rows only where a file is read
        processor(data.read_parquet(str(self._put_down(rows)))).write_parquet(str(self._storage / "rows"))

    def _put_down(self, rows: list[dict[str, Any]]) -> Path:
        """Write the questions, a file for each engine's batch, in the place of an earlier run's."""
        table = importlib.import_module("pyarrow").Table.from_pylist(rows)
        parquet = importlib.import_module("pyarrow.parquet")
        folder = self._storage / "questions"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        size = min(int(self._settings["batch_size"]), -(-len(rows) // int(self._settings["replicas"])))
        for begin in range(0, len(rows), size):
            parquet.write_table(table.slice(begin, size), folder / f"{begin:08d}.parquet")
        return folder


def _question(row: dict[str, Any]) -> dict[str, Any]:
    """A row as the engine's stage takes it; token ids, so that no second beginning-of-text is added."""
    sampling = {name: value for name, value in row["sampling"].items() if value is not None}
    return {"id": row["id"], "tokenized_prompt": row["ids"], "sampling_params": sampling}


def _row(row: dict[str, Any]) -> dict[str, Any]:
    """What is kept of a finished row."""
    return {
        "id": row["id"],
        "text": row.get("generated_text") or "",
        "new_ids": [int(token) for token in row.get("generated_tokens", [])],
        "prompt_tokens": int(row.get("num_input_tokens") or 0),
        "completion_tokens": int(row.get("num_generated_tokens") or 0),
        "failed": row.get("__inference_error__") or "",
    }


if __name__ == "__main__":
    main()
