"""Stands in for `vllm serve`: the same flags and paths, an engine that repeats the question, a child of its own."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

parser = argparse.ArgumentParser()
for flag in ("--host", "--port", "--served-model-name", "--model", "--generation-config"):
    parser.add_argument(flag, required=True)
chosen, others = parser.parse_known_args()
print("flags:", " ".join(others), flush=True)
if "bad" in chosen.model:
    print(f"no such model: {chosen.model}; key {os.environ['VLLM_API_KEY']}", flush=True)
    sys.exit(2)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])  # an engine process
print("pids:", os.getpid(), child.pid, flush=True)


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.say(200, {"version": "stub"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/tokenize":
            self.say(200, {"count": len(body["messages"][0]["content"])})
        elif self.headers["Authorization"] != f"Bearer {os.environ['VLLM_API_KEY']}":
            self.say(401, {"error": {"message": "wrong key"}})
        elif "[die]" in body["messages"][0]["content"]:
            os._exit(3)
        else:
            message = {"content": body["messages"][0]["content"]}
            usage = {"prompt_tokens": 1, "completion_tokens": 1}
            self.say(200, {"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})

    def say(self, status: int, body: object) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


ThreadingHTTPServer((chosen.host, int(chosen.port)), Handler).serve_forever()
