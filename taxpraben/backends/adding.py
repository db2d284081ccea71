"""A new entry in models.yaml: text put behind the last model, so that comments, order and all other lines stay."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path
from typing import Any

import yaml

from taxpraben.backends.roster import MODEL_NAME, OPTIONS, ModelEntry, Roster, RosterError, load_roster

_IN_LINE = 100
"""An entry's mapping that is no longer than this stands in one line."""


def add_model(path: Path, name: str, entry: dict[str, Any], evaluate: bool = False) -> Roster:
    """Write a model into models.yaml.

    The file is read before (it must be right), the new text is read as a whole before it replaces the old one, and
    every other entry must be what it was.

    Args:
        path: models.yaml.
        name: the new model's name.
        entry: its keys; see ``ModelEntry``. Keys without a value are left out.
        evaluate: whether the lifecycle shall evaluate it: its name joins the list ``roster``.

    Returns:
        What the file says now.

    Raises:
        RosterError: the name is taken or wrong, a key is unknown, or the file is not as expected; it is left alone.
    """
    before = load_roster(path)
    if name in before.models:
        raise RosterError(f"{path}: {name!r} is there already; edit its entry, or choose another name")
    if not MODEL_NAME.fullmatch(name):
        good = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-") or "my-model"
        raise RosterError(
            f"{path}: {name!r} is no model's name (small letters, digits, hyphens, underscores); write {good!r}"
        )
    text = path.read_text(encoding="utf-8")
    if evaluate:
        text = _with_in_roster(path, text, name)
    lines = text.splitlines(keepends=True)
    at = _end_of_models(path, text)
    if not lines[at - 1].endswith("\n"):
        lines[at - 1] += "\n"
    lines[at:at] = [f"  {line}\n" for line in _written(name, entry)]
    return _replace(path, "".join(lines), before, name)


def _written(name: str, entry: dict[str, Any]) -> list[str]:
    """The entry's lines, in the order of its class; mappings inside stand in one line where they are short."""
    order = list(ModelEntry.model_fields)
    lines = [f"{name}:"]
    for key in sorted(entry, key=lambda key: order.index(key) if key in order else len(order)):
        value = entry[key]
        if value in ("", None, {}):
            continue
        inside = yaml.safe_dump(value, allow_unicode=True, default_flow_style=True, sort_keys=False, width=10_000)
        lines.append(f"  {key}: {inside.removesuffix('...' + chr(10)).strip()}")
        if isinstance(value, dict) and len(lines[-1]) > _IN_LINE:
            block = yaml.safe_dump(value, allow_unicode=True, sort_keys=False, width=10_000)
            lines[-1:] = [f"  {key}:", *(f"    {line}" for line in block.splitlines())]
    return lines


def _end_of_models(path: Path, text: str) -> int:
    """The number of lines up to and with the last line of the last model."""
    found = _value_of(text, "models")
    if not isinstance(found, yaml.MappingNode) or found.flow_style or not found.value:
        raise RosterError(f"{path}: 'models' must be a block of entries, one below the other, to have one added")
    return max(node.end_mark.line for node in _leaves(found)) + 1


def _leaves(node: yaml.Node) -> list[yaml.Node]:
    """Scalars, and lists and mappings in brackets: nodes that end where their text ends."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        children = [child for pair in node.value for child in (pair if isinstance(pair, tuple) else (pair,))]
        return [leaf for child in children for leaf in _leaves(child)]
    if isinstance(node, yaml.ScalarNode) and node.style in ("|", ">"):
        # such a text ends at the start of the line behind it
        node.end_mark.line -= 1
    return [node]


def _with_in_roster(path: Path, text: str, name: str) -> str:
    """The text with the name at the end of the list ``roster``, be it in brackets or in lines."""
    lines = text.splitlines(keepends=True)
    found = _value_of(text, "roster")
    if not isinstance(found, yaml.SequenceNode):
        raise RosterError(f"{path}: 'roster' must be a list to have a name added")
    if found.flow_style:
        line, column = found.end_mark.line, found.end_mark.column - 1
        comma = ", " if found.value else ""
        lines[line] = lines[line][:column].rstrip() + f"{comma}{name}" + lines[line][column:]
    else:
        last = found.value[-1]
        indent = lines[last.start_mark.line][: last.start_mark.column]
        lines.insert(last.end_mark.line + 1, f"{indent}{name}\n")
    return "".join(lines)


def _value_of(text: str, key: str) -> yaml.Node | None:
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode)  # load_roster has read it
    return next((value for word, value in root.value if word.value == key), None)


def _replace(path: Path, text: str, before: Roster, name: str) -> Roster:
    """Read the new text as a file beside the old one; put it in its place only if nothing else has changed."""
    trial = path.with_name(f".{path.stem}.{os.getpid()}.yaml")
    try:
        trial.write_text(text, encoding="utf-8")
        try:
            after = load_roster(trial)
        except RosterError as error:
            raise RosterError(str(error).replace(str(trial), str(path))) from error
        others = {other: body for other, body in after.models.items() if other != name}
        if others != before.models or after.weights != before.weights or name not in after.models:
            raise RosterError(f"{path}: cannot be added to without touching other entries; write the entry by hand")
        trial.chmod(path.stat().st_mode)
        trial.replace(path)
    finally:
        trial.unlink(missing_ok=True)
    return load_roster(path)


def parse_options(backend: str, given: list[str]) -> dict[str, Any]:
    """Options as ``key=value``, the value read as YAML (``timeout_s=30``, ``extra={thinking: false}``).

    Raises:
        RosterError: one is not of that form, or its key is unknown to the backend.
    """
    known = list(OPTIONS[backend].model_fields) if backend in OPTIONS else []
    options: dict[str, Any] = {}
    for text in given:
        key, sign, value = text.partition("=")
        if not sign or not key.strip():
            raise RosterError(f"--option {text!r}: write key=value, for example timeout_s=30")
        if key not in known:
            close = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
            raise RosterError(f"--option {key}: backend {backend} has no such option; {hint}")
        try:
            options[key] = yaml.safe_load(value)
        except yaml.YAMLError as error:
            raise RosterError(f"--option {text!r}: the value is not YAML ({error})") from error
    return options
