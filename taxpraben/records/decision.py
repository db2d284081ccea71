"""What a person ruled on a draft."""

from __future__ import annotations

from typing import ClassVar, Literal

from taxpraben.records.base import Record
from taxpraben.records.content import Content


class Decision(Record):
    """A ruling: accepted as drafted, fixed, or rejected with a reason.

    Attributes:
        draft_digest: digest of the content that was ruled on (empty where the draft had failed). An acceptance
            holds only for that content; a fix holds whatever the drafter says later.
        content: the final content; None when rejected.
        annotator: who ruled; a name of the queue, never a personal one in released files. ``rule:METHOD`` where the
            parameters let drafts of that method pass without a person.
        checker: who checked it, or empty.
        decided_at: ISO 8601, UTC.
    """

    NAME: ClassVar[str] = "decision"
    VERSION: ClassVar[int] = 1
    KEY: ClassVar[tuple[str, ...]] = ("task", "draft_id")

    draft_id: str
    task: str
    draft_digest: str
    verdict: Literal["accepted", "fixed", "rejected"]
    content: Content | None
    reason: str = ""
    annotator: str
    checker: str = ""
    round: int = 1
    decided_at: str

    @property
    def unseen(self) -> bool:
        """Whether a rule ruled and no person saw the draft."""
        return self.annotator.startswith("rule:")
