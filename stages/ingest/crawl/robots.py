"""robots.txt as RFC 9309 has it: groups, the longest match, wildcards; and what its failures mean."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import unquote, urljoin, urlsplit

import httpx

from stages.ingest.crawl.barriers import barrier
from stages.ingest.decoding import UndecodableError, decode

if TYPE_CHECKING:
    from stages.ingest.crawl.fetching import Fetcher


@dataclass
class Robots:
    """Who may fetch what.

    Attributes:
        rules: (allowed, pattern) in the order of the file.
        delay: Crawl-delay in seconds, or None where the file states none.
        closed: why nothing may be fetched for now, or empty.
    """

    rules: list[tuple[bool, str]] = field(default_factory=list)
    delay: float | None = None
    closed: str = ""

    def allows(self, url: str) -> bool:
        """Whether the address may be fetched: the longest matching pattern decides, Allow wins a tie."""
        if self.closed:
            return False
        parts = urlsplit(url)
        path = unquote(parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        best = (-1, True)
        for allowed, pattern in self.rules:
            if _matches(pattern, path):
                best = max(best, (len(pattern), allowed))
        return best[1]


def _matches(pattern: str, path: str) -> bool:
    ends = pattern.endswith("$")
    body = unquote(pattern[:-1] if ends else pattern)
    expression = ".*".join(re.escape(piece) for piece in body.split("*"))
    return re.match(expression + ("$" if ends else ""), path) is not None


def parse_robots(text: str, agent: str) -> Robots:
    """The rules for an agent: its own groups where there are any, else those of ``*``."""
    groups: list[tuple[list[str], list[tuple[str, str]]]] = []
    open_agents = False
    for raw in text.lstrip("\ufeff").splitlines():
        name, found, value = raw.split("#", 1)[0].partition(":")
        name, value = name.strip().lower(), value.strip()
        if not found:
            continue
        if name == "user-agent":
            if not open_agents:
                groups.append(([], []))
            groups[-1][0].append(value.lower())
            open_agents = True
        elif groups:
            open_agents = False
            groups[-1][1].append((name, value))
    token = agent.split("/", 1)[0].strip().lower()
    named = [rules for agents, rules in groups if token in agents]
    chosen = named or [rules for agents, rules in groups if "*" in agents]
    robots = Robots()
    for name, value in (rule for rules in chosen for rule in rules):
        if name in ("allow", "disallow") and value:
            robots.rules.append((name == "allow", value))
        elif name == "crawl-delay" and re.fullmatch(r"\d+(\.\d+)?", value):
            robots.delay = float(value)
    return robots


def robots_of(status: int | None, text: str, agent: str) -> Robots:
    """What an answer to robots.txt means.

    Found: its rules. 4xx: there is none, all is allowed. 5xx, 429 (the site has too much to do), or no answer
    (``status`` None): closed for now.
    """
    if status is None or status >= 500 or status == 429:
        cause = "gave no answer" if status is None else f"answered {status}"
        return Robots(closed=f"robots.txt {cause}: treated as disallow for now")
    return parse_robots(text, agent) if 200 <= status < 300 else Robots()


_SIZE = 512 * 1024
_TRIES = 3


def ask_robots(fetcher: Fetcher, url: str, agent: str, delay: float) -> Robots:
    """Ask a host for its robots.txt: redirects followed (also to other hosts), failures tried three times.

    Args:
        fetcher: whose client and pace are used; robots.txt is not kept.
        url: any address of the host.
        agent: whose rules count.
        delay: seconds between two tries.
    """
    host = urlsplit(url).netloc
    status: int | None = None
    for attempt in range(_TRIES):
        fetcher.pace.wait(host, max(delay, 0.2 * 2**attempt if attempt else 0.0))
        try:
            answer = fetcher.client.get(urljoin(url, "/robots.txt"), follow_redirects=True)
        except httpx.HTTPError:
            continue
        finally:
            fetcher.pace.mark(host)
        status = answer.status_code
        if kind := barrier(answer.content, status):
            return Robots(closed=f"the site's firewall answered for robots.txt with {kind}")
        if status < 500 and status != 429:
            try:
                return robots_of(status, decode(answer.content[:_SIZE]), agent)
            except UndecodableError:
                return robots_of(status, "", agent)
    return robots_of(status, "", agent)
