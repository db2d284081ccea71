"""A workspace, people and drafts of every task for the portal's tests; all of it fictitious."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from fastapi.testclient import TestClient

from taxpraben.queue.intake import bring_in, set_policy
from taxpraben.queue.people import open_session
from taxpraben.queue.policy import Policy
from taxpraben.queue.store import Queue
from taxpraben.records.content import Content
from taxpraben.records.document import Document
from taxpraben.records.draft import Draft, Span
from taxpraben.records.field import Field
from taxpraben.tasks.catalog import load_catalog
from taxpraben.tasks.spec import LETTERS, TaskSpec

PASSWORD = "correct horse"
TEXT = "岚江市的企业应当按月申报。逾期未申报的，应当补缴税款。"
DOCUMENT = Document(
    document_id="doc-000000000001",
    pipeline="official",
    kind="official",
    source="notices",
    origin="notice-1",
    title="岚江市税务通知",
    text=TEXT,
    parts=[],
    digest="d",
)


def content_of(spec: TaskSpec) -> Content:
    """A content that a task's rules allow."""
    if spec.form in ("single", "set"):
        choices = spec.labels or [f"办法{letter}" for letter in LETTERS[: spec.options]]
        gold = list(range(spec.gold_size[0]))
        return Content(text=TEXT, answer="".join(LETTERS[index] for index in gold), choices=choices, gold=gold)
    if spec.form == "number":
        return Content(text="应纳税额是多少？", answer="-72.75", unit="万元")
    if spec.form == "fields":
        own = [Field(name="核心思路", kind="text"), Field(name="节税额", kind="number", unit="万元", aliases=["节省"])]
        fields = spec.fields_of(own)
        values: dict[str, object] = {}
        for field in fields:
            values[field.name] = 12.5 if field.kind == "number" else (field.labels or ["先分立后转让"])[0]
        answer = json.dumps(values, ensure_ascii=False)
        return Content(text=TEXT, answer=answer, fields=own if spec.fields_from_item else [])
    return Content(text=TEXT, answer="应当补缴税款")


def draft_of(task: str, number: int = 0, content: Content | None = None, model: str = "drafter-x") -> Draft:
    spec = load_catalog()[task]
    start = TEXT.index("应当补缴")
    return Draft(
        draft_id=f"{task}-{number:012x}",
        task=task,
        document_id=DOCUMENT.document_id,
        origin="notice-1",
        slot="all",
        method="model",
        status="drafted",
        content=content or content_of(spec),
        evidence=[Span(start=start, end=start + 6, text=TEXT[start : start + 6])],
        model=model,
    )


def fill(
    queue: Queue, drafts: list[Draft], spot_checks: int = 0, overlap: int = 1, document: Document = DOCUMENT
) -> None:
    set_policy(queue, Policy(spot_checks=spot_checks, overlap=overlap, claim_minutes=30))
    bring_in(queue, drafts, [document])


@dataclass
class Browser:
    """A signed-in client that sends the session's token with every form."""

    client: TestClient
    csrf: str

    def get(self, path: str, **more: object):
        return self.client.get(path, **more)

    def post(self, path: str, data: dict[str, object] | None = None):
        return self.client.post(path, data={"csrf": self.csrf, **(data or {})}, follow_redirects=False)

    def save(self, work_id: int, version: int, form: dict[str, object]):
        headers = {"X-CSRF-Token": self.csrf, "Accept": "application/json"}
        return self.client.post(f"/pieces/{work_id}/save", json={"version": version, "form": form}, headers=headers)


def sign_in(app, name: str) -> Browser:
    """A client with an open session; the sign-in form itself has tests of its own (its hashing is slow by design)."""
    client = TestClient(app, base_url="http://127.0.0.1")
    client.cookies.set("taxpraben_session", open_session(app.state.queue, name))
    return Browser(client, hidden(client.get("/progress").text, "csrf"))


def hidden(html: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', html)
    return found[1] if found else ""
