"""Watching processes in tests of what must not be left behind."""

from __future__ import annotations

import time

import psutil


def alive(number: int) -> bool:
    try:
        return bool(psutil.Process(number).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def still_alive(numbers: list[int], within_s: float = 20.0) -> list[int]:
    """Those that are left once the time is up; none as soon as all have ended."""
    end = time.monotonic() + within_s
    while (left := [number for number in numbers if alive(number)]) and time.monotonic() < end:
        time.sleep(0.1)
    return left
