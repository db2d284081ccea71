"""Keeps a prompt within the task's input limit, decided before the model is asked."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from taxpraben.backends.protocol import Message, TokenCount
from taxpraben.records.item import Item
from taxpraben.tasks.rendering import passage_length, render
from taxpraben.tasks.spec import TaskSpec

SHORTEST_PASSAGE = 200
"""Characters of a passage that stay at least; a text that does not fit even so is too long."""

TEMPLATE_TOKENS = 256
"""More than any chat template adds. A prompt of fewer bytes than the limit less this fits unmeasured: no tokenizer in
use makes more tokens than bytes."""

Count = Callable[[list[Message]], Awaitable[TokenCount]]


@dataclass(frozen=True)
class Fitted:
    """A prompt that may be sent, or the reason why not.

    Attributes:
        prompt: the rendered prompt (whole, where it is too long).
        too_long: why it may not be sent; empty where it may.
        cut: what was cut to make it fit; empty where nothing was.
    """

    prompt: str
    too_long: str = ""
    cut: str = ""


async def fit(spec: TaskSpec, item: Item, example: Item | None, limit: int, count: Count) -> Fitted:
    """Render the prompt, and cut passages where it is over the limit and the task allows it: the example's first.

    Args:
        spec: the task; ``limits.cut_text`` says whether a passage may be cut.
        item: the question.
        example: its one-shot example, or None.
        limit: most tokens of the prompt, chat template included.
        count: measures messages in the model's tokens.
    """
    whole = render(spec, item, example)
    if len(whole.encode()) + TEMPLATE_TOKENS <= limit:
        return Fitted(whole)
    found = await count(messages(whole))
    if found.tokens <= limit:
        return Fitted(whole)
    measured = f"{found.tokens} tokens{'' if found.exact else ' (estimated)'}, limit {limit}"
    if not spec.limits.cut_text:
        return Fitted(whole, too_long=f"{measured}; {spec.name} allows no cut")

    own_length = passage_length(spec, item)
    shown_length = passage_length(spec, example) if example is not None else 0

    async def fits(kept: int | None, example_kept: int | None) -> bool:
        return (await count(messages(render(spec, item, example, kept, example_kept)))).tokens <= limit

    if example is not None and await fits(None, min(SHORTEST_PASSAGE, shown_length)):
        kept = await _most(SHORTEST_PASSAGE, shown_length, lambda n: fits(None, n))
        cut = f"cut: example's passage to {kept} of {shown_length} characters ({measured})"
        return Fitted(render(spec, item, example, None, kept), cut=cut)
    shown = min(SHORTEST_PASSAGE, shown_length) if example is not None else None
    if not await fits(min(SHORTEST_PASSAGE, own_length), shown):
        return Fitted(whole, too_long=f"{measured}; not even {SHORTEST_PASSAGE} characters of the passage fit")
    kept = await _most(SHORTEST_PASSAGE, own_length, lambda n: fits(n, shown))
    also = f", example's to {shown} of {shown_length}" if shown is not None and shown < shown_length else ""
    cut = f"cut: passage to {kept} of {own_length} characters{also} ({measured})"
    return Fitted(render(spec, item, example, kept, shown), cut=cut)


def messages(prompt: str) -> list[Message]:
    """The conversation that a prompt is sent as: one turn of the user's."""
    return [Message(role="user", content=prompt)]


async def _most(low: int, high: int, fits: Callable[[int], Awaitable[bool]]) -> int:
    """The largest number in [low, high) for which ``fits`` holds, given that it holds for low."""
    while high - low > 1:
        middle = (low + high) // 2
        if await fits(middle):
            low = middle
        else:
            high = middle
    return low
