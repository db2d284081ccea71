"""Small fictitious drafts and documents, and a clock that tests move."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from taxpraben.queue.intake import bring_in, set_policy
from taxpraben.queue.policy import Policy
from taxpraben.queue.store import Queue
from taxpraben.records.content import Content
from taxpraben.records.document import Document
from taxpraben.records.draft import Draft


@dataclass
class Clock:
    """Stands still until moved."""

    moment: datetime = field(default_factory=lambda: datetime(2026, 3, 2, 9, 0, tzinfo=UTC))

    def __call__(self) -> datetime:
        return self.moment

    def move(self, minutes: float) -> None:
        self.moment += timedelta(minutes=minutes)


def content(answer: str = "应当补缴税款。") -> Content:
    return Content(text="逾期未申报的企业怎么办？", answer=answer)


def draft(number: int, answer: str = "应当补缴税款。", task: str = "TaxQA", status: str = "drafted") -> Draft:
    return Draft(
        draft_id=f"{task}-{number:012x}",
        task=task,
        document_id="doc-000000000001",
        origin="page-1",
        slot=f"第{number}条",
        method="model",
        status=status,
        content=content(answer) if status == "drafted" else None,
        error="no JSON in the reply" if status == "failed" else "",
    )


DOCUMENT = Document(
    document_id="doc-000000000001",
    pipeline="official",
    kind="official",
    source="notices",
    origin="page-1",
    title="青岚市税务通知",
    text="青岚市的企业应当按月申报。逾期未申报的，应当补缴税款。",
    parts=[],
    digest="d",
)


def fill(queue: Queue, count: int, overlap: int = 1, spot_checks: int = 0, task: str = "TaxQA") -> list[Draft]:
    """Bring in so many drafts; without spot checks what is submitted is settled at once."""
    set_policy(queue, Policy(overlap=overlap, spot_checks=spot_checks, claim_minutes=30))
    drafts = [draft(number, task=task) for number in range(count)]
    bring_in(queue, drafts, [DOCUMENT])
    return drafts
