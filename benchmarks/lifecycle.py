"""Times the lifecycle on the sample: from scratch, with nothing changed, and DVC alone; peak memory of all processes.

Run it in a fresh clone after `make install weights`: python benchmarks/lifecycle.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil

RUNS = (
    ("first run, `taxpraben run`", ["taxpraben", "run"]),
    ("second run, nothing changed", ["taxpraben", "run"]),
    ("`dvc repro`, nothing changed", ["dvc", "repro"]),
)


def measure(command: list[str]) -> tuple[float, float, int]:
    """Run a command to its end.

    Returns:
        Wall time in seconds, the largest sum of resident memory of it and its children in GiB (sampled twice a second),
        and its exit status.
    """
    folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    begun = time.monotonic()
    process = subprocess.Popen(command, env=environment)
    peak = 0
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.5):
            total = 0
            try:
                top = psutil.Process(process.pid)
                for one in (top, *top.children(recursive=True)):
                    total += one.memory_info().rss
            except psutil.NoSuchProcess:
                continue
            peak = max(peak, total)

    watcher = threading.Thread(target=watch)
    watcher.start()
    status = process.wait()
    done.set()
    watcher.join()
    return time.monotonic() - begun, peak / 2**30, status


def main() -> None:
    """Print a table for docs/performance.md."""
    rows = [(label, *measure(command)) for label, command in RUNS]
    print("| run | wall | peak memory | status |\n|---|---:|---:|---:|")
    for label, seconds, gibibytes, status in rows:
        print(f"| {label} | {seconds:.0f} s | {gibibytes:.1f} GiB | {status} |")


if __name__ == "__main__":
    main()
