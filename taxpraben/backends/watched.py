"""Runs a command for as long as its own standard input is open: ``python watched.py COMMAND...``.

Stands between a run and a server that it started. The input closes when the run ends, also by kill -9; then the
command's whole process group is asked to end, and killed if it does not. Standard library only, so that any
interpreter can run it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
import types

GRACE_S = 10.0
"""Seconds between the request to end and the kill."""


def main() -> int:
    """Run the command to its end, or to the end of standard input, whichever comes first.

    Returns:
        The command's exit status.
    """
    child = subprocess.Popen(
        sys.argv[1:], stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=_end_with_this_process
    )

    def stop(_number: int = 0, _frame: types.FrameType | None = None) -> None:
        _signal_group(child.pid, signal.SIGTERM)
        killer = threading.Timer(GRACE_S, _signal_group, (child.pid, signal.SIGKILL))
        killer.daemon = True
        killer.start()

    def watch() -> None:
        with contextlib.suppress(OSError):
            while os.read(0, 4096):
                pass
        stop()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    threading.Thread(target=watch, daemon=True).start()
    status = child.wait()
    _signal_group(child.pid, signal.SIGKILL)  # engine processes that outlived the server
    return status if status >= 0 else 128 - status


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _end_with_this_process() -> None:
    """On Linux the kernel ends the command should this process itself be killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


if __name__ == "__main__":
    sys.exit(main())
