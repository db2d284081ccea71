"""How a stage speaks to the terminal: known errors as one line, progress at a readable pace."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn, TypeVar

T = TypeVar("T")


def say(message: str) -> None:
    """Print one line for the person who watches (standard error; standard output is for results)."""
    print(message, file=sys.stderr, flush=True)


def run_stage(main: Callable[[], None]) -> NoReturn:
    """Run a stage's main; a named error (ValueError) or Ctrl-C ends it with one clear line and a non-zero status.

    The status is 1, or the error's own ``exit_status`` (4 where a budget is spent); 130 for Ctrl-C.
    """
    try:
        main()
    except KeyboardInterrupt:
        say("Stopped; what is done is kept, and the next run goes on from there.")
        sys.exit(130)
    except ValueError as error:
        say(f"Error: {error}")
        sys.exit(getattr(error, "exit_status", 1))
    sys.exit(0)


def progress(rows: Iterable[T], label: str, total: int, every: float = 2.0) -> Iterator[T]:
    """Pass the rows on, saying ``label: done of total`` at most every ``every`` seconds and at the end."""
    last = time.monotonic()
    done = 0
    for row in rows:
        yield row
        done += 1
        if time.monotonic() - last >= every:
            last = time.monotonic()
            say(f"{label}: {done} of {total}")
    say(f"{label}: {done} of {total}")
