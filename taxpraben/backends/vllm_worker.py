"""Runs vLLM's engine and speaks JSON lines; started by ``vllm_local`` with the Python of vLLM's own environment.

Imports the standard library and vLLM only: its pins exclude this project's orchestration. Lines in: one
``{"load": {...}}``, then ``{"id", "messages", "sampling"}`` and ``{"id", "count": messages}``, in any number and
at any time. Lines out: ``{"ready": {...}}``, then for each id ``{"id", "text", ...}``, ``{"id", "tokens"}`` or
``{"id", "error"}``, in the order in which they are finished. The end of the input ends the worker.
"""

from __future__ import annotations

import importlib
import json
import os
import queue
import sys
import threading
from typing import Any, TextIO


def main() -> None:
    """Serve until standard input ends."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # vLLM prints to standard output; the protocol must not see it
    lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    first = lines.get()
    if first is None:
        return
    try:
        vllm = importlib.import_module("vllm")  # not in the environment that checks this file's types
        llm = vllm.LLM(**first["load"])
    except Exception as error:
        # whatever the engine raises while loading must reach the other side as a line
        _write(out, {"failed": f"{type(error).__name__}: {error}"})
        return
    _write(out, {"ready": {"vllm": vllm.__version__}})
    _serve(llm, vllm.SamplingParams, lines, out)


def _read(lines: queue.Queue[dict[str, Any] | None]) -> None:
    for line in sys.stdin:
        lines.put(json.loads(line))
    lines.put(None)


def _write(out: TextIO, line: dict[str, Any]) -> None:
    out.write(json.dumps(line, ensure_ascii=False) + "\n")
    out.flush()


def _serve(llm: Any, sampling: Any, lines: queue.Queue[dict[str, Any] | None], out: TextIO) -> None:
    engine = llm.llm_engine
    open_input = True
    while open_input or engine.has_unfinished_requests():
        while True:
            try:
                line = lines.get(block=open_input and not engine.has_unfinished_requests())
            except queue.Empty:
                break
            if line is None:
                open_input = False
                break
            _take(llm, sampling, line, out)
        if not engine.has_unfinished_requests():
            continue
        for output in engine.step():
            if output.finished:
                _write(out, _finished(output))


def _take(llm: Any, sampling: Any, line: dict[str, Any], out: TextIO) -> None:
    try:
        ids = prompt_ids(llm.get_tokenizer(), line.get("count") or line["messages"])
        if "count" in line:
            _write(out, {"id": line["id"], "tokens": len(ids)})
            return
        # token ids, because a text would get a second beginning-of-text from the engine's tokenizer
        llm.llm_engine.add_request(line["id"], {"prompt_token_ids": ids}, sampling(**line["sampling"]))
    except Exception as error:
        # one request that the engine refuses must not end the others
        _write(out, {"id": line["id"], "error": f"{type(error).__name__}: {error}"})


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
