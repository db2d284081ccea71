"""Parameters of the review stage."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from taxpraben.workspace import Params


class ReviewParams(Params):
    """How drafts are judged, and when the pipeline may go on.

    Attributes:
        decisions: files of decisions (``.jsonl`` or ``.parquet``) that ship with the corpus; imported in this order.
        complete: ``all``, or the share of each task's drafts that must be settled before the pipeline goes on.
        accept_unseen: drafts made by these methods are accepted without a person, and parsed ones that failed are
            rejected with the parser's error; for quick trials only.
        overlap: how many people judge each draft.
        claim_minutes: how long a claim holds.
        hand_off: how many drafts a person is handed at a time (the paper's first hand-off is 20).
        spot_checks: how many of each annotator's a checker draws in a round; 0 settles a draft when it is submitted.
        pass_mark: share of the spot checks that must pass.
        seed: seeds the draw.
        batch_size: how many drafts of a task make a batch; 0 makes the whole task one.
        gold_every: of about so many works handed out, one is a gold item; 0 for none.
    """

    decisions: list[str] = []
    complete: Literal["all"] | float = "all"
    accept_unseen: list[Literal["parsed", "model"]] = []
    overlap: int = Field(default=1, ge=1)
    claim_minutes: float = Field(default=120.0, gt=0)
    hand_off: int = Field(default=20, ge=1)
    spot_checks: int = Field(default=5, ge=0)
    pass_mark: float = Field(default=0.8, ge=0, le=1)
    seed: int = 20241130
    batch_size: int = Field(default=0, ge=0)
    gold_every: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _share_is_a_share(self) -> Self:
        if self.complete != "all" and not 0 <= self.complete <= 1:
            raise ValueError("complete must be 'all' or a share from 0 to 1")
        return self

    @property
    def share(self) -> float:
        """The share of each task's drafts that must be settled."""
        return 1.0 if self.complete == "all" else self.complete
