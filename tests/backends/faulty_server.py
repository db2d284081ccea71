"""A real HTTP server that speaks the OpenAI protocol and misbehaves as the prompt tells it to.

A prompt may begin with tags: ``[429x2]`` refuses twice and then answers, ``[drop]`` closes the connection once,
``[filter]`` is a content filter's 400, and so on. Everything else is answered with a text made from the prompt.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

TAG = re.compile(r"\[([a-z0-9]+?)(?:x(\d+))?\]")


def answer_to(prompt: str) -> str:
    """What the server answers a prompt with; the same prompt gets the same answer."""
    return f"答{hashlib.sha256(prompt.encode()).hexdigest()[:8]}"


class FaultyServer:
    """The server, its address, and what it was asked."""

    def __init__(self, latency: float = 0.0) -> None:
        self.latency = latency
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.answered: Counter[str] = Counter()
        self.tries: Counter[str] = Counter()
        self.now = 0
        self.most = 0
        self.guard = threading.Lock()
        handler = type("Handler", (_Handler,), {"owner": self})
        self.http = _Server(("127.0.0.1", 0), handler)
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1"

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
    disable_nagle_algorithm = True

    def log_message(self, format: str, *arguments: object) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if self.path.endswith("/tokenize"):
            self._send(200, {"count": sum(len(turn["content"]) for turn in body["messages"])})
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
        time.sleep(owner.latency)
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
        message = {"role": "assistant", "content": text, "refusal": refusal}
        body: dict[str, Any] = {
            "id": "the-same-id-every-time",
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        }
        if usage:
            body["usage"] = {"prompt_tokens": len(prompt), "completion_tokens": len(text or ""), "total_tokens": 0}
        self._send(200, body)
        with self.owner.guard:
            self.owner.answered[prompt] += 1

    def _send(self, status: int, body: dict[str, Any], extra: dict[str, str] | None = None) -> None:
        self._send_bytes(status, json.dumps(body).encode(), extra)

    def _send_bytes(self, status: int, data: bytes, extra: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (extra or {}).items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)
