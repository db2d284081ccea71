"""The model parser: prompts that the rules left, asked side by side, answered from the journal where it can be."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from stages.read.params import ParserParams
from taxpraben.reading import ParserUnavailableError


@dataclass(frozen=True)
class Said:
    """Replies by prompt, what could not be had, and the cost.

    Attributes:
        replies: the parser's reply text by prompt.
        failures: the cause by prompt.
        asked, kept: prompts that the model answered in this run, and that the journal held.
        tokens: prompt and completion tokens of this run.
    """

    replies: Mapping[str, str]
    failures: Mapping[str, str]
    asked: int
    kept: int
    tokens: int

    def __call__(self, prompt: str) -> str:
        """The reply to a prompt.

        Raises:
            ParserUnavailableError: there is none.
        """
        if prompt in self.replies:
            return self.replies[prompt]
        raise ParserUnavailableError(self.failures.get(prompt, "it was not asked"))


def collect_prompts(read: Callable[[Callable[[str], str]], object]) -> list[str]:
    """The prompts that a reading would put to the parser, each once, in order."""
    prompts: dict[str, None] = {}

    def note(prompt: str) -> str:
        prompts[prompt] = None
        raise ParserUnavailableError("only noted")

    read(note)
    return list(prompts)


def ask_parser(prompts: Iterable[str], params: ParserParams, root: Path, journal: Path) -> Said:
    """Put every prompt to the parser's model, never twice for the same request."""
    return asyncio.run(_ask_parser(list(prompts), params, root, journal))


async def _ask_parser(prompts: list[str], params: ParserParams, root: Path, journal: Path) -> Said:
    from taxpraben.backends.asking import Asker, Manners, work_through
    from taxpraben.backends.journal import Journal
    from taxpraben.backends.opening import open_backend
    from taxpraben.backends.protocol import Message, Request, Sampling
    from taxpraben.backends.roster import load_roster

    backend = open_backend(load_roster(root), params.model)
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
            return Said(replies, failures, asker.asked, asker.kept, asker.prompt_tokens + asker.completion_tokens)
