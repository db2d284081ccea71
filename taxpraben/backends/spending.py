"""What answers cost, by the price in models.yaml, and a budget that ends the run before it is passed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pydantic import Field

from taxpraben.backends.protocol import BackendError, Reply
from taxpraben.records.base import Part


class Price(Part):
    """What a service charges.

    Attributes:
        input, output: for a million tokens of prompt and of answer.
        currency: its code, for example USD or CNY.
        as_of: when the price was looked up, for people.
    """

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    currency: str = "USD"
    as_of: str = ""

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What so many tokens cost."""
        return (prompt_tokens * self.input + completion_tokens * self.output) / 1e6


class BudgetSpentError(BackendError):
    """The next request could pass the budget; what was answered is kept, and the run can go on with a higher one."""

    exit_status = 4


@dataclass
class Usage:
    """What the replies of a journal used.

    Attributes:
        prompt_tokens, completion_tokens: as the service counted them.
        replies: how many replies there were.
        uncounted: replies of which the service did not say what they used.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    replies: int = 0
    uncounted: int = 0

    def add(self, reply: Reply) -> None:
        """Count one more reply."""
        self.replies += 1
        self.prompt_tokens += max(0, reply.prompt_tokens)
        self.completion_tokens += max(0, reply.completion_tokens)
        self.uncounted += reply.status != "error" and reply.prompt_tokens < 0


@dataclass(frozen=True)
class Budget:
    """A sum that may be spent.

    Attributes:
        most: the sum; 0 for no limit.
        spent: what others have spent of it already.
        word: the parameter that states it, for messages.
    """

    most: float
    spent: float = 0.0
    word: str = "infer.budget"


@dataclass
class Purse:
    """One model's money: what it has spent, what is promised to requests in flight, and what it may spend.

    Attributes:
        name: the model's name, for messages.
        price: None where nothing is charged; then everything costs 0.
        budgets: each is kept.
        spent: what this model's answers have cost, those of earlier runs included.
    """

    name: str
    price: Price | None = None
    budgets: Iterable[Budget] = ()
    spent: float = 0.0
    _promised: float = field(default=0.0, init=False)

    @property
    def currency(self) -> str:
        """The price's currency, or nothing."""
        return self.price.currency if self.price else ""

    def promise(self, prompt_tokens: int, new_tokens: int) -> float:
        """Set aside the most that a request can cost; give it back with ``pay``.

        Raises:
            BudgetSpentError: a budget could be passed.
        """
        if self.price is None:
            return 0.0
        most = self.price.of(prompt_tokens, new_tokens)
        for budget in self.budgets:
            if budget.most and budget.spent + self.spent + self._promised + most > budget.most:
                used = budget.spent + self.spent
                raise BudgetSpentError(
                    f"{self.name}: {budget.word} is {budget.most:g} {self.currency}, {used:.4f} are spent, and the "
                    f"next request may cost {most:.4f}; the run stopped. What was answered is kept: raise "
                    f"{budget.word} in params.yaml and start again"
                )
        self._promised += most
        return most

    def may_suffice(self, prompt_tokens: int, new_tokens: int) -> bool:
        """Whether the budgets would pay for a request if those in flight cost nothing."""
        most = self.price.of(prompt_tokens, new_tokens) if self.price else 0.0
        return all(not budget.most or budget.spent + self.spent + most <= budget.most for budget in self.budgets)

    def pay(self, promised: float, reply: Reply | None) -> None:
        """A request for which so much was set aside is over; a reply without counts costs all that was set aside."""
        self._promised -= promised
        if reply is None or self.price is None:
            return
        if reply.prompt_tokens >= 0:
            self.spent += self.price.of(reply.prompt_tokens, max(0, reply.completion_tokens))
        elif reply.status not in ("error", "content_filter", "too_long"):
            self.spent += promised
