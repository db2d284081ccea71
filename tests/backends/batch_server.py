"""A real HTTP server that takes batch files: upload, create, look, list, download; slow and faulty where told to be."""

from __future__ import annotations

import json
import re
from typing import Any

from tests.backends.faulty_server import FaultyServer, _Handler, answer_to

MISTAKES = {
    "[filter]": (400, {"error": {"code": "content_filter", "message": "filtered"}}),
    "[400]": (400, {"error": {"message": "bad"}}),
}


class BatchServer(FaultyServer):
    """Answers a batch after so many looks at it.

    Args:
        looks: how often a batch is looked at until it is over.
        end: the status in which it ends.
        answered_share: the share of its requests that were answered when it ended (``expired``).
        create_fails: so many creations are done, and the answer to them is lost.
    """

    def __init__(
        self, looks: int = 2, end: str = "completed", answered_share: float = 1.0, create_fails: int = 0
    ) -> None:
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.looks: dict[str, int] = {}
        self.until = looks
        self.end = end
        self.answered_share = answered_share
        self.create_fails = create_fails
        self.singly = 0
        super().__init__()


class _BatchHandler(_Handler):
    owner: BatchServer

    def do_POST(self) -> None:  # noqa: N802 - the name that http.server calls
        owner = self.owner
        if self.path.endswith("/files"):
            data = self.rfile.read(int(self.headers["content-length"]))
            boundary = re.search(r"boundary=(\S+)", self.headers["content-type"])
            assert boundary is not None
            parts = data.split(b"--" + boundary[1].encode())
            content = next(part.split(b"\r\n\r\n", 1)[1] for part in parts if b"filename=" in part).removesuffix(
                b"\r\n"
            )
            name = f"file-{len(owner.files)}"
            owner.files[name] = content
            self._send(
                200,
                {
                    "id": name,
                    "object": "file",
                    "bytes": len(content),
                    "created_at": 1,
                    "filename": "x",
                    "purpose": "batch",
                    "status": "processed",
                },
            )
        elif self.path.endswith("/batches"):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            name = f"batch-{len(owner.batches)}"
            owner.batches[name] = body
            owner.looks[name] = 0
            if owner.create_fails:
                owner.create_fails -= 1
                self.close_connection = True
                self.connection.close()
                return
            self._send(200, self._seen(name))
        else:
            owner.singly += 1
            super().do_POST()

    def do_GET(self) -> None:  # noqa: N802 - the name that http.server calls
        owner = self.owner
        if found := re.search(r"/files/([^/]+)/content$", self.path):
            self._send_bytes(200, owner.files[found[1]])
        elif found := re.search(r"/batches/([^/?]+)$", self.path):
            owner.looks[found[1]] += 1
            self._send(200, self._seen(found[1]))
        else:
            self._send(200, {"object": "list", "data": [self._seen(name) for name in owner.batches], "has_more": False})

    def _seen(self, name: str) -> dict[str, Any]:
        owner, made = self.owner, self.owner.batches[name]
        rows = [json.loads(line) for line in owner.files[made["input_file_id"]].splitlines()]
        over = owner.looks[name] >= owner.until
        seen: dict[str, Any] = {
            "id": name,
            "object": "batch",
            "endpoint": made["endpoint"],
            "input_file_id": made["input_file_id"],
            "completion_window": "24h",
            "created_at": 1,
            "metadata": made.get("metadata"),
            "status": owner.end if over else "in_progress",
            "request_counts": {"total": len(rows), "completed": len(rows) if over else 0, "failed": 0},
        }
        if over and owner.end == "failed":
            seen["errors"] = {"object": "list", "data": [{"code": "c", "message": "the file is no good", "line": 1}]}
        elif over:
            good, bad = self._outputs(rows[: int(len(rows) * owner.answered_share)])
            for key, lines in (("output_file_id", good), ("error_file_id", bad)):
                if lines:
                    owner.files[f"{name}-{key}"] = b"".join(lines)
                    seen[key] = f"{name}-{key}"
        return seen

    def _outputs(self, rows: list[dict[str, Any]]) -> tuple[list[bytes], list[bytes]]:
        """Last first, as no service promises an order; a line twice, and one that nobody asked for."""
        good, bad = [], []
        for row in reversed(rows):
            prompt = row["body"]["messages"][-1]["content"]
            wrong = next((answer for tag, answer in MISTAKES.items() if prompt.startswith(tag)), None)
            status, body = wrong or (200, self._completion(prompt, answer_to(prompt), "stop"))
            response = {"status_code": status, "request_id": "r", "body": body}
            line = json.dumps({"id": "b", "custom_id": row["custom_id"], "response": response, "error": None}).encode()
            (bad if wrong else good).append(line + b"\n")
        return [*good, *good[:1], b'{"custom_id": "nobody", "response": null}\n'], bad


BatchServer.handler = _BatchHandler
