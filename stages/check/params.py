"""Parameters of the check stage."""

from __future__ import annotations

from pydantic import ConfigDict, Field

from taxpraben.records.answer import SETTINGS, Setting
from taxpraben.workspace import Params, ReleaseParams


class CheckParams(Params):
    """How borders are checked.

    Attributes:
        failing_rows: how many failing rows a report names for one expectation.
        failed_drafts: largest share of failed drafts in a task before a warning.
        failed_answers: largest share of answers with status ``error`` a model may have before a warning.
    """

    failing_rows: int = Field(default=20, ge=1)
    failed_drafts: float = Field(default=0.1, ge=0, le=1)
    failed_answers: float = Field(default=0.0, ge=0, le=1)


class BuiltParams(ReleaseParams):
    """What check needs of the ``build`` section: which release holds, and from where two texts are one question."""

    near_duplicate: float = 0.6


class SubstituteParams(Params):
    """What check needs of the ``score`` section: which metrics stand in for others."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    substitute: dict[str, str] = {}


class RankedParams(Params):
    """What check needs of the ``rank`` section: the domain whose tasks make up the groups."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    domain: str = "tax"


class PlanOverrides(Params):
    """What infer's overrides say about the plan; unset keys leave the stage's own."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    settings: list[Setting] | None = None
    runs: int | None = None
    items_per_task: int | None = None


class PlanParams(Params):
    """What check needs of the ``infer`` section: how many answers were planned (defaults as there)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    settings: list[Setting] = list(SETTINGS)
    runs: int = 5
    items_per_task: int = 0
    overrides: dict[str, PlanOverrides] = {}

    def of_model(self, name: str, group: str) -> PlanParams:
        """The plan of one model: the stage's own, then its group's, then its own overrides."""
        plan = self.model_dump(exclude={"overrides"})
        for key in (group, name):
            if key in self.overrides:
                plan |= self.overrides[key].model_dump(exclude_none=True)
        return PlanParams.model_validate(plan)
