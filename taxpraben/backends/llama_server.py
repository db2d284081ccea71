"""Serves one GGUF file over the OpenAI protocol on a free loopback port, for as long as its standard input is open.

Run as a process of its own by ``llama_cpp``: a crash of the engine then costs a request, not the run, and the
server cannot outlive the run, because its standard input closes with it.
"""

from __future__ import annotations

import argparse
import json
import sys


def main() -> None:
    """Load the weights, print one JSON line with the address, wait for the end of standard input."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--file", required=True)
    parser.add_argument("--threads", type=int, required=True)
    parser.add_argument("--context", type=int, required=True)
    parser.add_argument("--slots", type=int, required=True)
    chosen = parser.parse_args()

    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = chosen.file
    params.cpuparams.n_threads = chosen.threads
    params.cpuparams_batch.n_threads = chosen.threads
    params.cpuparams.poll = 0  # threads that wait leave their core to others
    params.cpuparams_batch.poll = 0
    params.n_ctx = chosen.context * chosen.slots
    params.n_parallel = chosen.slots
    params.port = 0
    params.cache_ram_mib = 0  # one growing store of old prompts in memory helps no benchmark
    params.verbosity = 1
    server = xllamacpp.Server(params)
    print(json.dumps({"address": server.listening_address}), flush=True)
    sys.stdin.read()
    del server


if __name__ == "__main__":
    main()
