"""Parameters: a profile states only what it does otherwise, and a misspelt key is an error with a suggestion."""

from pathlib import Path

import pytest

from taxpraben.workspace import Params, WorkspaceError, open_workspace


class Window(Params):
    tokens: int = 512
    flag: bool = True


class ScoreParams(Params):
    window: Window = Window()
    model: str = ""


def workspace(folder: Path, text: str) -> Path:
    (folder / "params.yaml").write_text(text, encoding="utf-8")
    return folder


def test_a_profile_overlays_the_defaults_key_by_key(tmp_path: Path) -> None:
    root = workspace(
        tmp_path,
        "profile: small\ndefaults: {score: {model: large, window: {tokens: 1024}}}\n"
        "profiles: {small: {score: {window: {flag: false}}}}\n",
    )
    assert open_workspace(root).section("score", ScoreParams) == ScoreParams(
        model="large", window=Window(tokens=1024, flag=False)
    )


def test_a_misspelt_key_is_named_with_file_section_and_suggestion(tmp_path: Path) -> None:
    root = workspace(tmp_path, "profile: small\nprofiles: {small: {score: {modle: x}}}\n")
    with pytest.raises(WorkspaceError, match=r"params\.yaml: score\.modle .*did you mean 'model'"):
        open_workspace(root).section("score", ScoreParams)


def test_an_unknown_profile_is_named(tmp_path: Path) -> None:
    root = workspace(tmp_path, "profile: smal\nprofiles: {small: {}}\n")
    with pytest.raises(WorkspaceError, match="did you mean 'small'"):
        open_workspace(root)


def test_a_folder_without_parameters_says_where_to_run(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="run from the folder that holds params"):
        open_workspace(tmp_path)


def test_two_profiles_never_share_an_output(tmp_path: Path) -> None:
    text = "profiles: {small: {}, large: {}}\n"
    small = open_workspace(workspace(tmp_path, "profile: small\n" + text))
    large = open_workspace(workspace(tmp_path, "profile: large\n" + text))
    assert small.standings != large.standings
    assert small.queue_url != large.queue_url
