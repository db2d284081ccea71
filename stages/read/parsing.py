"""The model parser: prompts that the rules left, asked side by side, answered from the journal where it can be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from stages.read.params import ParserParams
from taxpraben.reading import ParserUnavailableError, ReadResult
from taxpraben.records.reading import Reading

ResultT = TypeVar("ResultT", bound=ReadResult | Reading)


@dataclass(frozen=True)
class Said:
    """Replies by prompt, what could not be had, and the cost.

    Attributes:
        replies: the parser's reply text by prompt.
        failures: the cause by prompt.
        asked, kept: prompts that the model answered in this run, and that the journal held.
        prompt_tokens, completion_tokens: of this run.
        cost, currency: what this run's tokens cost by the price in models.yaml; no currency where there is no price.
    """

    replies: Mapping[str, str]
    failures: Mapping[str, str]
    asked: int
    kept: int
    prompt_tokens: int
    completion_tokens: int
    cost: float = 0.0
    currency: str = ""

    def __call__(self, prompt: str) -> str:
        """The reply to a prompt.

        Raises:
            ParserUnavailableError: there is none.
        """
        if prompt in self.replies:
            return self.replies[prompt]
        raise ParserUnavailableError(self.failures.get(prompt, "it was not asked"))

    def bill(self) -> str:
        """One line: requests, tokens, cost."""
        failed = f", {len(self.failures)} without a reply" if self.failures else ""
        cost = f"{self.cost:.4f} {self.currency}" if self.currency else "no price in models.yaml"
        return (
            f"model parser: {self.asked} asked, {self.kept} from the journal{failed}; "
            f"{self.prompt_tokens} + {self.completion_tokens} tokens, {cost}"
        )


def left_to_parser(left: int, answers: int, prompts: int) -> str:
    """The share of answers that the rules leave, in words."""
    return (
        f"rules leave {left} of {answers} answers ({left / max(answers, 1):.1%}, {prompts} different requests) "
        "to the model parser"
    )


def collect_prompts(read: Callable[[Callable[[str], str]], Sequence[ResultT]]) -> tuple[list[str], int]:
    """The prompts that a reading would put to the parser, each once, in order; and how many answers they are for."""
    prompts: dict[str, None] = {}

    def note(prompt: str) -> str:
        prompts[prompt] = None
        raise ParserUnavailableError("only noted")

    results = read(note)
    return list(prompts), sum(result.status == "reader_error" for result in results)


def ask_parser(prompts: Iterable[str], params: ParserParams, models: Path, journal: Path) -> Said:
    """Put every prompt to the parser's model, never twice for the same request.

    Args:
        prompts: from ``collect_prompts``.
        params: which model, and its limits.
        models: models.yaml or its folder.
        journal: where replies are kept; a request that is in it is not sent again.

    Raises:
        BackendError: every request would fail, or too many in a row did.
        RosterError: the model is none of models.yaml.
    """
    return asyncio.run(_ask_parser(list(prompts), params, models, journal))


async def _ask_parser(prompts: list[str], params: ParserParams, models: Path, journal: Path) -> Said:
    from taxpraben.backends.asking import Asker, Manners, work_through
    from taxpraben.backends.journal import Journal
    from taxpraben.backends.opening import open_backend
    from taxpraben.backends.protocol import Message, Request, Sampling
    from taxpraben.backends.roster import load_roster

    roster = load_roster(models)
    price = roster.find(params.model).price
    backend = open_backend(roster, params.model)
    replies: dict[str, str] = {}
    failures: dict[str, str] = {}
    with Journal(journal) as kept:
        async with Asker(backend, kept, Manners(concurrency=params.concurrency)) as asker:

            async def one(prompt: str) -> None:
                request = Request(
                    model=params.model,
                    revision=backend.revision,
                    messages=[Message(role="user", content=prompt)],
                    sampling=Sampling(max_tokens=params.new_tokens),
                )
                reply = await asker.ask(request, about="read")
                if reply.text.strip():
                    replies[prompt] = reply.text
                else:
                    failures[prompt] = reply.error or f"the reply's status is {reply.status}"

            await work_through(prompts, one, asker.concurrency)
            return Said(
                replies,
                failures,
                asker.asked - asker.failed,
                asker.kept,
                asker.prompt_tokens,
                asker.completion_tokens,
                price.of(asker.prompt_tokens, asker.completion_tokens) if price else 0.0,
                price.currency if price else "",
            )
