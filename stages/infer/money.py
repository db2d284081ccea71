"""What a model's answers have cost and may cost, from models.yaml's price, params.yaml's budgets and the journals."""

from __future__ import annotations

from pathlib import Path

from stages.infer.params import InferParams
from taxpraben.backends.journal import Journal, read_usage
from taxpraben.backends.protocol import BackendError
from taxpraben.backends.roster import Roster
from taxpraben.backends.spending import Budget, Price, Purse, Usage


def journal_of(journals: Path, model: str) -> Path:
    """A model's journal of answers in an asking's folder."""
    return journals / f"infer-{model}.jsonl"


def open_purse(roster: Roster, params: InferParams, model: str, journal: Journal, journals: Path) -> Purse:
    """The model's purse: what its journal has cost already, and the budgets that hold.

    Raises:
        BackendError: there is a budget, but the service has no price, or one in a currency without a sum.
    """
    entry = roster.find(model)
    price = entry.price
    limited = bool(params.budget or params.total_budget)
    if price is None:
        if limited and entry.access == "api":
            raise BackendError(
                f"{roster.path}: models.{model} has no price, so infer.budget cannot be kept; write for example "
                "price: {input: 2.5, output: 10, currency: USD} (for a million tokens; zeros for a free service)"
            )
        return Purse(model)
    budgets = [Budget(params.budget)]
    if params.total_budget:
        if price.currency not in params.total_budget:
            named = ", ".join(params.total_budget)
            raise BackendError(
                f"infer.total_budget states a sum in {named}, and {model} is charged in {price.currency}; "
                f"add {price.currency} to it in params.yaml"
            )
        others = sum(
            _cost(other.price, read_usage(journal_of(journals, name)))
            for name, other in roster.models.items()
            if name != model and other.price is not None and other.price.currency == price.currency
        )
        word = f"infer.total_budget.{price.currency}"
        budgets.append(Budget(params.total_budget[price.currency], spent=others, word=word))
    return Purse(model, price, budgets, spent=_cost(price, journal.used.get(model, Usage())))


def _cost(price: Price, usage: Usage) -> float:
    return price.of(usage.prompt_tokens, usage.completion_tokens)
