"""Parameters of the check stage."""

from __future__ import annotations

from pydantic import Field

from taxpraben.workspace import Params


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
