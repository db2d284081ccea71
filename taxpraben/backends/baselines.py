"""Four answerers that know nothing of tax: what a model must beat. They see an ``ItemView`` and need no weights."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from typing import Self

from taxpraben.backends.protocol import (
    BackendError,
    Capabilities,
    ItemView,
    Message,
    Reply,
    Request,
    TokenCount,
    request_hash,
    status_of,
)
from taxpraben.records.base import Part

LEAD_CHARACTERS = 150
"""How much of a text the lead baseline gives at least, in whole sentences: a usual summary's length (Table C3)."""

_NUMBER = re.compile(r"[-－]?\d+(?:,\d{3})*(?:\.\d+)?")
_SENTENCE = re.compile(r"[^。！？!?\n]+[。！？!?]?")
_CLAUSE = re.compile(r"[^。！？!?\n，,；;：:、]+")

Baseline = Callable[[ItemView, random.Random], str]


class BaselineOptions(Part):
    """Baselines have no options."""


class BaselineBackend:
    """One baseline by name; the same request always gets the same answer."""

    def __init__(self, name: str, baseline: str) -> None:
        self.name = name
        self._answer = BASELINES[baseline]
        self._revision = f"baseline:{baseline}@1"

    @property
    def revision(self) -> str:
        """The baseline's rule and its version."""
        return self._revision

    @property
    def capabilities(self) -> Capabilities:
        """Only baselines want an item view."""
        return Capabilities(seed=True, item_view=True, concurrency=64)

    async def __aenter__(self) -> Self:
        """Nothing to start."""
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Nothing to stop."""

    async def answer(self, request: Request) -> Reply:
        """See ``Backend.answer``; chance comes from the request's hash, so from its seed and run too."""
        if request.view is None:
            raise BackendError(f"{self.name}: a baseline needs the item beside the prompt (Request.view)")
        chance = random.Random(request_hash(request))  # noqa: S311 - a repeatable draw, guards nothing
        text = self._answer(request.view, chance)
        return Reply(status=status_of(text, "stop"), text=text, finish_reason="stop")

    async def count_tokens(self, messages: list[Message]) -> TokenCount:  # noqa: ARG002 - the protocol's shape
        """A baseline reads any length."""
        return TokenCount(tokens=0, exact=True)


def answer_at_random(view: ItemView, chance: random.Random) -> str:
    """Random letters, a number of the text, a clause of it, or one to three of its sentences."""
    if view.form == "single":
        return chance.choice(view.letters)
    if view.form == "set":
        size = chance.randint(*view.gold_size)
        return "".join(sorted(chance.sample(view.letters, min(size, len(view.letters)))))
    if view.form == "number":
        return chance.choice(_numbers(view.text))
    if view.form == "span":
        return chance.choice(_clauses(view.text))
    if view.form == "fields":
        return _object(view, lambda: chance.choice(_clauses(view.text)))
    sentences = _sentences(view.text)
    begin = chance.randrange(len(sentences))
    return "".join(sentences[begin : begin + chance.randint(1, 3)])


def answer_by_majority(view: ItemView, chance: random.Random) -> str:  # noqa: ARG001 - the shape of a baseline
    """What the other items of the task are most often answered with."""
    return view.typical


def answer_with_lead(view: ItemView, chance: random.Random) -> str:  # noqa: ARG001 - the shape of a baseline
    """The first option, the first number, the first clause, or the first sentences."""
    if view.form in ("single", "set"):
        return view.letters[: view.gold_size[0]]
    if view.form == "number":
        return _numbers(view.text)[0]
    if view.form == "span":
        return _clauses(view.text)[0]
    lead = _lead(view.text)
    return _object(view, lambda: lead) if view.form == "fields" else lead


def answer_with_copy(view: ItemView, chance: random.Random) -> str:  # noqa: ARG001 - the shape of a baseline
    """The text itself, whatever is asked; in each field where fields are asked for."""
    return _object(view, lambda: view.text) if view.form == "fields" else view.text


BASELINES: dict[str, Baseline] = {
    "random": answer_at_random,
    "majority": answer_by_majority,
    "lead": answer_with_lead,
    "copy": answer_with_copy,
}


def _numbers(text: str) -> list[str]:
    found: list[str] = _NUMBER.findall(text)
    return found or ["0"]


def _sentences(text: str) -> list[str]:
    found: list[str] = _SENTENCE.findall(text)
    return found or [text]


def _clauses(text: str) -> list[str]:
    found = [clause.strip() for clause in _CLAUSE.findall(text) if clause.strip()]
    return found or [text]


def _lead(text: str) -> str:
    lead = ""
    for sentence in _sentences(text):
        lead += sentence
        if len(lead) >= LEAD_CHARACTERS:
            break
    return lead.strip()


def _object(view: ItemView, value: Callable[[], str]) -> str:
    return json.dumps({name: value() for name in view.fields}, ensure_ascii=False)
