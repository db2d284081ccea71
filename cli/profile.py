"""Switches the profile and the sources in params.yaml, in place, as `dvc exp run --set-param` would."""

from __future__ import annotations

import difflib
import re
from pathlib import Path

import typer
import yaml

from taxpraben.workspace import WorkspaceError


def choose(path: Path, *, profile: str = "", sources: str = "", fresh: bool = False) -> None:
    """Write the chosen profile and sources into params.yaml; every other line stays as it is.

    Args:
        path: params.yaml.
        profile: a profile that the file has; empty keeps the present one.
        sources: an existing folder or file; empty keeps the present one.
        fresh: begin a new asking: every model is asked anew, into journals of its own; older ones are kept.

    Raises:
        WorkspaceError: unknown profile, or sources that do not exist.
    """
    if not path.exists():
        raise WorkspaceError(f"{path}: no such file; run from the folder that holds params.yaml")
    text = path.read_text(encoding="utf-8")
    params = yaml.safe_load(text)
    if profile and profile not in params["profiles"]:
        close = difflib.get_close_matches(profile, params["profiles"], n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(params['profiles'])}"
        raise WorkspaceError(f"{path}: unknown profile {profile!r}; {hint}")
    if sources and not Path(sources).exists():
        raise WorkspaceError(f"--sources {sources}: no such folder")
    for key, old, new in (("profile", params["profile"], profile), ("sources", params["sources"], sources)):
        if new and new != old:
            text = _set_line(text, key, new, path)
            typer.echo(f"params.yaml: {key} {old} -> {new}", err=True)
    if fresh:
        text = _set_line(text, "asking", str(params["asking"] + 1), path)
        typer.echo(f"params.yaml: asking {params['asking']} -> {params['asking'] + 1}", err=True)
    path.write_text(text, encoding="utf-8")


def _set_line(text: str, key: str, value: str, path: Path) -> str:
    changed, count = re.subn(rf"(?m)^{key}:.*$", lambda _: f"{key}: {value}", text, count=1)
    if not count:
        raise WorkspaceError(f"{path}: no top-level line `{key}:` to change")
    return changed
