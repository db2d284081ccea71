from __future__ import annotations

import json

import pytest

from taxpraben.backends.baselines import BaselineBackend
from taxpraben.backends.protocol import BackendError, ItemView, Message, Request, Sampling

TEXT = "甲公司2025年销售收入为1,200.5万元，税率13%。乙公司没有收入。丙公司亏损3万元！"


async def said(baseline: str, view: ItemView, seed: int = 0, run: int = 0) -> str:
    request = Request(
        model=baseline,
        revision="r",
        messages=[Message(role="user", content="问")],
        sampling=Sampling(max_tokens=20, seed=seed),
        run=run,
        view=view,
    )
    return (await BaselineBackend(baseline, baseline).answer(request)).text


async def test_chance_repeats_for_a_request_and_changes_with_its_run() -> None:
    view = ItemView(form="set", text=TEXT, letters="ABCDEFGHIJKLM", gold_size=(2, 5))
    answers = [await said("random", view, run=run) for run in range(20)]
    assert answers == [await said("random", view, run=run) for run in range(20)]
    assert len(set(answers)) > 10


async def test_chance_keeps_to_the_form_of_the_answer() -> None:
    for run in range(30):
        assert await said("random", ItemView(form="single", text=TEXT, letters="ABCD"), run=run) in list("ABCD")
        letters = await said("random", ItemView(form="set", text=TEXT, letters="ABCDE", gold_size=(2, 4)), run=run)
        assert 2 <= len(letters) <= 4
        assert "".join(sorted(set(letters))) == letters
        assert await said("random", ItemView(form="number", text=TEXT), run=run) in ("2025", "1,200.5", "13", "3")
        assert await said("random", ItemView(form="span", text=TEXT), run=run) in TEXT
        assert await said("random", ItemView(form="text", text=TEXT), run=run) in TEXT
        fields = json.loads(await said("random", ItemView(form="fields", text=TEXT, fields=["甲", "乙"]), run=run))
        assert list(fields) == ["甲", "乙"]


async def test_all_letters_have_the_same_chance() -> None:
    view = ItemView(form="single", text=TEXT, letters="ABCD")
    counts = [0, 0, 0, 0]
    for run in range(800):
        counts["ABCD".index(await said("random", view, run=run))] += 1
    # 200 expected; below 140 or above 260 (5 standard deviations of 12.2) would be no chance any more
    assert all(140 <= count <= 260 for count in counts)


@pytest.mark.parametrize(
    ("form", "answer"),
    [("single", "A"), ("number", "2025"), ("span", "甲公司2025年销售收入为1"), ("text", TEXT)],
)
async def test_lead_gives_what_comes_first(form: str, answer: str) -> None:
    assert await said("lead", ItemView(form=form, text=TEXT, letters="ABCD")) == answer


async def test_lead_ends_with_a_whole_sentence() -> None:
    text = "今年的申报期限有变化。" * 40
    lead = await said("lead", ItemView(form="text", text=text))
    assert lead == "今年的申报期限有变化。" * 14  # 11 characters each: 154 is the first length from 150 on


async def test_copy_gives_the_text_and_majority_what_it_was_told() -> None:
    assert await said("copy", ItemView(form="text", text=TEXT)) == TEXT
    assert json.loads(await said("copy", ItemView(form="fields", text=TEXT, fields=["甲"]))) == {"甲": TEXT}
    assert await said("majority", ItemView(form="single", text=TEXT, letters="ABCD", typical="C")) == "C"


async def test_a_baseline_without_a_view_says_so() -> None:
    request = Request(model="m", revision="r", messages=[], sampling=Sampling(max_tokens=1))
    with pytest.raises(BackendError, match="needs the item"):
        await BaselineBackend("random", "random").answer(request)


async def test_a_text_without_numbers_or_sentences_still_gets_an_answer() -> None:
    assert await said("random", ItemView(form="number", text="没有数字")) == "0"
    assert await said("random", ItemView(form="span", text="。。")) == "。。"
    assert await said("lead", ItemView(form="text", text="")) == ""
