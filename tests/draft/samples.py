"""Documents made for the tests of the draft stage, and a drafter that says what it is told to."""

from __future__ import annotations

from typing import Any, Self

from taxpraben.backends.protocol import Capabilities, Message, Reply, Request, TokenCount
from taxpraben.records.document import Document, DocumentPart


def make_document(kind: str, parts: list[DocumentPart] | None = None, **changes: Any) -> Document:
    body: dict[str, Any] = {
        "document_id": "doc-000000000001",
        "pipeline": "sites",
        "kind": kind,
        "source": "site",
        "origin": "page-1",
        "title": "示范区税务局推出便民措施",
        "text": "示范区税务局推出三项便民措施。纳税人可以在网上预约办理。窗口延长服务一小时。",
        "parts": parts or [],
        "digest": "d",
    }
    return Document.model_validate({**body, **changes})


def make_question(kind: str, label: str, **data: Any) -> DocumentPart:
    return DocumentPart(kind="question", label=label, text="题", data={"kind": kind, **data})


class Told:
    """Gives prepared replies in order; remembers the questions."""

    def __init__(self, *replies: str | Reply) -> None:
        self.replies = [reply if isinstance(reply, Reply) else Reply(status="ok", text=reply) for reply in replies]
        self.questions: list[list[Message]] = []
        self.opened = False
        self.revision = "told"
        self.capabilities = Capabilities(concurrency=1)

    async def __aenter__(self) -> Self:
        self.opened = True
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Nothing to close."""

    async def answer(self, request: Request) -> Reply:
        self.questions.append(request.messages)
        return self.replies.pop(0)

    async def count_tokens(self, messages: list[Message]) -> TokenCount:
        return TokenCount(tokens=1, exact=True)
