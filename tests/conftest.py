"""What tests of several rooms share."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.chromium import FLAGS, REMEDY, find_chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="session", autouse=True)
def _no_queue_of_ones_own() -> Iterator[None]:
    """Whoever runs the tests may have their own review's database in the environment; no test touches it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TAXPRABEN_QUEUE_URL", raising=False)
        yield


@pytest.fixture(scope="session", autouse=True)
def _interrupts_arrive() -> None:
    """A shell starts its background jobs deaf to Ctrl-C, and their children too; tests that send one need it heard."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def chromium() -> Iterator[Browser]:
    """A browser without a window; the test is skipped, with what to install, where there is none."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = find_chromium(playwright.chromium.executable_path)
        if not path:
            pytest.skip(REMEDY)
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()
