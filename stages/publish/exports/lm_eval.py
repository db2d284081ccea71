"""Task files for lm-evaluation-harness: one YAML a task and setting, one group a setting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import yaml

from stages.publish.exports.questions import SETTINGS
from taxpraben.tasks.spec import TaskSpec

# Metrics of the harness that need no model. Its own figures are a first look.
_EXACT = {"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}
_OVERLAP = {"metric": "chrf", "aggregation": "chrf", "higher_is_better": True}
_STRICT: dict[str, object] = {
    "name": "strict",
    "filter": [{"function": "remove_whitespace"}, {"function": "take_first"}],
}


def task_files(tasks: Sequence[TaskSpec], release: str) -> dict[str, str]:
    """YAML texts by file name, for the tasks that have items.

    Args:
        tasks: in table order.
        release: the release's number, kept as metadata.

    Returns:
        ``taxpraben_<task>_<setting>.yaml`` for each task and setting, and ``taxpraben_<setting>.yaml`` groups.
    """
    files: dict[str, str] = {}
    for setting in SETTINGS:
        names = []
        for spec in tasks:
            config = _task(spec, setting, release)
            names.append(config["task"])
            files[f"{config['task']}.yaml"] = _yaml(config)
        group = {"group": f"taxpraben_{setting}", "task": names, "metadata": {"version": release}}
        files[f"taxpraben_{setting}.yaml"] = _yaml(group)
    return files


def _task(spec: TaskSpec, setting: str, release: str) -> dict[str, object]:
    exact = spec.form in ("single", "set", "number", "span")
    filters: list[dict[str, object]] = [_STRICT]
    if spec.form == "single":
        letter = {"function": "regex", "regex_pattern": f"([{spec.letters}])"}
        filters.append({"name": "first-letter", "filter": [letter, {"function": "take_first"}]})
    return {
        "task": f"taxpraben_{spec.name.lower()}_{setting}",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": f"questions/{spec.name}.jsonl"}},
        "test_split": "test",
        "output_type": "generate_until",
        # Names of columns, not templates: the questions are asked exactly as they stand in the file.
        "doc_to_text": setting,
        "doc_to_target": "answer",
        "generation_kwargs": {
            "until": [],
            "max_gen_toks": spec.limits.new_tokens,
            "do_sample": False,
            "temperature": 0.0,
        },
        "num_fewshot": 0,
        "filter_list": filters,
        "metric_list": [_EXACT] if exact else [_OVERLAP],
        "metadata": {"version": release},
    }


def _yaml(config: Mapping[str, object]) -> str:
    return yaml.dump(dict(config), Dumper=_Plain, allow_unicode=True, sort_keys=False, width=120)


class _Plain(yaml.SafeDumper):
    """Writes equal parts in full: references (&id001) are hard to read and to edit."""

    def ignore_aliases(self, _data: object) -> bool:
        return True
