"""What people type is kept."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from queue_samples import content, fill

from taxpraben.queue.claims import claim
from taxpraben.queue.rulings import submit
from taxpraben.queue.store import Queue
from taxpraben.queue.texts import save, texts


def test_the_second_of_two_tabs_gets_both_texts_and_both_are_kept(queue: Queue) -> None:
    fill(queue, 1)
    (work,) = claim(queue, "a01")
    assert save(queue, work, "a01", 0, {"answer": "第一页写的"}).version == 1
    second = save(queue, work, "a01", 0, {"answer": "第二页写的"})
    assert (second.kind, second.version) == ("conflict", 1)
    assert second.yours == {"answer": "第二页写的"}
    assert second.theirs == {"answer": "第一页写的"}
    assert [(text.kind, text.form["answer"]) for text in texts(queue, work)] == [
        ("save", "第一页写的"),
        ("conflict", "第二页写的"),
    ]


def test_a_save_that_names_the_current_version_goes_through_after_a_conflict(queue: Queue) -> None:
    fill(queue, 1)
    (work,) = claim(queue, "a01")
    save(queue, work, "a01", 0, {"answer": "甲"})
    current = save(queue, work, "a01", 0, {"answer": "乙"}).version
    assert save(queue, work, "a01", current, {"answer": "甲乙"}).kind == "save"


def test_a_submission_on_a_stale_version_changes_nothing_and_keeps_its_text(queue: Queue) -> None:
    fill(queue, 1)
    (work,) = claim(queue, "a01")
    save(queue, work, "a01", 0, {"answer": "新"})
    outcome = submit(queue, work, "a01", "fixed", content("旧"), version=0)
    assert (outcome.kind, outcome.state) == ("conflict", "claimed")
    assert [text.kind for text in texts(queue, work)] == ["save", "conflict"]


def test_of_twenty_saves_on_one_version_one_wins_and_none_is_lost(queue: Queue) -> None:
    fill(queue, 1)
    (work,) = claim(queue, "a01")
    with ThreadPoolExecutor(20) as pool:
        kinds = list(pool.map(lambda number: save(queue, work, "a01", 0, {"answer": str(number)}).kind, range(20)))
    assert sorted(kinds) == ["conflict"] * 19 + ["save"]
    assert sorted(int(str(text.form["answer"])) for text in texts(queue, work)) == list(range(20))


def test_text_saved_by_somebody_who_does_not_hold_the_work_is_kept_beside_it(queue: Queue) -> None:
    fill(queue, 1)
    (work,) = claim(queue, "a01")
    assert save(queue, work, "a02", 0, {"answer": "路过"}).kind == "late"
    assert save(queue, work, "a01", 0, {"answer": "本人"}).kind == "save"
