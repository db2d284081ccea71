"""`taxpraben run --profile … --sources …` changes only the lines it names, and refuses what does not exist."""

from pathlib import Path

import pytest

from cli.profile import choose
from taxpraben.workspace import WorkspaceError, open_workspace

PARAMS = """\
# what holds here
profile: sample
sources: books
asking: 0
defaults: {build: {seed: 7}}
profiles:
  sample: {build: {}}
  outside: {build: {release: 0.2.0}}  # ours
"""


@pytest.fixture
def params(tmp_path: Path) -> Path:
    path = tmp_path / "params.yaml"
    path.write_text(PARAMS, encoding="utf-8")
    return path


def test_a_profile_is_switched_and_comments_stay(params: Path) -> None:
    choose(params, profile="outside")
    assert params.read_text(encoding="utf-8") == PARAMS.replace("profile: sample", "profile: outside")
    assert open_workspace(params.parent).out.name == "outside"


def test_sources_must_exist(params: Path, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="no such folder"):
        choose(params, sources=str(tmp_path / "nowhere"))
    choose(params, sources=str(tmp_path))
    assert f"sources: {tmp_path}\n" in params.read_text(encoding="utf-8")


def test_an_unknown_profile_gets_a_suggestion(params: Path) -> None:
    with pytest.raises(WorkspaceError, match="did you mean 'outside'"):
        choose(params, profile="outsid")
    assert params.read_text(encoding="utf-8") == PARAMS


def test_a_fresh_run_begins_another_asking_with_journals_of_its_own(params: Path) -> None:
    before = open_workspace(params.parent).journals
    choose(params, fresh=True)
    workspace = open_workspace(params.parent)
    assert workspace.asking == 1
    assert workspace.journals != before


def test_no_options_change_nothing(params: Path) -> None:
    choose(params)
    assert params.read_text(encoding="utf-8") == PARAMS
