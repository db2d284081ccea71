"""Everything that the exports of a release hold, by relative path; equal items give equal bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stages.publish.exports.lm_eval import task_files
from stages.publish.exports.opencompass import dataset_config
from stages.publish.exports.paper_format import json_lines, paper_row
from stages.publish.exports.questions import question_row
from stages.publish.exports.readme import readme
from taxpraben.records.item import Item
from taxpraben.tasks.spec import TaskSpec


def bundle(items: Mapping[str, Sequence[Item]], tasks: Sequence[TaskSpec], release: str) -> dict[str, bytes]:
    """File contents by path; Parquet copies are not among them, for they are copied as they are.

    Args:
        items: the release's items by task, sorted by id.
        tasks: the catalogue in table order; tasks without items get no files.
        release: its number.
    """
    present = [spec for spec in tasks if items.get(spec.name)]
    files: dict[str, bytes] = {}
    for spec in present:
        rows = items[spec.name]
        by_id = {item.item_id: item for item in rows}
        files[f"jsonl/{spec.name}.jsonl"] = json_lines(paper_row(item, spec) for item in rows)
        files[f"questions/{spec.name}.jsonl"] = json_lines(question_row(spec, item, by_id) for item in rows)
    for name, text in task_files(present, release).items():
        files[f"lm_eval/{name}"] = text.encode()
    files["opencompass/taxpraben_gen.py"] = dataset_config(present, release).encode()
    files["README.md"] = readme(items, tasks, release).encode()
    return files
