"""A real HTTP server on the loopback that speaks the OpenAI protocol: the model parser of these tests."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ParserServer:
    """Answers each prompt with what ``reply`` makes of it; an integer is an HTTP status to fail with.

    Attributes:
        prompts: what it was asked, in order.
    """

    def __init__(self, reply: Callable[[str], str | int]) -> None:
        self.prompts: list[str] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                prompt = body["messages"][-1]["content"]
                owner.prompts.append(prompt)
                said = reply(prompt)
                if isinstance(said, int):
                    self.send(said, {"error": {"message": "not today", "type": "server_error", "code": None}})
                    return
                message = {"role": "assistant", "content": said}
                choice = {"index": 0, "message": message, "finish_reason": "stop"}
                usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
                answer = {"id": "x", "object": "chat.completion", "created": 0, "model": body["model"]}
                self.send(200, {**answer, "choices": [choice], "usage": usage})

            def send(self, status: int, body: dict[str, Any]) -> None:
                data = json.dumps(body, ensure_ascii=False).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None: ...

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.http.server_address[1]}/v1"

    def close(self) -> None:
        self.http.shutdown()
        self.http.server_close()
