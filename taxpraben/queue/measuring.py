"""What becomes of gold works: scored against the known answer, then put aside as if they had been settled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sqlalchemy import select
from sqlalchemy.orm import Session

from taxpraben.queue.tables import Ruling, Work
from taxpraben.records.content import Content


def score_gold(session: Session, work: Work) -> None:
    """Compare the first submission of a gold work with the known answer; later ones do not mend the score."""
    known = session.get(Ruling, work.draft_id)
    if known is None or work.gold_right is not None:
        return
    work.gold_right = work.verdict == known.verdict
    work.gold_exact = work.gold_right and _digest(work.content) == _digest(known.content)


def _digest(content: object) -> str:
    return Content.model_validate(content).digest if content is not None else ""


def settle_gold(work: Work) -> None:
    """Show a submitted gold work as settled, by its own verdict: it ends as the works around it do."""
    work.state = "rejected" if work.verdict == "rejected" else "accepted"
    work.claimed_until = None


def settle_gold_beside(session: Session, people: Sequence[str]) -> None:
    """With each settled work of a person, put one submitted gold work of theirs aside, oldest first."""
    if not people:
        return
    count = Counter(people)
    waiting = session.scalars(
        select(Work)
        .where(Work.gold.is_(True), Work.person.in_(count), Work.state == "submitted")
        .order_by(Work.submitted_at)
    )
    for work in waiting:
        if count[work.person or ""] > 0:
            count[work.person or ""] -= 1
            settle_gold(work)
