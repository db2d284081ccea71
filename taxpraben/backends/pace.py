"""How far a long asking has come: items, tokens a second, cost, time left; for the terminal, and in a file."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from taxpraben.backends.asking import Asker
from taxpraben.backends.journal import is_held, utc_now
from taxpraben.records.base import Part

EVERY_S = 2.0


class Standing(Part):
    """What a status file says; ``journals/ASKING/NAME.status.json``.

    Attributes:
        state: running, done, or stopped.
        at: when it was written, ISO 8601 in UTC.
        process: who writes it.
        line: all of it for people.
        done, total, asked, failed: items done and to do, requests that the model answered now, those that failed.
        cost: what the answers have cost so far, earlier runs included, in ``currency``.
    """

    state: str
    at: str
    process: int = 0
    line: str
    done: int
    total: int
    asked: int
    failed: int
    prompt_tokens_a_second: float
    new_tokens_a_second: float
    seconds_left: float
    cost: float = 0.0
    currency: str = ""


class Pace:
    """Counts finished items and says so every two seconds at most."""

    def __init__(self, label: str, total: int, asker: Asker, say: Callable[[str], None], status: Path) -> None:
        self.done = 0
        self._label = label
        self._total = total
        self._asker = asker
        self._say = say
        self._status = status
        self._begin = self._said = time.monotonic()
        self._write("running")

    def step(self) -> None:
        """One more item is done."""
        self.done += 1
        if time.monotonic() - self._said >= EVERY_S:
            self.report("running")

    def report(self, state: str) -> None:
        """Say where things stand now, whatever the clock says."""
        self._said = time.monotonic()
        self._say(self.line())
        self._write(state)

    def _write(self, state: str) -> None:
        self._status.parent.mkdir(parents=True, exist_ok=True)
        found = {"state": state, "at": utc_now(), "process": os.getpid(), "line": self.line()} | self._figures()
        partial = self._status.with_name(f".{self._status.name}.partial")
        partial.write_text(json.dumps(found, ensure_ascii=False) + "\n", encoding="utf-8")
        partial.replace(self._status)

    def line(self) -> str:
        """One line for the terminal."""
        figures = self._figures()
        asker = self._asker
        parts = [f"{self._label}: {self.done} of {self._total}"]
        if asker.asked:
            parts.append(f"{figures['prompt_tokens_a_second']} + {figures['new_tokens_a_second']} tokens/s in and out")
        for count, words in ((asker.failed, "failed"), (asker.retried, "retried")):
            if count:
                parts.append(f"{count} {words}")
        if asker.purse.price is not None:
            parts.append(f"{asker.purse.spent:.4f} {asker.purse.currency} spent")
        if asker.asked and self.done < self._total:
            parts.append(f"{_span(float(figures['seconds_left']))} left")
        return ", ".join(parts)

    def _figures(self) -> dict[str, Any]:
        asker = self._asker
        seconds = max(1e-9, time.monotonic() - self._begin)
        asked_for = max(1, asker.asked)
        quick = self.done - asker.asked  # from a journal, in no time
        left = max(0, self._total - max(0, quick) - asker.asked)
        return {
            "done": self.done,
            "total": self._total,
            "asked": asker.asked,
            "failed": asker.failed,
            "prompt_tokens_a_second": round(asker.prompt_tokens / seconds, 1),
            "new_tokens_a_second": round(asker.completion_tokens / seconds, 1),
            "seconds_left": round(left * seconds / asked_for, 1),
            "cost": round(asker.purse.spent, 6),
            "currency": asker.purse.currency,
        }


def read_standing(status: Path) -> Standing | None:
    """What a status file says now; ``killed`` where it was left running and nobody holds its journal any more.

    None where there is no such file, or it is an older program's.
    """
    try:
        found = Standing.model_validate_json(status.read_bytes())
    except (OSError, ValueError):
        return None
    journal = status.with_name(status.name.replace(".status.json", ".jsonl"))
    if found.state == "running" and not is_held(journal):
        return found.model_copy(update={"state": "killed"})
    return found


def _span(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
