"""The portal in Chromium, by keys alone."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from fastapi import FastAPI
from portal_samples import PASSWORD, draft_of, fill

from taxpraben.queue.intake import export_decisions
from taxpraben.queue.people import close_session
from taxpraben.queue.store import Queue
from taxpraben.queue.texts import texts
from taxpraben.records.base import write_records
from taxpraben.records.standing import Standing

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
def page(chromium, address: str) -> Iterator[object]:
    opened = chromium.new_context(viewport={"width": 1366, "height": 768}).new_page()
    faults: list[str] = []
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.goto(address)
    opened.keyboard.type("annotator-1")
    opened.keyboard.press("Tab")
    opened.keyboard.type(PASSWORD)
    opened.keyboard.press("Enter")
    opened.wait_for_url("**/queue")
    yield opened
    opened.context.close()  # before the server goes, which waits for its connections
    assert faults == []


def until(page, condition: str, seconds: float = 20) -> None:
    """Wait for a condition; the pages' policy forbids the driver's own way, which evaluates text in the page."""
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(50)


def picture(page, name: str) -> None:
    folder = os.environ.get("TAXPRABEN_SCREENSHOTS")
    if folder:
        page.screenshot(path=str(Path(folder) / f"{name}.png"))


def test_a_day_by_keys_accept_fix_reject_skip_and_the_board(page, address: str, queue: Queue, root: Path) -> None:
    fill(queue, [draft_of("TaxQA", number) for number in range(4)])
    write_records(
        root / "data/trial/standings.parquet",
        Standing,
        [
            Standing(
                model="hare",
                setting="zero-shot",
                protocol="aligned",
                scope="group",
                name="overall",
                metric="S",
                mean=0.5,
                rank=1,
            )
        ],
    )
    page.reload()
    page.keyboard.press("n")
    page.wait_for_url("**/pieces/*")
    picture(page, "item")
    page.keyboard.press("a")
    page.wait_for_url("**done=accepted")
    page.keyboard.press("e")
    page.keyboard.press("Control+End")
    page.keyboard.type("，并缴纳滞纳金")
    until(page, "document.querySelector('#changes ins')")
    picture(page, "fix")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**done=fixed")
    page.keyboard.press("r")
    page.keyboard.press("2")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**done=rejected")
    page.keyboard.press("k")
    page.keyboard.press("1")
    page.keyboard.press("Control+Enter")
    page.wait_for_url("**/queue?done=skipped")
    rows = export_decisions(queue)
    assert [row.verdict for row in rows] == ["accepted", "fixed", "rejected"]
    assert rows[1].content is not None
    assert rows[1].content.answer == "应当补缴税款，并缴纳滞纳金"
    assert rows[2].reason == "依据已失效"
    page.goto(f"{address}/board")
    assert page.locator("tbody th").inner_text() == "hare"
    picture(page, "board")


def test_text_typed_while_the_session_ends_is_there_after_signing_in_again(page, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    page.reload()
    page.keyboard.press("n")
    page.wait_for_url("**/pieces/*")
    work = page.url
    cookie = next(each for each in page.context.cookies() if each["name"] == "taxpraben_session")
    close_session(queue, cookie["value"])
    page.keyboard.press("e")
    page.keyboard.press("Control+End")
    page.keyboard.type("写到一半")
    until(page, "document.getElementById('saving').querySelector('a')")
    page.goto(work)
    page.wait_for_url("**/sign-in?**")
    page.keyboard.type("annotator-1")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_selector("#judge")
    until(page, "document.querySelector('[name=answer]').value.endsWith('写到一半')")
    until(page, "Number(document.querySelector('[name=version]').value) > 0")
    assert str(texts(queue, 1)[-1].form["answer"]).endswith("写到一半")


def test_a_stale_tab_shows_both_texts_and_goes_on_with_the_one_chosen(page, queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    page.reload()
    page.keyboard.press("n")
    page.wait_for_url("**/pieces/*")
    other = page.context.new_page()
    other.goto(page.url)
    for tab, words in ((other, "（先）"), (page, "（后）")):
        tab.keyboard.press("e")
        tab.keyboard.press("Control+End")
        tab.keyboard.type(words)
        until(
            tab,
            "Number(document.querySelector('[name=version]').value) > 0 || !document.getElementById('conflict').hidden",
        )
    shown = page.locator("#conflict").inner_text()
    assert "（先）" in shown
    assert "（后）" in shown
    picture(page, "conflict")
    page.locator("#conflict button").first.click()
    until(page, "Number(document.querySelector('[name=version]').value) > 1")
    assert [text.kind for text in texts(queue, 1)] == ["save", "conflict", "save"]
    assert str(texts(queue, 1)[-1].form["answer"]).endswith("（后）")


@pytest.mark.parametrize("path", ["/queue", "/pieces/1", "/progress", "/board"])
def test_no_page_is_wider_than_a_phone(page, address: str, queue: Queue, path: str) -> None:
    fill(queue, [draft_of("TaxPlan")])
    page.goto(f"{address}/queue")
    page.keyboard.press("n")
    page.wait_for_url("**/pieces/*")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(address + path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    picture(page, "phone" + path.replace("/", "-"))
