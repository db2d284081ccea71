"""The browser that tests use is any that `make browser` is content with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.chromium import NAMES, REMEDY, find_chromium


def program(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text("#!/bin/sh\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def test_each_name_of_the_system_is_tried_in_order_and_playwrights_own_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    own = program(tmp_path, "playwrights-chrome")
    assert find_chromium(str(tmp_path / "missing")) == ""
    assert find_chromium("") == ""
    assert find_chromium(str(own)) == str(own)
    for name in ("google-chrome", "chromium-browser", "chromium"):
        path = program(folder, name)
        assert find_chromium(str(own)) == str(path)


def test_make_browser_looks_for_the_same_names_and_a_skip_names_it() -> None:
    makefile = (Path(__file__).parents[2] / "Makefile").read_text(encoding="utf-8")
    looked_for = re.search(r"command -v (.*) >/dev/null", makefile)
    assert looked_for is not None
    assert tuple(looked_for[1].split()) == NAMES
    assert "make browser" in REMEDY
