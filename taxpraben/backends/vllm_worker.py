"""Runs vLLM's engine and speaks JSON lines; started by ``vllm_local`` with the Python of vLLM's own environment.

Imports the standard library and vLLM only: its pins exclude this project's orchestration. Lines in: one
``{"load": {...}}``, then ``{"id", "messages", "sampling"}`` and ``{"id", "count": messages}``, in any number and
at any time. Lines out: ``{"ready": {...}}``, then for each id ``{"id", "text", ...}``, ``{"id", "tokens"}``,
``{"id", "too_long"}`` or ``{"id", "error"}``, in the order in which they are finished. The end of the input ends the
worker and everything that it started, whatever the engine is doing.
"""

from __future__ import annotations

import importlib
import json
import os
import queue
import signal
import sys
import threading
import time
from typing import Any, TextIO

GRACE_S = 5.0
"""Seconds that the engine has to end after the input; then its process group is killed."""

Lines = queue.Queue[dict[str, Any] | None]


def main() -> None:
    """Serve until standard input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # vLLM prints to standard output; the protocol must not see it
    lines: Lines = queue.Queue()
    threading.Thread(target=read_lines, args=(lines,), daemon=True).start()
    first = lines.get()
    if first is None:
        return
    try:
        vllm = importlib.import_module("vllm")  # not in the environment that checks this file's types
        llm = vllm.LLM(**first["load"])
    except Exception as error:
        # whatever the engine raises while loading must reach the other side as a line
        write_line(out, {"failed": f"{type(error).__name__}: {error}"})
        return
    write_line(out, {"ready": _facts(vllm, first["load"])})
    _serve(llm, vllm.SamplingParams, lines, out, first["load"].get("max_model_len") or 0)


def read_lines(lines: Lines) -> None:
    """Put the input's lines into the queue, None at its end; then end the process group, if it does not end itself."""
    for line in sys.stdin:
        lines.put(json.loads(line))
    lines.put(None)
    time.sleep(GRACE_S)
    if os.getpgid(0) == os.getpid():  # we lead our own group; it holds what the engine started
        os.killpg(0, signal.SIGKILL)


def write_line(out: TextIO, line: dict[str, Any]) -> None:
    """Write one line of the protocol."""
    out.write(json.dumps(line, ensure_ascii=False) + "\n")
    out.flush()


def _facts(vllm: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    facts = {"vllm": vllm.__version__, "arguments": arguments}
    try:
        torch = importlib.import_module("torch")
        on_gpu = torch.cuda.is_available()
        facts["torch"] = torch.__version__
        facts["device"] = torch.cuda.get_device_name() if on_gpu else f"cpu, {torch.get_num_threads()} threads"
    except ImportError:
        pass
    return facts


def _serve(llm: Any, sampling: Any, lines: Lines, out: TextIO, room: int) -> None:
    engine = llm.llm_engine
    desk = _Desk(llm, sampling, out, room)
    while True:
        while True:
            try:
                line = lines.get(block=not engine.has_unfinished_requests())
            except queue.Empty:
                break
            if line is None:
                return  # nobody waits for what is unfinished
            desk.take(line)
        for output in engine.step():
            if output.finished:
                write_line(out, _finished(output))


class _Desk:
    """Takes lines in: counts them, hands them to the engine, or says why not."""

    def __init__(self, llm: Any, sampling: Any, out: TextIO, room: int) -> None:
        self._engine = llm.llm_engine
        self._tokenizer = llm.get_tokenizer()
        self._sampling = sampling
        self._out = out
        self._room = room

    def take(self, line: dict[str, Any]) -> None:
        number = line["id"]
        try:
            if "count" in line:
                ids = prompt_ids(self._tokenizer, line["count"])
                write_line(self._out, {"id": number, "tokens": len(ids)})
                return
            ids = prompt_ids(self._tokenizer, line["messages"])
            wanted = len(ids) + line["sampling"]["max_tokens"]
            if self._room and wanted > self._room:  # one prompt beyond the context would fail the whole batch
                said = f"{len(ids)} tokens and {line['sampling']['max_tokens']} new ones, max_model_len {self._room}"
                write_line(self._out, {"id": number, "too_long": said})
                return
            # token ids, because a text would get a second beginning-of-text from the engine's tokenizer
            self._engine.add_request(number, {"prompt_token_ids": ids}, self._sampling(**line["sampling"]))
        except Exception as error:
            # one request that the engine refuses must not end the others
            write_line(self._out, {"id": number, "error": f"{type(error).__name__}: {error}"})


def _finished(output: Any) -> dict[str, Any]:
    best = output.outputs[0]
    return {
        "id": output.request_id,
        "text": best.text,
        "finish_reason": best.finish_reason or "",
        "prompt_tokens": len(output.prompt_token_ids),
        "completion_tokens": len(best.token_ids),
    }


def prompt_ids(tokenizer: Any, messages: list[dict[str, str]]) -> list[int]:
    """The token ids of a conversation, as ``transformers_local.prompt_ids`` gives them (a test compares the two)."""
    if tokenizer.chat_template:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    else:
        text = "\n\n".join(message["content"] for message in messages)
    ids: list[int] = tokenizer.encode(text, add_special_tokens=False)
    begin = tokenizer.bos_token_id
    if begin is None:
        return ids
    while ids[:1] == [begin]:
        ids = ids[1:]
    wants = tokenizer.encode("", add_special_tokens=True)[:1] == [begin] or text.startswith(tokenizer.bos_token)
    return [begin, *ids] if wants else ids


if __name__ == "__main__":
    main()
