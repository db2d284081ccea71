"""A real HTTP server that speaks the OpenAI protocol and misbehaves as the prompt tells it to.

A prompt may begin with tags: ``[429x2]`` refuses twice and then answers, ``[drop]`` closes the connection once,
``[filter]`` is a content filter's 400, and so on. Everything else is answered with a text made from the prompt.

As a process of its own (``python -m tests.backends.faulty_server LOG``) it prints its address, ends with its standard
input, and keeps a log of what it was asked and what it answered, which nobody's death touches.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import sys
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

TAG = re.compile(r"\[([a-z0-9]+?)(?:x(\d+))?\]")


def answer_to(prompt: str) -> str:
    """What the server answers a prompt with; the same prompt gets the same answer."""
    return f"答{hashlib.sha256(prompt.encode()).hexdigest()[:8]}"


class FaultyServer:
    """The server, its address, and what it was asked.

    Args:
        latency: seconds before each answer.
        jitter: up to so many seconds more, so that answers come back in another order.
        key: refuse whatever comes without this key, whichever path it asks for.
        window: so many requests in so many seconds; more are refused, and the headers say how many are left.
        log: a file with one line for each question and each answer.
    """

    handler: type[_Handler]

    def __init__(
        self,
        latency: float = 0.0,
        jitter: float = 0.0,
        key: str = "",
        window: tuple[int, float] | None = None,
        log: Path | None = None,
    ) -> None:
        self.latency = latency
        self.jitter = jitter
        self.key = key
        self.window = window
        self.log = log
        self.begun = 0.0
        self.used = 0
        self.refused: list[float] = []
        self.came: list[float] = []
        self.chance = random.Random(11)
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answered: Counter[str] = Counter()
        self.tries: Counter[str] = Counter()
        self.now = 0
        self.most = 0
        self.guard = threading.Lock()
        handler = type("Handler", (self.handler,), {"owner": self})
        self.http = _Server(("127.0.0.1", 0), handler)
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def note(self, kind: str, prompt: str) -> None:
        if self.log is not None:
            with self.log.open("a", encoding="utf-8") as stream:
                stream.write(json.dumps([kind, prompt], ensure_ascii=False) + "\n")

    def room(self) -> tuple[bool, dict[str, str]]:
        """Whether one more request fits into the window, and the headers that say so."""
        if self.window is None:
            return True, {}
        most, seconds = self.window
        now = time.monotonic()
        if now - self.begun >= seconds:
            self.begun, self.used = now, 0
        fits = self.used < most
        self.used += fits
        left = self.begun + seconds - now
        headers = {
            "x-ratelimit-limit-requests": str(most),
            "x-ratelimit-remaining-requests": str(most - self.used),
            "x-ratelimit-reset-requests": f"{left * 1000:.0f}ms",
        }
        return fits, headers if fits else headers | {"retry-after-ms": f"{left * 1000:.0f}"}

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is part of the play."""


class _Handler(BaseHTTPRequestHandler):
    owner: FaultyServer
    protocol_version = "HTTP/1.1"
    told: dict[str, str] = {}
    disable_nagle_algorithm = True

    def log_message(self, format: str, *arguments: object) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.owner.key and self.headers.get("authorization") != f"Bearer {self.owner.key}":
            self._send(401, {"error": {"message": "no key"}})
            return
        if self.path.endswith("/tokenize"):
            turns = body.get("messages") or [{"content": body["content"]}]
            count = sum(len(turn["content"]) for turn in turns)
            self._send(200, {"count": count, "tokens": list(range(count))})
            return
        if self.path.endswith("/apply-template"):
            self._send(200, {"prompt": "<user>" + body["messages"][-1]["content"]})
            return
        prompt = body["messages"][-1]["content"]
        owner = self.owner
        with owner.guard:
            owner.bodies.append(body)
            owner.headers.append({name.lower(): value for name, value in self.headers.items()})
            owner.tries[prompt] += 1
            tries = owner.tries[prompt]
            owner.now += 1
            owner.most = max(owner.most, owner.now)
            owner.came.append(time.monotonic())
            owner.note("asked", prompt)
            fits, self.told = owner.room()
            pause = owner.latency + owner.chance.uniform(0, owner.jitter)
        if not fits:
            with owner.guard:
                owner.now -= 1
                owner.refused.append(time.monotonic())
            self._send(429, {"error": {"message": "too many requests"}}, self.told)
            return
        time.sleep(pause)
        try:
            self._play(prompt, tries)
        finally:
            with owner.guard:
                owner.now -= 1

    def _play(self, prompt: str, tries: int) -> None:
        for kind, times in TAG.findall(prompt):
            if tries > int(times or 1_000_000):
                continue
            play = getattr(self, f"_{kind}" if not kind.isdigit() else "_refuse", None)
            if kind.isdigit():
                self._refuse(int(kind))
                return
            if play is not None:
                play(prompt)
                return
        self._answer(prompt, answer_to(prompt), "stop")

    def _refuse(self, status: int) -> None:
        extra = {"Retry-After": "0.05"} if status == 429 else {}
        echo = self.headers.get("authorization", "")
        self._send(status, {"error": {"message": f"refused, {echo}", "code": f"c{status}"}}, extra)

    def _drop(self, prompt: str) -> None:
        self.close_connection = True
        self.connection.close()

    def _hang(self, prompt: str) -> None:
        time.sleep(1.0)
        self._answer(prompt, answer_to(prompt), "stop")

    def _drip(self, prompt: str) -> None:
        """Bytes that keep coming and never end, each soon enough for a read limit."""
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "1000")
        self.end_headers()
        for _ in range(10):
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.1)
        self.close_connection = True

    def _stall(self, prompt: str) -> None:
        """Never answers; hangs up long after everybody has gone."""
        time.sleep(3.0)
        self.close_connection = True

    def _slow(self, prompt: str) -> None:
        """A whole answer, in small pieces."""
        data = json.dumps(self._completion(prompt, answer_to(prompt), "stop")).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        for begin in range(0, len(data), 60):
            self.wfile.write(data[begin : begin + 60])
            self.wfile.flush()
            time.sleep(0.02)
        self._answered(prompt)

    def _errorinside(self, prompt: str) -> None:
        """A refusal inside a 200, as some services send it."""
        self._send(200, {"error": {"code": 500, "message": "busy"}})

    def _garbage(self, prompt: str) -> None:
        self._send_bytes(200, b"<html>welcome to the proxy</html>")

    def _null(self, prompt: str) -> None:
        self._answer(prompt, None, "length")

    def _empty(self, prompt: str) -> None:
        self._answer(prompt, "", "stop")

    def _length(self, prompt: str) -> None:
        self._answer(prompt, answer_to(prompt), "length")

    def _nousage(self, prompt: str) -> None:
        self._answer(prompt, answer_to(prompt), "stop", usage=False)

    def _refusal(self, prompt: str) -> None:
        self._answer(prompt, None, "stop", refusal="我不能回答。")

    def _filter(self, prompt: str) -> None:
        self._send(400, {"error": {"code": "content_filter", "message": "The prompt was filtered"}})

    def _cutbyfilter(self, prompt: str) -> None:
        self._answer(prompt, "前半", "content_filter")

    def _toolong(self, prompt: str) -> None:
        self._send(400, {"error": {"code": "context_length_exceeded", "message": "maximum context length is 10"}})

    def _quota(self, prompt: str) -> None:
        self._send(429, {"error": {"code": "insufficient_quota", "message": "pay first"}})

    def _answer(
        self, prompt: str, text: str | None, finish: str, usage: bool = True, refusal: str | None = None
    ) -> None:
        body = self._completion(prompt, text, finish, refusal)
        if not usage:
            del body["usage"]
        self._send(200, body, self.told)
        self._answered(prompt)

    def _answered(self, prompt: str) -> None:
        with self.owner.guard:
            self.owner.answered[prompt] += 1
            self.owner.note("answered", prompt)

    def _completion(self, prompt: str, text: str | None, finish: str, refusal: str | None = None) -> dict[str, Any]:
        message = {"role": "assistant", "content": text, "refusal": refusal}
        return {
            "id": "the-same-id-every-time",
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": {"prompt_tokens": len(prompt), "completion_tokens": len(text or ""), "total_tokens": 0},
        }

    def _send(self, status: int, body: dict[str, Any], extra: dict[str, str] | None = None) -> None:
        self._send_bytes(status, json.dumps(body).encode(), extra)

    def _send_bytes(self, status: int, data: bytes, extra: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (extra or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


FaultyServer.handler = _Handler


if __name__ == "__main__":
    served = FaultyServer(latency=0.02, jitter=0.01, log=Path(sys.argv[1]))
    print(served.url, flush=True)
    sys.stdin.read()
