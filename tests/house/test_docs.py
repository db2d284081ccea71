"""What README and docs name is there: linked files, commands, make targets."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_linked_files_exist(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_commands_exist(page: Path) -> None:
    known = get_command(app).commands  # type: ignore[attr-defined]
    missing = []
    for name, sub in re.findall(r"\btaxpraben ([a-z]+)(?: ([a-z-]+))?", page.read_text(encoding="utf-8")):
        group = getattr(known.get(name), "commands", None)
        if name not in known or (group is not None and sub and sub not in group):
            missing.append(f"taxpraben {name} {sub}".strip())
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8")))
    named = set(re.findall(r"`make ([a-z-]+)`|(?m:^make ([a-z-]+))", page.read_text(encoding="utf-8")))
    assert {first or second for first, second in named} - targets == set()
