"""Serves one GGUF file over the OpenAI protocol, with the key in ``TAXPRABEN_SERVER_KEY``; see ``llama_cpp``."""

from __future__ import annotations

import argparse
import os
import signal
import threading
from pathlib import Path
from typing import Any

KEY = "TAXPRABEN_SERVER_KEY"


def open_server(file: Path, threads: int, context: int, slots: int, port: int, key: str) -> Any:
    """llama.cpp's server in this process, listening on the loopback until it is dropped.

    Args:
        file: the GGUF file.
        threads: of the engine.
        context: tokens of prompt and answer together, for each slot.
        slots: requests worked on side by side.
        port: 0 takes a free one.
        key: what a request over HTTP must carry; empty for none.

    Raises:
        RuntimeError: the file does not load.
    """
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.cpuparams.n_threads = threads
    params.cpuparams_batch.n_threads = threads
    params.cpuparams.poll = 0  # threads that wait leave their core to others
    params.cpuparams_batch.poll = 0
    params.n_ctx = context * slots
    params.n_parallel = slots
    params.port = port
    if key:
        params.api_keys = [key]
    params.cache_ram_mib = 0  # one growing store of old prompts in memory helps no benchmark
    params.verbosity = 1
    # llama.cpp's own defaults cut the tail of what may be drawn, which no other engine does unasked
    params.sampling.top_k = 0
    params.sampling.min_p = 0.0
    return xllamacpp.Server(params)


def main() -> None:
    """Load the weights and serve until this process is asked to end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--slots", type=int, required=True)
    parser.add_argument("--port", type=int, required=True)
    chosen = parser.parse_args()
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    server = open_server(
        chosen.file, chosen.threads, chosen.context, chosen.slots, chosen.port, os.environ.get(KEY, "")
    )
    ended.wait()
    del server


if __name__ == "__main__":
    main()
