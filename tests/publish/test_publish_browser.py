"""The board in Chromium: nothing leaves, tabs choose, columns sort, it fits a phone."""

import sys

import pytest

from stages.console import run_stage
from stages.publish import __main__ as stage
from taxpraben.workspace import Workspace

pytestmark = pytest.mark.browser


class Opened:
    """A page that keeps what it asked for and what its console said."""

    def __init__(self, page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    def column(self, section: str, key: str) -> list[str]:
        """Models of a table in shown order, after a click on the column whose head begins with ``key``."""
        table = self.page.locator(f"#{section} table")
        table.locator("thead button", has_text=key).first.click()
        return table.locator("tbody th").all_inner_texts()


@pytest.fixture
def opened(chromium, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Opened:
    monkeypatch.chdir(workspace.root)
    monkeypatch.setattr(sys, "argv", ["stages.publish"])
    with pytest.raises(SystemExit):
        run_stage(stage.main)
    found = Opened(chromium.new_page(viewport={"width": 1366, "height": 768}))
    found.page.goto((workspace.site / "index.html").as_uri())
    return found


def test_the_board_asks_for_itself_only_and_its_console_is_silent(opened: Opened) -> None:
    for name in ("one-shot", "strict", "datasets", "metrics"):
        opened.page.click(f"[data-value={name}]")
    opened.page.click("[data-set-lang=en]")
    assert opened.requests == [opened.page.url, "data:,"] or opened.requests == [opened.page.url]
    assert opened.complaints == []


def test_a_click_sorts_by_the_column_a_second_turns_round_and_blanks_stay_last(opened: Opened) -> None:
    evil = "<script>alert(1)</script>"
    shown = "zero-shot-aligned"
    # It stands sorted by overall, best first; the model without TaxPlan has no overall and comes last either way.
    best_first = ["small-chat", "lead", "majority", "random"]
    assert opened.page.locator(f"#{shown} tbody th").all_inner_texts() == [*best_first, evil]
    assert opened.column(shown, "总分") == [*best_first[::-1], evil]
    assert opened.column(shown, "KM") == [*best_first, evil]
    assert opened.column(shown, "KM") == [evil, *best_first[::-1]]
    assert opened.column(shown, "模型") == sorted([*best_first, evil])
    # Refused is the first model's alone (3 %), cut grows with the place.
    assert opened.column(shown, "拒答")[0] == "small-chat"
    assert opened.column(shown, "截断")[0] == evil


def test_one_table_shows_at_a_time_and_tabs_choose_it(opened: Opened) -> None:
    assert opened.page.locator("section.board:visible").count() == 1
    opened.page.click("[data-value=one-shot]")
    opened.page.click("[data-value=strict]")
    assert opened.page.locator("section.board:visible").get_attribute("id") == "one-shot-strict"
    assert not opened.page.locator("#one-shot-strict thead th.dataset").first.is_visible()
    opened.page.click("[data-value=datasets]")
    assert opened.page.locator("#one-shot-strict thead th.dataset").first.is_visible()


def test_the_page_changes_its_language(opened: Opened) -> None:
    assert opened.page.locator("h1").inner_text().startswith("TaxPraBen 税务")
    opened.page.click("[data-set-lang=en]")
    assert opened.page.locator("h1").inner_text().startswith("TaxPraBen leaderboard")
    assert opened.page.evaluate("document.documentElement.lang") == "en"


def test_a_phone_scrolls_the_table_and_never_the_page(opened: Opened) -> None:
    opened.page.set_viewport_size({"width": 390, "height": 844})
    for view in ("groups", "datasets"):
        opened.page.click(f"[data-value={view}]")
        assert opened.page.evaluate("document.documentElement.scrollWidth") == 390
    first = opened.page.locator("section.board:visible tbody th").first
    before = first.bounding_box()["x"]
    opened.page.locator("section.board:visible .scroll").evaluate("element => { element.scrollLeft = 300; }")
    assert first.bounding_box()["x"] == before  # the model's name stays in sight


def test_without_scripts_every_table_stands_on_the_page(opened: Opened) -> None:
    context = opened.page.context.browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(opened.page.url)
    assert page.locator("section.board:visible").count() == 4
    context.close()
