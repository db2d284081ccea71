"""Parameters of the draft stage."""

from __future__ import annotations

from pydantic import Field

from taxpraben.workspace import Params


class DraftParams(Params):
    """How drafts are made.

    Attributes:
        drafter: the model of models.yaml that drafts what the sources do not give.
        shipped: a journal of replies that came with the sources (from the workspace's root), keyed like any other;
            read, never written, and only in asking 0. Empty for none.
        items_per_task: so many slots of each task, drawn by seed; 0 takes all.
        limits: the same for single tasks, by name.
        temperature, seed: how the drafter's replies are drawn.
        concurrency, attempts, requests_a_minute, breaker: as in the infer stage.
    """

    drafter: str = "embedded-small"
    shipped: str = ""
    items_per_task: int = Field(default=0, ge=0)
    limits: dict[str, int] = {}
    temperature: float = Field(default=0.0, ge=0)
    seed: int = 20260101
    concurrency: int = Field(default=0, ge=0)
    attempts: int = Field(default=6, ge=1)
    requests_a_minute: int = Field(default=0, ge=0)
    breaker: int = Field(default=10, ge=1)
