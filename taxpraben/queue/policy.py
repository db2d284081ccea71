"""How a review is run: time limits, overlap, spot checks. Kept in the database, so that every page reads the same."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from sqlalchemy.orm import Session

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
        seed: seeds the draw.
        round: the current round, from 1.
    """

    claim_minutes: float = 120.0
    hand_off: int = 20
    overlap: int = 1
    spot_checks: int = 5
    pass_mark: float = 0.8
    seed: int = 20241130
    round: int = 1


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
