"""Finds the task folders and reads each into a ``TaskSpec``."""

from __future__ import annotations

import difflib
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from taxpraben.tasks.spec import TaskSpec

TASKS_FOLDER = Path(__file__).parent


class TaskError(ValueError):
    """A task folder or name that is wrong; the message names the file and the remedy."""


def load_task(folder: Path) -> TaskSpec:
    """Read one task folder (task.yaml, prompts.yaml, drafting.yaml).

    Raises:
        TaskError: a file is missing or breaks the specification.
    """
    raw = _read(folder / "task.yaml")
    raw["prompts"] = _read(folder / "prompts.yaml").get("prompts", [])
    raw["drafting"] = _read(folder / "drafting.yaml")
    try:
        return TaskSpec.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"]) or "task"
        raise TaskError(f"{folder / 'task.yaml'}: {where}: {first['msg']}{_hint(where)}") from error


def _read(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise TaskError(f"{path}: missing; a task folder needs task.yaml, prompts.yaml and drafting.yaml")
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise TaskError(f"{path}: not YAML ({error})") from error
    if not isinstance(raw, dict):
        raise TaskError(f"{path}: must hold a mapping")
    return raw


def _hint(where: str) -> str:
    close = difflib.get_close_matches(where, TaskSpec.model_fields, n=1)
    return f"; did you mean {close[0]!r}?" if close and close[0] != where else ""


@cache
def load_catalog(root: Path = TASKS_FOLDER) -> dict[str, TaskSpec]:
    """Every task by name, in the order of the paper's Table 1 (level, then the folder's ``order``), then by name.

    Raises:
        TaskError: a folder is wrong, or two folders give the same name.
    """
    catalog: dict[str, TaskSpec] = {}
    folders = sorted(path.parent for path in root.glob("*/*/task.yaml"))
    specs = [load_task(folder) for folder in folders]
    for folder, spec in sorted(zip(folders, specs, strict=True), key=lambda pair: _table_order(pair[1])):
        if spec.name in catalog:
            raise TaskError(f"{folder}: task name {spec.name!r} is taken; names are unique")
        catalog[spec.name] = spec
    return catalog


def _table_order(spec: TaskSpec) -> tuple[int, int, str]:
    return ("KM", "KU", "KA").index(spec.level), spec.order, spec.name


def find_task(name: str, root: Path = TASKS_FOLDER) -> TaskSpec:
    """The task of this name.

    Raises:
        TaskError: no such task; the message suggests the nearest name.
    """
    catalog = load_catalog(root)
    if name not in catalog:
        close = difflib.get_close_matches(name, catalog, n=1, cutoff=0.4)
        hint = f"; did you mean {close[0]!r}?" if close else f"; known: {', '.join(catalog)}"
        raise TaskError(f"Unknown task {name!r}{hint}")
    return catalog[name]
