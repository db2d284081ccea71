from __future__ import annotations

from pathlib import Path

import pytest

from taxpraben.backends.asking import Asker, Manners, work_through
from taxpraben.backends.journal import Journal, read_usage
from taxpraben.backends.protocol import Reply
from taxpraben.backends.spending import Budget, BudgetSpentError, Price, Purse
from tests.backends.test_asking import Echo, question

EACH = Price(input=1e6, output=2e6, currency="CNY")
"""One for each token in, two for each token out."""


def test_a_price_is_for_a_million_tokens() -> None:
    assert Price(input=2.5, output=10).of(400_000, 50_000) == pytest.approx(2.5 * 0.4 + 10 * 0.05)


def test_a_purse_keeps_what_requests_in_flight_may_cost() -> None:
    purse = Purse("m", EACH, [Budget(100)])
    first = purse.promise(20, 20)  # 20 + 2 x 20
    assert first == 60
    with pytest.raises(BudgetSpentError, match=r"m: infer.budget is 100 CNY, 0.0000 are spent.*may cost 60.0000"):
        purse.promise(20, 20)
    purse.pay(first, Reply(status="ok", prompt_tokens=10, completion_tokens=5))
    assert purse.spent == 20
    assert purse.promise(20, 20) == 60


def test_what_others_have_spent_counts_against_the_total() -> None:
    purse = Purse("m", EACH, [Budget(0), Budget(100, spent=50, word="infer.total_budget.CNY")])
    with pytest.raises(BudgetSpentError, match=r"infer.total_budget.CNY is 100 CNY, 50.0000 are spent"):
        purse.promise(20, 20)


def test_a_reply_without_counts_costs_what_was_set_aside_and_a_refusal_nothing() -> None:
    purse = Purse("m", EACH)
    purse.pay(purse.promise(20, 20), Reply(status="ok", text="x"))
    assert purse.spent == 60
    purse.pay(purse.promise(20, 20), Reply(status="content_filter"))
    purse.pay(purse.promise(20, 20), Reply(status="error"))
    purse.pay(purse.promise(20, 20), None)
    assert purse.spent == 60
    assert purse.promise(20, 20) == 60  # nothing is set aside any more, so nothing is owed


def test_what_has_no_price_costs_nothing_and_keeps_every_budget() -> None:
    purse = Purse("m", None, [Budget(1)])
    purse.pay(purse.promise(10**9, 10**9), Reply(status="ok", prompt_tokens=10**9))
    assert (purse.spent, purse.currency) == (0, "")


async def test_the_run_stops_before_the_budget_is_passed_and_goes_on_with_a_higher_one(tmp_path: Path) -> None:
    echo = Echo()  # each answer: three tokens in, two out, so 7; each may cost (1 + 8) + 2 x 20 = 49
    path = tmp_path / "j.jsonl"

    async def run(most: float) -> Purse:
        with Journal(path) as journal:
            usage = journal.used.get("m")
            before = EACH.of(usage.prompt_tokens, usage.completion_tokens) if usage else 0.0
            purse = Purse("m", EACH, [Budget(most)], spent=before)
            async with Asker(echo, journal, Manners(concurrency=4), purse=purse) as asker:
                try:
                    await work_through(
                        range(50), lambda n: asker.ask(question(str(n)), ""), asker.workers, stop=asker.stop, grace=5
                    )
                except BudgetSpentError:
                    assert purse.spent <= most
                    raise
        return purse

    with pytest.raises(BudgetSpentError):
        await run(200)
    asked = len(echo.asked)
    assert 15 <= asked <= 28  # 200 / 7 at most; the last one need room for the most that they may cost
    assert read_usage(path).replies == asked  # all that was sent is on disk: nothing paid is lost
    purse = await run(10_000)
    assert (len(echo.asked), purse.spent) == (50, 50 * 7)


async def test_the_journal_knows_what_all_runs_used_errors_included(tmp_path: Path) -> None:
    with Journal(tmp_path / "j.jsonl") as journal:
        async with Asker(Echo(), journal) as asker:
            await work_through(range(5), lambda n: asker.ask(question(str(n)), ""), 4)
    with Journal(tmp_path / "j.jsonl") as journal:
        used = journal.used["m"]
    assert (used.replies, used.prompt_tokens, used.completion_tokens, used.uncounted) == (5, 15, 10, 0)
