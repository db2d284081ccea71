"""An annotator's day, over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from fastapi import FastAPI
from portal_samples import Browser, content_of, draft_of, fill, sign_in

from portal.forms import values_of
from taxpraben.queue.intake import bring_in, export_decisions
from taxpraben.queue.people import close_session
from taxpraben.queue.pieces import open_piece
from taxpraben.queue.store import Queue
from taxpraben.queue.texts import texts
from taxpraben.records.base import revise
from taxpraben.records.content import Content
from taxpraben.tasks.catalog import load_catalog

TASKS = load_catalog()


def take(browser: Browser) -> int:
    return int(browser.post("/queue/take", {"count": "1"}).headers["location"].rsplit("/", 1)[1])


@pytest.mark.parametrize("task", TASKS)
def test_every_task_is_accepted_and_fixed_through_its_own_form(annotator: Browser, queue: Queue, task: str) -> None:
    fill(queue, [draft_of(task, 0), draft_of(task, 1)])
    first = take(annotator)
    assert annotator.get(f"/pieces/{first}").status_code == 200
    reply = annotator.post(f"/pieces/{first}/judge", {"act": "accept", "version": "0"})
    second = int(reply.headers["location"].split("/")[2].split("?")[0])
    values = values_of(TASKS[task], content_of(TASKS[task])) | {"text": "改过的题目：应当补缴税款"}
    assert annotator.post(f"/pieces/{second}/judge", {"act": "fix", "version": "0", **values}).status_code == 303
    assert [(row.verdict, row.annotator) for row in export_decisions(queue)] == [
        ("accepted", "annotator-1"),
        ("fixed", "annotator-1"),
    ]


def test_a_fix_with_a_fault_comes_back_with_what_was_typed_and_the_fault_at_its_field(
    annotator: Browser, queue: Queue
) -> None:
    fill(queue, [draft_of("TaxCalc")])
    work = take(annotator)
    reply = annotator.post(
        f"/pieces/{work}/judge", {"act": "fix", "version": "0", "text": "新题目", "answer": "约一百"}
    )
    assert reply.status_code == 422
    assert "约一百" in reply.text
    assert "要一个数" in reply.text
    assert texts(queue, work)[-1].form["answer"] == "约一百"


def test_a_rejection_without_a_reason_is_refused_and_with_one_is_kept(annotator: Browser, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    work = take(annotator)
    assert annotator.post(f"/pieces/{work}/judge", {"act": "reject", "version": "0"}).status_code == 422
    data = {"act": "reject", "version": "0", "reject_reason": "与原文不符", "reject_other": "金额不对"}
    annotator.post(f"/pieces/{work}/judge", data)
    assert [row.reason for row in export_decisions(queue)] == ["与原文不符；金额不对"]


def test_a_skipped_item_shows_its_reason_and_waits(annotator: Browser, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    work = take(annotator)
    annotator.post(f"/pieces/{work}/judge", {"act": "skip", "skip_reason": "原文看不清", "version": "0"})
    assert "原文看不清" in annotator.get("/queue").text
    assert export_decisions(queue) == []


def test_autosave_keeps_versions_and_says_what_changed(annotator: Browser, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    work = take(annotator)
    typed = values_of(TASKS["TaxQA"], content_of(TASKS["TaxQA"])) | {"answer": "应当补缴税款和滞纳金"}
    reply = annotator.save(work, 0, typed).json()
    assert (reply["kind"], reply["version"]) == ("save", 1)
    assert ["in", "和滞纳金"] in reply["changes"][0]["pieces"]
    assert "应当补缴税款和滞纳金</textarea>" in annotator.get(f"/pieces/{work}").text


def test_the_second_of_two_tabs_is_told_and_shown_both_texts(annotator: Browser, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    work = take(annotator)
    annotator.save(work, 0, {"text": "题", "answer": "甲页写的"})
    reply = annotator.save(work, 0, {"text": "题", "answer": "乙页写的"})
    assert reply.status_code == 409
    assert reply.json()["theirs"]["answer"] == "甲页写的"
    page = annotator.post(f"/pieces/{work}/judge", {"act": "fix", "version": "0", "text": "题", "answer": "丙页写的"})
    assert page.status_code == 409
    assert "甲页写的" in page.text
    assert "丙页写的" in page.text
    assert [text.form["answer"] for text in texts(queue, work)] == ["甲页写的", "乙页写的", "丙页写的"]


def test_a_submission_after_the_limit_is_kept_and_told(
    app: FastAPI, annotator: Browser, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(queue, [draft_of("TaxQA")])
    work = take(annotator)
    with queue.write() as session:
        from taxpraben.queue.tables import Work

        session.get_one(Work, work).claimed_until = "2020-01-01T00:00:00.000Z"
    reply = annotator.post(f"/pieces/{work}/judge", {"act": "fix", "version": "0", "text": "题", "answer": "迟到的"})
    assert reply.headers["location"] == "/queue?done=late"
    assert "已保存为草稿" in annotator.get("/queue?done=late").text
    assert texts(queue, work)[-1].form["answer"] == "迟到的"


def test_what_was_typed_survives_a_session_that_ended_meanwhile(annotator: Browser, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    work = take(annotator)
    close_session(queue, annotator.client.cookies["taxpraben_session"])
    assert annotator.save(work, 0, {"answer": "写了一半"}).status_code == 401
    page = annotator.post(f"/pieces/{work}/judge", {"act": "fix", "version": "0", "text": "题", "answer": "写了一半"})
    assert page.status_code == 401
    assert "写了一半</textarea>" in page.text
    assert f"/sign-in?onward=/pieces/{work}" in page.text


def test_markup_in_drafts_names_and_reasons_stays_text(annotator: Browser, queue: Queue) -> None:
    payload = "<script>alert(1)</script><img src=x onerror=alert(1)>'\"{{7*7}}"
    fill(queue, [draft_of("TaxQA", content=Content(text=payload, answer=payload))])
    work = take(annotator)
    annotator.post(f"/pieces/{work}/judge", {"act": "skip", "skip_other": payload, "version": "0"})
    for path in (f"/pieces/{work}", "/queue"):
        html = annotator.get(path).text
        assert "<script>alert" not in html
        assert "<img src=x" not in html
        assert "&lt;script&gt;alert(1)" in html
    assert "{{7*7}}" in annotator.get(f"/pieces/{work}").text


def test_annotators_see_neither_the_drafting_model_nor_each_others_judgement(app: FastAPI, queue: Queue) -> None:
    from taxpraben.queue.people import create_person

    create_person(queue, "annotator-2", "annotator", "correct horse")
    fill(queue, [draft_of("TaxQA", model="drafter-x")], overlap=2)
    one, other = sign_in(app, "annotator-1"), sign_in(app, "annotator-2")
    first, second = take(one), take(other)
    assert first != second
    one.post(f"/pieces/{first}/judge", {"act": "fix", "version": "0", "text": "题", "answer": "第一人的答案"})
    for path in (f"/pieces/{first}", f"/pieces/{second}"):
        html = other.get(path).text
        assert "第一人的答案" not in html
        assert "annotator-1" not in html
        assert "drafter-x" not in html


def test_evidence_is_marked_in_the_source(annotator: Browser, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    assert "<mark>应当补缴税款</mark>" in annotator.get(f"/pieces/{take(annotator)}").text


def test_a_checkers_return_reaches_the_same_person_with_the_reason_and_the_last_text(
    as_role: Callable[[str], Browser], queue: Queue
) -> None:
    fill(queue, [draft_of("TaxQA")], spot_checks=5)
    annotator, checker = as_role("annotator"), as_role("checker")
    work = take(annotator)
    annotator.post(f"/pieces/{work}/judge", {"act": "fix", "version": "0", "text": "题", "answer": "交上去的"})
    checker.post("/checks/draw")
    assert "annotator-1" in checker.get("/checks").text
    assert "<ins>" in checker.get(f"/checks/{work}").text
    checker.post(f"/checks/{work}", {"act": "return", "reason": "缺依据"})
    page = annotator.get(f"/pieces/{work}").text
    assert "缺依据" in page
    assert "交上去的</textarea>" in page
    data = {"act": "fix", "version": str(open_piece(queue, work).version), "text": "题", "answer": "改好的"}
    annotator.post(f"/pieces/{work}/judge", data)
    checker.post(f"/checks/{work}", {"act": "pass"})
    checker.post("/checks/close", {"person": "annotator-1", "round": "1"})
    assert open_piece(queue, work).state == "returned"  # none of one passed at first: the share went back


def test_an_expert_adopts_one_of_two_judgements(app: FastAPI, as_role: Callable[[str], Browser], queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")], overlap=2)
    one, other, expert = as_role("annotator"), as_role("checker"), as_role("expert")
    first, second = take(one), take(other)
    one.post(f"/pieces/{first}/judge", {"act": "accept", "version": "0"})
    other.post(f"/pieces/{second}/judge", {"act": "reject", "reject_reason": "重复", "version": "0"})
    assert "annotator-1" in expert.get(f"/checks/{first}").text
    expert.post(f"/checks/{second}/adopt")
    assert [(row.verdict, row.annotator) for row in export_decisions(queue)] == [("rejected", "expert-1")]


def test_an_expert_cannot_adopt_their_own_submitted_work_past_the_spot_check(
    as_role: Callable[[str], Browser], queue: Queue
) -> None:
    fill(queue, [draft_of("TaxQA")], spot_checks=5)
    expert, admin = as_role("expert"), as_role("admin")
    work = take(expert)
    expert.post(f"/pieces/{work}/judge", {"act": "accept", "version": "0"})
    assert f"/checks/{work}/adopt" not in expert.get(f"/checks/{work}").text
    for browser in (expert, admin):  # not even another's word passes over the check: nothing is disputed
        reply = browser.post(f"/checks/{work}/adopt")
        assert reply.status_code == 400
        assert "not disputed" in reply.text
    assert export_decisions(queue) == []


def test_an_expert_who_judged_a_disputed_draft_is_offered_the_others_judgement_only(
    as_role: Callable[[str], Browser], queue: Queue
) -> None:
    fill(queue, [draft_of("TaxQA")], overlap=2)
    expert, other = as_role("expert"), as_role("annotator")
    own, theirs = take(expert), take(other)
    expert.post(f"/pieces/{own}/judge", {"act": "accept", "version": "0"})
    other.post(f"/pieces/{theirs}/judge", {"act": "reject", "reject_reason": "重复", "version": "0"})
    html = expert.get(f"/checks/{own}").text
    assert f"/checks/{own}/adopt" not in html
    assert f"/checks/{theirs}/adopt" in html
    assert expert.post(f"/checks/{own}/adopt").status_code == 400
    assert f"/checks/{own}/adopt" in as_role("admin").get(f"/checks/{own}").text
    expert.post(f"/checks/{theirs}/adopt")
    assert [(row.verdict, row.annotator) for row in export_decisions(queue)] == [("rejected", "expert-1")]


def test_the_pages_speak_english_when_asked(annotator: Browser) -> None:
    annotator.get("/choose/language/en?onward=/queue")
    assert "My queue" in annotator.get("/queue").text
    assert "我的任务" not in annotator.get("/queue").text


def test_a_changed_draft_shows_its_new_text_and_keeps_the_old_one_in_its_history(
    annotator: Browser, as_role: Callable[[str], Browser], queue: Queue
) -> None:
    draft = draft_of("TaxQA")
    fill(queue, [draft])
    work = take(annotator)
    assert draft.content is not None
    bring_in(queue, [revise(draft, content=Content(text="题", answer="全新的草稿"))], [])
    html = annotator.get(f"/pieces/{work}").text
    assert "全新的草稿" in html
    # What was done to the draft outside of the annotator's own work is for checkers.
    assert "草稿有变" in as_role("checker").get(f"/pieces/{work}").text


def test_a_claim_is_extended_while_somebody_types(annotator: Browser, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    work = take(annotator)
    before = open_piece(queue, work).claimed_until
    object.__setattr__(queue, "clock", lambda now=queue.clock: now() + timedelta(minutes=20))
    assert annotator.save(work, 0, {"answer": "还在写"}).json()["until"] > before
