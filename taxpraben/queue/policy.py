"""How a review is run: time limits, overlap, spot checks. Kept in the database, so that every page reads the same."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from taxpraben.queue.audit import log
from taxpraben.queue.states import QueueError
from taxpraben.queue.store import Queue
from taxpraben.queue.tables import Setting


@dataclass(frozen=True)
class Policy:
    """The rules of a review.

    Attributes:
        claim_minutes: how long a claim holds.
        hand_off: how many pieces of work a person is handed at a time.
        overlap: how many people judge each draft.
        spot_checks: how many of each annotator's works a checker draws in a round; 0 settles a work when submitted.
        pass_mark: share of the spot checks that must pass, 0 to 1; below it the round's share goes back.
        seed: seeds the draws.
        round: the current round, from 1.
        batch_size: how many drafts of a task make a batch; 0 makes the whole task one.
        gold_every: of about so many works handed out, one is a gold item; 0 for none.
    """

    claim_minutes: float = 120.0
    hand_off: int = 20
    overlap: int = 1
    spot_checks: int = 5
    pass_mark: float = 0.8
    seed: int = 20241130
    round: int = 1
    batch_size: int = 0
    gold_every: int = 0


LEAST: dict[str, float] = {
    "claim_minutes": 1,
    "hand_off": 1,
    "overlap": 1,
    "spot_checks": 0,
    "pass_mark": 0,
    "batch_size": 0,
    "gold_every": 0,
}
"""What may be changed while a review runs, with the least value of each. The seed stands in the audit log's draws."""

MOST: dict[str, float] = {
    "claim_minutes": 60 * 24 * 30,
    "hand_off": 500,
    "overlap": 20,
    "spot_checks": 500,
    "pass_mark": 1,
    "batch_size": 100_000,
    "gold_every": 1000,
}

HELD = "policy_held"
"""Setting: the keys that people changed; the pipeline's parameters leave them alone."""


def read_policy(session: Session) -> Policy:
    """The policy in force; the defaults before one was set."""
    row = session.get(Setting, "policy")
    known = Policy.__dataclass_fields__
    return Policy(**{key: value for key, value in row.value.items() if key in known}) if row else Policy()


def write_policy(session: Session, policy: Policy) -> bool:
    """Put a policy in force; returns whether it differs from the one before."""
    row = session.get(Setting, "policy")
    if row is None:
        session.add(Setting(key="policy", value=asdict(policy)))
        return True
    changed = row.value != asdict(policy)
    row.value = asdict(policy)
    return changed


def current_policy(queue: Queue) -> Policy:
    """The policy in force."""
    with queue.read() as session:
        return read_policy(session)


def change_policy(queue: Queue, actor: str, **changes: float) -> Policy:
    """Change some rules while the review runs; what is handed out already keeps its limits.

    The change holds over runs of the pipeline, whose parameters leave these keys alone from now on.

    Raises:
        QueueError: an unknown key, or a value out of range.
    """
    for key, value in changes.items():
        if key not in LEAST:
            raise QueueError(f"{key!r} is no rule that can be changed here; known: {', '.join(LEAST)}")
        whole = key not in ("claim_minutes", "pass_mark")
        if not LEAST[key] <= value <= MOST[key] or (whole and value != int(value)):
            raise QueueError(f"{key} must be {'a whole number ' if whole else ''}from {LEAST[key]:g} to {MOST[key]:g}")
    with queue.write() as session:
        before = read_policy(session)
        kept = {
            key: float(value) if key in ("claim_minutes", "pass_mark") else int(value) for key, value in changes.items()
        }
        policy = replace(before, **kept)  # type: ignore[arg-type]
        held = session.get(Setting, HELD)
        if held is None:
            held = Setting(key=HELD, value={})
            session.add(held)
        held.value = {**held.value, **kept}
        if write_policy(session, policy):
            log(session, queue.now(), actor, "policy", rules=asdict(policy))
        return policy


def held_keys(queue: Queue) -> dict[str, float]:
    """The rules that people changed, with their values."""
    value = get_setting(queue, HELD)
    return dict(value) if value else {}


def release_held(queue: Queue, actor: str) -> None:
    """Forget what people changed: from its next run on, the pipeline's parameters hold again."""
    put_setting(queue, HELD, {}, actor)


def get_setting(queue: Queue, key: str) -> dict[str, Any] | None:
    """A setting; None where it was never put."""
    with queue.read() as session:
        row = session.get(Setting, key)
        return dict(row.value) if row is not None else None


def put_setting(queue: Queue, key: str, value: dict[str, Any], actor: str) -> None:
    """Keep a setting; the change is in the audit log."""
    with queue.write() as session:
        row = session.get(Setting, key)
        if row is not None and row.value == value:
            return
        if row is None:
            session.add(Setting(key=key, value=value))
        else:
            row.value = value
        log(session, queue.now(), actor, "setting", key=key, value=value)
