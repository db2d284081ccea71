"""The bare engine that benchmarks/inference_engines.py compares with; run by it with vLLM's own Python.

Takes one JSON line on standard input, ``{"load", "warm", "prompts", "sampling"}``, and writes one on standard output,
``{"start_s", "wall_s", "texts", "new_tokens"}``.
"""

from __future__ import annotations

import json
import os
import sys
import time

import vllm

out = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
given = json.loads(sys.stdin.readline())
begin = time.monotonic()
llm = vllm.LLM(**given["load"])
started = time.monotonic()
sampling = [vllm.SamplingParams(**one) for one in given["sampling"]]
llm.generate(given["warm"], sampling[: len(given["warm"])], use_tqdm=False)
warm = time.monotonic()
found = llm.generate(given["prompts"], sampling, use_tqdm=False)
wall = time.monotonic() - warm
line = {
    "start_s": started - begin,
    "wall_s": wall,
    "texts": [one.outputs[0].text for one in found],
    "new_tokens": sum(len(one.outputs[0].token_ids) for one in found),
}
out.write(json.dumps(line) + "\n")
out.flush()
