"""Parameters of the infer stage."""

from __future__ import annotations

from pydantic import Field

from taxpraben.records.answer import SETTINGS, Setting
from taxpraben.workspace import Params


class Overrides(Params):
    """What holds for one model or one group of models instead; unset keys leave the stage's own."""

    settings: list[Setting] | None = Field(default=None, min_length=1)
    runs: int | None = Field(default=None, ge=1)
    items_per_task: int | None = Field(default=None, ge=0)
    new_tokens: int | None = Field(default=None, ge=0)
    temperature: float | None = Field(default=None, ge=0)
    concurrency: int | None = Field(default=None, ge=0)
    requests_a_minute: int | None = Field(default=None, ge=0)


class InferParams(Params):
    """How models are asked. The defaults are the paper's protocol (section 6.3) where it states one.

    Attributes:
        settings: zero-shot, one-shot, or both.
        runs: repetitions, each with a seed of its own.
        items_per_task: so many items of each task, drawn by seed; 0 takes all.
        new_tokens: cap under the task files' own limits (300 for questions and summaries, 200 else); 0 for none.
        input_tokens: instead of the task files' limit of 2,048; 0 leaves that.
        temperature, top_p: the paper gives none; five runs that are to differ need a temperature above 0.
        seed: run r is asked with seed + r.
        concurrency: most requests in flight; 0 leaves it to the backend.
        attempts: tries of one request before its row gets the status ``error``.
        requests_a_minute: most requests a minute; 0 for no limit.
        breaker: the run stops after so many failed requests in a row.
        overrides: by group (``baseline``) or model name, the name counting last.
    """

    settings: list[Setting] = Field(default=list(SETTINGS), min_length=1)
    runs: int = Field(default=5, ge=1)
    items_per_task: int = Field(default=0, ge=0)
    new_tokens: int = Field(default=0, ge=0)
    input_tokens: int = Field(default=0, ge=0)
    temperature: float = Field(default=0.7, ge=0)
    top_p: float = Field(default=0.95, gt=0, le=1)
    seed: int = 20260101
    concurrency: int = Field(default=0, ge=0)
    attempts: int = Field(default=6, ge=1)
    requests_a_minute: int = Field(default=0, ge=0)
    breaker: int = Field(default=10, ge=1)
    overrides: dict[str, Overrides] = {}

    def of_model(self, name: str, group: str) -> InferParams:
        """What holds for this model: the stage's own, then its group's, then its own overrides."""
        changes: dict[str, object] = {}
        for key in (group, name):
            if key in self.overrides:
                changes |= self.overrides[key].model_dump(exclude_none=True)
        return self.model_validate({**self.model_dump(), **changes, "overrides": {}})
