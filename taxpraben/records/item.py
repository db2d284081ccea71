"""One benchmark question of a task, as released."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from taxpraben.records.base import Record, read_records
from taxpraben.records.field import Field


class Item(Record):
    """A released question.

    Attributes:
        item_id: stable over releases; made from the draft's id.
        query: the instruction prompt, drawn once per item from the task's retained prompts by seed.
        prompt: the retained prompt's number in the task's prompts.yaml, from 0.
        text, answer, choices, gold, fields, unit: see ``Content``.
        example_id: the item that serves as its one-shot example; never itself nor its near-duplicate.
        effective, repealed: dates of the rule it rests on (ISO), where known.
    """

    NAME: ClassVar[str] = "item"
    VERSION: ClassVar[int] = 1
    KEY: ClassVar[tuple[str, ...]] = ("task", "item_id")

    item_id: str
    task: str
    task_version: int
    release: str
    query: str
    prompt: int
    text: str
    answer: str
    choices: list[str]
    gold: list[int]
    fields: list[Field]
    unit: str
    example_id: str
    draft_id: str
    document_id: str
    origin: str
    effective: str
    repealed: str


def read_release(folder: Path, tasks: Iterable[str]) -> dict[tuple[str, str], Item]:
    """The released items of these tasks, by task and item id.

    Args:
        folder: the release's folder (``Workspace.release``).
        tasks: task names, for example those that a model's answers belong to.

    Raises:
        RecordFileError: a task's file is missing or no file of items.
    """
    return {
        (item.task, item.item_id): item for name in tasks for item in read_records(folder / f"{name}.parquet", Item)
    }
