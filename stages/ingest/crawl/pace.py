"""The delay between two requests to a host, whoever asks: sources on one host share it."""

from __future__ import annotations

import time


class Pace:
    """Remembers when each host last answered."""

    def __init__(self) -> None:
        self._last: dict[str, float] = {}

    def wait(self, host: str, seconds: float) -> None:
        """Sleep until ``seconds`` after the host's last answer."""
        last = self._last.get(host)
        if last is not None:
            time.sleep(max(0.0, last + seconds - time.monotonic()))

    def mark(self, host: str) -> None:
        """The host answered, or failed to, just now."""
        self._last[host] = time.monotonic()
