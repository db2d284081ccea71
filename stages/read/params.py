"""Parameters of the read stage."""

from __future__ import annotations

from pydantic import Field

from taxpraben.workspace import Params


class ParserParams(Params):
    """The model that reads what the rules leave.

    Attributes:
        model: a name of models.yaml; empty leaves such answers unread.
        new_tokens: most tokens of its reply.
        concurrency: most requests in flight; 0 leaves it to the backend.
    """

    model: str = ""
    new_tokens: int = Field(default=300, ge=1)
    concurrency: int = Field(default=0, ge=0)


class ReadParams(Params):
    """How answers are read."""

    parser: ParserParams = ParserParams()
