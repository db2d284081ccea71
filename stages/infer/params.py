"""Parameters of the infer stage."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ConfigDict, Field

from taxpraben.backends.batches import BatchParams
from taxpraben.workspace import PlanOverrides, PlanParams


class Overrides(PlanOverrides):
    """What holds for one model or one group of models instead; unset keys leave the stage's own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    new_tokens: int | None = Field(default=None, ge=0)
    temperature: float | None = Field(default=None, ge=0)
    concurrency: int | None = Field(default=None, ge=0)
    requests_a_minute: int | None = Field(default=None, ge=0)
    tokens_a_minute: int | None = Field(default=None, ge=0)
    budget: float | None = Field(default=None, ge=0)
    batches: bool | None = None


class InferParams(PlanParams):
    """How models are asked. The defaults are the paper's protocol (section 6.3) where it states one.

    Attributes:
        settings, runs, items_per_task, overrides: the plan, see ``PlanParams``.
        new_tokens: cap under the task files' own limits (300 for questions and summaries, 200 else); 0 for none.
        input_tokens: instead of the task files' limit of 2,048; 0 leaves that.
        temperature, top_p: the paper gives none; five runs that are to differ need a temperature above 0.
        seed: run r is asked with seed + r.
        concurrency: most requests in flight; 0 leaves it to the backend.
        attempts: tries of one request before its row gets the status ``error``.
        requests_a_minute: most requests a minute; 0 for no limit.
        tokens_a_minute: most tokens of prompts and answers a minute; 0 for no limit.
        breaker: the run stops after so many failed requests in a row.
        budget: most that one model's answers may cost, in the currency of its price in models.yaml; 0 for no limit.
        total_budget: most that all models' answers of this asking may cost together, by currency (``{USD: 50}``).
        batches: ask by batch files where the service offers them (``options.batch_api`` of its entry).
        batch: their sizes and times.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    new_tokens: int = Field(default=0, ge=0)
    input_tokens: int = Field(default=0, ge=0)
    temperature: float = Field(default=0.7, ge=0)
    top_p: float = Field(default=0.95, gt=0, le=1)
    seed: int = 20260101
    concurrency: int = Field(default=0, ge=0)
    attempts: int = Field(default=6, ge=1)
    requests_a_minute: int = Field(default=0, ge=0)
    tokens_a_minute: int = Field(default=0, ge=0)
    breaker: int = Field(default=10, ge=1)
    budget: float = Field(default=0.0, ge=0)
    total_budget: Mapping[str, float] = {}
    batches: bool = False
    batch: BatchParams = BatchParams()
    overrides: Mapping[str, Overrides] = {}
