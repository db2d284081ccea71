"""The portal in Chromium, by keys alone. ``TAXPRABEN_SCREENSHOTS=FOLDER`` keeps pictures of what is walked through."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI
from portal_samples import DOCUMENT, PASSWORD, draft_of, fill, sign_in

from taxpraben.queue.intake import export_decisions
from taxpraben.queue.people import close_session
from taxpraben.queue.prompts import add_prompts, assign_prompts, my_prompts
from taxpraben.queue.store import Queue
from taxpraben.queue.texts import texts
from taxpraben.records.base import revise
from taxpraben.records.content import Content

pytestmark = pytest.mark.browser


@pytest.fixture
def address(app: FastAPI) -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def enter(chromium, address: str) -> Iterator[Callable[..., Any]]:
    """Signs a role in, in a browser profile of its own; at the end no script error and no breach of the policy."""
    opened: list[Any] = []
    faults: list[str] = []

    def open_as(role: str, width: int = 1366, height: int = 768) -> Any:
        context = chromium.new_context(viewport={"width": width, "height": height}, locale="zh-CN")
        page = context.new_page()
        opened.append(context)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("dialog", lambda dialog: (faults.append(dialog.message), dialog.dismiss()))
        page.on(
            "console",
            lambda said: faults.append(said.text) if "Content Security Policy" in said.text else None,
        )
        page.goto(address)
        until(page, "document.activeElement.name === 'name'")  # autofocus may come after the page has loaded
        page.keyboard.type(f"{role}-1")
        page.keyboard.press("Tab")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        page.wait_for_url("**/queue")
        return page

    yield open_as
    for context in opened:
        context.close()  # before the server goes, which waits for its connections
    assert faults == []


def until(page, condition: str, seconds: float = 20) -> None:
    """Wait for a condition; the pages' policy forbids the driver's own way, which evaluates text in the page."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(50)


def press(page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def picture(page, name: str) -> None:
    folder = os.environ.get("TAXPRABEN_SCREENSHOTS")
    if folder:
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def work_of(page) -> int:
    return int(page.url.split("/pieces/")[1].split("?")[0])


def test_an_annotators_day_by_keys_alone(enter, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA", number) for number in range(5)])
    page = enter("annotator")
    picture(page, "queue")
    press(page, "n")
    page.wait_for_url("**/pieces/*")
    picture(page, "item")
    press(page, "?")
    until(page, "document.getElementById('help').open")
    picture(page, "keys")
    press(page, "Escape", "a")
    page.wait_for_url("**done=accepted")
    press(page, "e")
    page.keyboard.type("，并缴纳滞纳金")
    until(page, "document.querySelector('#changes ins')")
    picture(page, "fix")
    press(page, "Control+Enter")
    page.wait_for_url("**done=fixed")
    press(page, "r", "2", "Control+Enter")
    page.wait_for_url("**done=rejected")
    press(page, "k", "1", "Control+Enter")
    page.wait_for_url("**done=skipped")
    press(page, "c")
    page.keyboard.type("第二款写得不清楚")
    press(page, "Control+Enter")
    page.wait_for_url("**done=commented**")
    press(page, "a")
    page.wait_for_url("**/queue?done=accepted")
    press(page, "g", "p")
    page.wait_for_url("**/progress")
    rows = export_decisions(queue)
    assert [row.verdict for row in rows] == ["accepted", "fixed", "rejected", "accepted"]
    assert rows[1].content is not None
    assert rows[1].content.answer == "应当补缴税款，并缴纳滞纳金"
    assert rows[2].reason == "依据已失效"


def test_a_fix_with_a_fault_stays_on_the_page_and_says_so_at_its_field(enter, queue: Queue) -> None:
    fill(queue, [draft_of("TaxCalc")])
    page = enter("annotator")
    press(page, "n")
    page.wait_for_url("**/pieces/*")
    press(page, "e", "Control+a")
    page.keyboard.type("约一百")
    press(page, "Control+Enter")
    until(page, "document.querySelector('[data-field=answer] .problem')")
    picture(page, "fault")
    assert page.evaluate("document.activeElement.name") == "answer"
    press(page, "Control+a")
    page.keyboard.type("100")
    press(page, "Control+Enter")
    page.wait_for_url("**/queue?done=fixed")
    assert [row.content.answer for row in export_decisions(queue) if row.content] == ["100"]


@pytest.mark.parametrize("act", ["typing", "submitting"])
def test_a_session_that_ends_is_begun_anew_in_place_and_nothing_is_lost(enter, queue: Queue, act: str) -> None:
    fill(queue, [draft_of("TaxQA")])
    page = enter("annotator")
    press(page, "n")
    page.wait_for_url("**/pieces/*")
    work = work_of(page)
    cookie = next(each for each in page.context.cookies() if each["name"] == "taxpraben_session")
    close_session(queue, cookie["value"])
    press(page, "e")
    page.keyboard.type("写到一半")
    if act == "submitting":
        press(page, "Control+Enter")
    until(page, "document.getElementById('sign-in-again').open")
    picture(page, f"session-{act}")
    page.keyboard.type("wrong password")
    press(page, "Enter")
    until(page, "!document.querySelector('#sign-in-again .problem').hidden")
    page.keyboard.type(PASSWORD)
    press(page, "Enter")
    if act == "submitting":
        page.wait_for_url("**/queue?done=fixed")
        assert [row.content.answer for row in export_decisions(queue) if row.content] == ["应当补缴税款写到一半"]
        return
    until(page, "Number(document.querySelector('[name=version]').value) > 0")
    assert str(texts(queue, work)[-1].form["answer"]) == "应当补缴税款写到一半"
    page.reload()
    until(page, "document.querySelector('[name=answer]').value.endsWith('写到一半')")


def test_a_stale_tab_shows_both_texts_and_goes_on_with_the_one_chosen(enter, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    page = enter("annotator")
    press(page, "n")
    page.wait_for_url("**/pieces/*")
    work = work_of(page)
    other = page.context.new_page()
    other.goto(page.url)
    there = "Number(document.querySelector('[name=version]').value) > 0 || !document.getElementById('conflict').hidden"
    for tab, words in ((other, "（先）"), (page, "（后）")):
        press(tab, "e")
        tab.keyboard.type(words)
        until(tab, there)
    shown = page.locator("#conflict").inner_text()
    assert "（先）" in shown
    assert "（后）" in shown
    picture(page, "conflict")
    press(page, "Enter")  # the first choice has the focus: one's own text
    until(page, "Number(document.querySelector('[name=version]').value) > 1")
    assert [text.kind for text in texts(queue, work)] == ["save", "conflict", "save"]
    assert str(texts(queue, work)[-1].form["answer"]).endswith("（后）")


def test_a_checkers_return_reaches_the_annotator_and_comes_back_mended(enter, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")], spot_checks=5)
    page, checker = enter("annotator"), enter("checker")
    press(page, "n")
    page.wait_for_url("**/pieces/*")
    press(page, "e")
    page.keyboard.type("。")
    press(page, "Control+Enter")
    page.wait_for_url("**/queue?done=fixed")
    press(checker, "g", "c")
    checker.wait_for_url("**/checks")
    press(checker, "d")
    checker.wait_for_url("**done=drawn")
    press(checker, "j", "Enter")
    checker.wait_for_url("**/checks/*")
    picture(checker, "check")
    press(checker, "r")
    checker.keyboard.type("缺少依据")
    press(checker, "Control+Enter")
    checker.wait_for_url("**done=returned")
    page.reload()
    press(page, "n")
    page.wait_for_url("**/pieces/*")
    assert "缺少依据" in page.locator("p.note").first.inner_text()
    picture(page, "returned")
    press(page, "e")
    page.keyboard.type("依据见通知第一条。")
    press(page, "Control+Enter")
    page.wait_for_url("**/queue?done=fixed")
    checker.reload()
    press(checker, "j", "Enter")
    checker.wait_for_url("**/checks/*")
    press(checker, "p")
    checker.wait_for_url("**done=passed")


def test_an_expert_ends_a_dispute_with_a_third_version_by_keys(enter, app: FastAPI, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")], overlap=2)
    for name, act in (("annotator-1", {"act": "accept"}), ("checker-1", {"act": "reject", "reject_reason": "重复"})):
        browser = sign_in(app, name)
        work = browser.post("/queue/take", {"count": "1"}).headers["location"]
        browser.post(f"{work}/judge", {**act, "version": "0"})
    page = enter("expert")
    press(page, "g", "c")
    page.wait_for_url("**/checks")
    press(page, "j", "Enter")
    page.wait_for_url("**/checks/*")
    press(page, "e")
    picture(page, "expert")
    page.locator("#third [name=answer]").focus()
    press(page, "Control+End")
    page.keyboard.type("及滞纳金")
    press(page, "Control+Enter")
    page.wait_for_url("**done=settled")
    assert [(row.verdict, row.annotator) for row in export_decisions(queue)] == [("fixed", "expert-1")]


def test_a_questionnaire_is_filled_in_with_a_key_a_mark(enter, queue: Queue) -> None:
    add_prompts(queue, "TaxQA", [f"请根据下文回答税务问题（第{number}种问法）。" for number in range(4)], "admin-1")
    assign_prompts(queue, "TaxQA", ["annotator-1"], "admin-1", per_person=3)
    page = enter("annotator")
    press(page, "g", "r")
    page.wait_for_url("**/ratings")
    press(page, "n")
    page.wait_for_url("**/ratings/*")
    press(page, "3", "2")
    picture(page, "rating")
    page.reload()  # marks that nobody sent yet are still there
    press(page, "3", "Enter")
    for _ in range(2):
        page.wait_for_url("**/ratings/*done=rated")
        until(page, "!document.querySelector('.metric input:checked')")
        press(page, "1", "0", "2", "Enter")
        page.wait_for_timeout(300)
    page.wait_for_url("**/ratings?done=rated")
    found = [each.rating for each in my_prompts(queue, "annotator-1") if each.rating]
    assert sorted((each.accuracy, each.naturalness, each.informativeness) for each in found) == [
        (1, 0, 2),
        (1, 0, 2),
        (3, 2, 3),
    ]


WIDE = ["/queue", "/item", "/progress", "/agreement", "/ratings", "/checks", "/board", "/quality", "/settings",
        "/people", "/log"]  # fmt: skip


def test_no_page_is_wider_than_a_phone_or_a_small_screen(enter, address: str, queue: Queue) -> None:
    fill(queue, [draft_of("TaxPlan"), draft_of("TaxQA", 1)], overlap=2)
    page = enter("admin")
    press(page, "n")
    page.wait_for_url("**/pieces/*")
    item = page.url
    for width, height in ((390, 844), (1366, 768)):
        page.set_viewport_size({"width": width, "height": height})
        for path in WIDE:
            page.goto(item if path == "/item" else address + path)
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (path, width)
            picture(page, f"{'phone' if width < 500 else 'wide'}{path.replace('/', '-')}")


PAYLOADS = [
    "<script>alert(1)</script><img src=x onerror=alert(2)>",
    '"><svg onload=alert(3)>',
    "</textarea><script>alert(4)</script>",
    '=HYPERLINK("javascript:alert(5)")',
    "{{7*7}}${7*7}<%= 7*7 %>",
]


def test_drafts_comments_and_reasons_are_never_run(enter, address: str, queue: Queue) -> None:
    drafts = [draft_of("TaxQA", at, content=Content(text=text, answer=text)) for at, text in enumerate(PAYLOADS)]
    document = revise(DOCUMENT, title=PAYLOADS[0], text="".join(PAYLOADS), flags=PAYLOADS)
    fill(queue, drafts, spot_checks=5, document=document)
    page, checker = enter("annotator"), enter("checker")
    press(page, "n")
    for text in PAYLOADS:
        page.wait_for_url("**/pieces/*")
        work = work_of(page)
        assert page.locator(".draft dd").first.inner_text() == text
        assert PAYLOADS[0] in page.locator(".doc-title").inner_text()
        press(page, "c")
        page.keyboard.insert_text(text)
        press(page, "Control+Enter")
        page.wait_for_url("**done=commented**")
        press(page, "e")
        page.keyboard.insert_text(text)
        until(page, "document.querySelector('#changes ins')")
        press(page, "Control+Enter")
        page.wait_for_url(lambda url, work=work: f"/pieces/{work}" not in url)
        checker.goto(f"{address}/checks/{work}")
        assert text in checker.locator("#said").inner_text()
        assert checker.locator("main script, main svg, .draft img, #said img").count() == 0


def test_a_breach_of_the_policy_would_be_seen(chromium, address: str) -> None:
    page = chromium.new_context().new_page()
    said: list[str] = []
    page.on("console", lambda line: said.append(line.text))
    page.goto(address)
    page.evaluate("() => { const made = document.createElement('script'); made.textContent = 'window.ran = 1'; "
                  "document.body.append(made); }")  # fmt: skip
    assert page.evaluate("() => window.ran") is None
    until(page, "1")
    assert any("Content Security Policy" in line for line in said)
    page.context.close()
