from __future__ import annotations

import pytest

from stages.infer.fitting import SHORTEST_PASSAGE, fit
from taxpraben.backends.protocol import Message, TokenCount
from taxpraben.tasks.catalog import find_task
from taxpraben.tasks.rendering import render
from tests.infer.samples import make_item, make_text_item

SCQ, READ, SUM = find_task("TaxSCQ"), find_task("TaxRead"), find_task("TaxSum")


class Counter:
    """A token a character; remembers how often it was asked."""

    def __init__(self, exact: bool = True) -> None:
        self.calls = 0
        self.exact = exact

    async def __call__(self, messages: list[Message]) -> TokenCount:
        self.calls += 1
        return TokenCount(tokens=sum(len(message.content) for message in messages), exact=self.exact)


def long_item(number: int, passage: int) -> object:
    return make_text_item(number, "TaxRead", "税" * passage + "问题：是什么？", "税")


async def test_a_prompt_of_few_bytes_is_not_measured() -> None:
    count = Counter()
    fitted = await fit(SCQ, make_item(), None, 2048, count)
    assert (fitted.too_long, fitted.cut, count.calls) == ("", "", 0)


async def test_a_prompt_at_the_limit_is_left_whole() -> None:
    item = long_item(1, 900)
    whole = render(READ, item)  # type: ignore[arg-type]
    fitted = await fit(READ, item, None, len(whole), Counter())  # type: ignore[arg-type]
    assert (fitted.prompt, fitted.cut, fitted.too_long) == (whole, "", "")


async def test_a_passage_over_the_limit_is_cut_as_little_as_possible_and_flagged() -> None:
    item = make_text_item(1, "TaxRead", "税" * 900 + "问题：是什么？", "税")
    limit = len(render(READ, item)) - 100
    fitted = await fit(READ, item, None, limit, Counter())
    assert len(fitted.prompt) == limit  # one token a character, so the best cut fills the limit to the last
    assert "问题：是什么？" in fitted.prompt
    # a hundred characters must go, and two more for the mark of the cut
    assert fitted.cut == f"cut: passage to 798 of 900 characters ({limit + 100} tokens, limit {limit})"


async def test_the_examples_passage_is_cut_before_the_items_own() -> None:
    item = make_text_item(1, "TaxRead", "税" * 500 + "问题：是什么？", "税")
    example = make_text_item(2, "TaxRead", "法" * 900 + "问题：哪一个？", "法")
    limit = len(render(READ, item, example)) - 300
    fitted = await fit(READ, item, example, limit, Counter())
    assert "税" * 500 in fitted.prompt
    assert fitted.prompt.count("法") == 900 - 302 + 1  # the passage less the cut, and the example's answer
    assert fitted.cut.startswith("cut: example's passage to 598 of 900 characters")


async def test_where_the_example_alone_is_not_enough_both_are_cut() -> None:
    item = make_text_item(1, "TaxRead", "税" * 900 + "问题：是什么？", "税")
    example = make_text_item(2, "TaxRead", "法" * 900 + "问题：哪一个？", "法")
    limit = len(render(READ, item, example)) - 1000
    fitted = await fit(READ, item, example, limit, Counter())
    assert len(fitted.prompt) == limit
    assert fitted.prompt.count("法") == SHORTEST_PASSAGE + 1
    assert "问题：是什么？" in fitted.prompt
    assert "问题：哪一个？" in fitted.prompt
    assert f"example's to {SHORTEST_PASSAGE} of 900" in fitted.cut


async def test_a_task_that_allows_no_cut_gets_too_long_with_both_numbers() -> None:
    item = make_item(text="题" * 900)
    fitted = await fit(SCQ, item, None, 500, Counter())
    assert fitted.too_long == f"{len(render(SCQ, item))} tokens, limit 500; TaxSCQ allows no cut"
    assert fitted.prompt == render(SCQ, item)


async def test_what_does_not_fit_even_when_cut_is_too_long() -> None:
    item = make_text_item(1, "TaxRead", "税" * 300 + "问题：" + "问" * 900, "税")
    fitted = await fit(READ, item, None, 600, Counter())
    assert f"not even {SHORTEST_PASSAGE} characters of the passage fit" in fitted.too_long


async def test_an_estimate_is_called_one() -> None:
    item = make_text_item(1, "TaxSum", "税" * 900, "税")
    fitted = await fit(SUM, item, None, 700, Counter(exact=False))
    assert "tokens (estimated), limit 700" in fitted.cut


@pytest.mark.parametrize("over", [1, 2, 7, 333, 650])
async def test_whatever_the_excess_the_result_fits(over: int) -> None:
    item = make_text_item(1, "TaxSum", "税务" * 450, "税")
    limit = len(render(SUM, item)) - over
    fitted = await fit(SUM, item, None, limit, Counter())
    assert limit - 1 <= len(fitted.prompt) <= limit
