"""What a service says of its rate limits in the headers of its replies, kept so that it need not refuse."""

from __future__ import annotations

import email.utils
import re
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Protocol, runtime_checkable

_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}

UNSTATED_RESET_S = 1.0
"""Seconds until a used-up allowance is tried again where the service does not say when it is filled."""

MARGIN_S = 0.01
"""Seconds put on top of what a service says: its clock and its rounding are its own."""


class Allowance:
    """How much of one thing (requests, tokens) the service still takes before its window ends.

    Attributes:
        remaining: what may still be sent; None where the service says nothing.
        limit: the size of a full window, or None.
        flying: what was sent and has not come back.
    """

    def __init__(self) -> None:
        self.remaining: float | None = None
        self.limit: float | None = None
        self.flying = 0.0
        self._full_at = 0.0

    def learn(self, remaining: float, limit: float | None, reset: float | None, own: float, now: float) -> None:
        """Take a header's figures; what else is in the air may not have been counted yet, so it is taken off."""
        self.limit = limit if limit is not None else self.limit
        self.remaining = remaining - max(0.0, self.flying - own)
        self._full_at = now + MARGIN_S + (UNSTATED_RESET_S if reset is None else reset)

    def wait(self, amount: float, now: float) -> float:
        """Seconds until so much may be sent by what is known; 0 where nothing speaks against it."""
        if self.remaining is not None and now >= self._full_at:
            # what is in the air may count in the new window
            self.remaining = None if self.limit is None else self.limit - self.flying
            self._full_at = now + UNSTATED_RESET_S
        if self.remaining is None:
            return 0.0
        needed = amount if self.limit is None else min(amount, self.limit)
        return 0.0 if self.remaining >= needed else self._full_at - now

    def take(self, amount: float) -> None:
        """So much is sent now."""
        self.flying += amount
        if self.remaining is not None:
            self.remaining -= amount

    def settle(self, amount: float) -> None:
        """So much has come back."""
        self.flying -= amount


class ServiceLimits:
    """A service's limits of requests and of tokens, as its last replies told them."""

    def __init__(self) -> None:
        self.requests = Allowance()
        self.tokens = Allowance()

    def learn(self, headers: Mapping[str, str]) -> None:
        """Read ``x-ratelimit-{limit,remaining,reset}-{requests,tokens}``; headers that are not there change nothing."""
        now = time.monotonic()
        for kind, allowance, own in (("requests", self.requests, 1.0), ("tokens", self.tokens, 0.0)):
            remaining = _number(headers.get(f"x-ratelimit-remaining-{kind}"))
            if remaining is not None:
                limit = _number(headers.get(f"x-ratelimit-limit-{kind}"))
                reset = span(headers.get(f"x-ratelimit-reset-{kind}"))
                allowance.learn(remaining, limit, reset, own, now)

    def wait(self, tokens: int, now: float) -> float:
        """Seconds until one request of so many tokens may be sent."""
        return max(self.requests.wait(1, now), self.tokens.wait(tokens, now))

    def take(self, tokens: int) -> None:
        """One request is sent."""
        self.requests.take(1)
        self.tokens.take(tokens)

    def settle(self, tokens: int) -> None:
        """One request has come back, or has failed."""
        self.requests.settle(1)
        self.tokens.settle(tokens)


@runtime_checkable
class TellsLimits(Protocol):
    """A backend whose service says how much it still takes."""

    limits: ServiceLimits


def span(value: str | None) -> float | None:
    """Seconds in a header's span (``1s``, ``6m0s``, ``12ms``, a bare number, or a time since 1970), or None."""
    if not value:
        return None
    number = _number(value)
    if number is not None:
        return max(0.0, number - time.time()) if number > 1e9 else number
    found = _SPAN.findall(value)
    if not found or "".join(amount + unit for amount, unit in found) != value.strip():
        return None
    return sum(float(amount) * _SECONDS[unit] for amount, unit in found)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait by a response's headers (Retry-After in seconds or as a date, retry-after-ms), or None."""
    low = {name.lower(): value for name, value in headers.items()}
    milliseconds = _number(low.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = low.get("retry-after")
    if value is None:
        return None
    seconds = _number(value)
    if seconds is not None:
        return seconds
    when = email.utils.parsedate_tz(value)
    if when is None:
        return None
    return max(0.0, email.utils.mktime_tz(when) - datetime.now(UTC).timestamp())


def _number(value: str | None) -> float | None:
    try:
        return None if value is None else max(0.0, float(value))
    except ValueError:
        return None
