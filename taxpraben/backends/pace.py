"""How far a long asking has come: items, tokens a second, time left."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

from taxpraben.backends.asking import Asker
from taxpraben.backends.journal import utc_now

EVERY_S = 2.0


class Pace:
    """Counts finished items and says so every two seconds at most, to the terminal and in a file for other ones."""

    def __init__(self, label: str, total: int, asker: Asker, say: Callable[[str], None], status: Path) -> None:
        self.done = 0
        self._label = label
        self._total = total
        self._asker = asker
        self._say = say
        self._status = status
        self._begin = self._said = time.monotonic()

    def step(self) -> None:
        """One more item is done."""
        self.done += 1
        if time.monotonic() - self._said >= EVERY_S:
            self.report("running")

    def report(self, state: str) -> None:
        """Say where things stand now, whatever the clock says."""
        self._said = time.monotonic()
        self._say(self.line())
        self._status.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"state": state, "at": utc_now(), "line": self.line()} | self._figures(), ensure_ascii=False)
        partial = self._status.with_name(f".{self._status.name}.partial")
        partial.write_text(text + "\n", encoding="utf-8")
        partial.replace(self._status)

    def line(self) -> str:
        """One line for the terminal."""
        figures = self._figures()
        parts = [f"{self._label}: {self.done} of {self._total}"]
        if self._asker.asked:
            parts.append(f"{figures['prompt_tokens_a_second']} + {figures['new_tokens_a_second']} tokens/s in and out")
        for count, words in ((self._asker.failed, "failed"), (self._asker.retried, "retried")):
            if count:
                parts.append(f"{count} {words}")
        if self._asker.asked and self.done < self._total:
            parts.append(f"{_span(float(figures['seconds_left']))} left")
        return ", ".join(parts)

    def _figures(self) -> dict[str, float]:
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
        }


def _span(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes:02d} min"
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"
