"""Items and standings of a small benchmark with fictitious models, for the pages and the exports."""

from taxpraben.records.item import Item
from taxpraben.records.standing import Standing
from taxpraben.tasks.catalog import find_task, load_catalog

MODELS = {"small-chat": 0.30, "lead": 0.22, "majority": 0.18, "random": 0.12}
EVIL = "<script>alert(1)</script>"
SHOWN = {
    "bertscore": "bertscore|local-encoder@1a2b|layer:5|idf:no|v0.3.13",
    "bartscore": "likelihood|local-judge@3c4d|v1",
}


def item(task: str, number: int, **changes: object) -> Item:
    spec = find_task(task)
    given: dict[str, object] = {
        "item_id": f"{task}-{number:012d}", "task": task, "task_version": spec.version, "release": "0.1.0",
        "query": spec.prompts[0], "prompt": 0, "text": f"第{number}题：示范公司如何申报？", "answer": "按月申报",
        "choices": [], "gold": [], "fields": [], "unit": "", "example_id": "", "draft_id": f"{task}-{number:012d}",
        "document_id": "doc-demo", "origin": "books/demo.pdf", "effective": "", "repealed": "",
    }  # fmt: skip
    return Item.model_validate({**given, **changes})


def small_release() -> dict[str, list[Item]]:
    """Three items of four tasks, each the example of the one before it; the other tasks have none."""
    release: dict[str, list[Item]] = {name: [] for name in load_catalog()}
    choices: dict[str, dict[str, object]] = {
        "TaxSCQ": {"choices": ["甲项", "乙项", "丙项", "丁项"], "gold": [2], "answer": "C"},
        "TaxMCQ": {"choices": ["甲项", "乙项", "丙项", "丁项", "戊项"], "gold": [0, 3], "answer": "AD"},
        "TaxCalc": {"answer": "-12.50", "unit": "万元"},
        "TaxQA": {},
    }
    for task, more in choices.items():
        for number in range(1, 4):
            example = f"{task}-{number % 3 + 1:012d}"
            release[task].append(item(task, number, example_id=example, **more))
    return release


def standings(models: dict[str, float] | None = None, without: str = "") -> list[Standing]:
    """All settings, protocols, datasets, groups and metrics; ``without`` names a dataset that the last model lacks."""
    rows: list[Standing] = []
    tasks = list(load_catalog().values())
    models = models or MODELS
    last = list(models)[-1]
    groups = {"KM": "level", "KU": "level", "KA": "level", "CLS": "nlp_type", "GEN": "nlp_type", "REA": "nlp_type"}
    for setting in ("zero-shot", "one-shot"):
        for protocol in ("strict", "aligned"):
            for place, (model, level) in enumerate(models.items(), start=1):
                shares = {"unread": 0.004 * place, "refused": 0.03 if place == 1 else 0.0, "truncated": 0.02 * place}
                more = {"model": model, "setting": setting, "protocol": protocol, "items": 20, "runs": 2, **shares}
                for number, spec in enumerate(tasks):
                    lacks = model == last and spec.name == without
                    mean = level + 0.02 * number + (0.05 if protocol == "aligned" else 0.0)
                    own = figures(None if lacks else mean, place)
                    rows.append(Standing(**more, scope="dataset", name=spec.name, metric="S", **own))
                    for metric in spec.metric_names:
                        own = figures(None if lacks else (-4.2 if metric == "bartscore" else mean), place)
                        own["signature"] = SHOWN.get(metric, f"{metric}|v1")
                        rows.append(Standing(**more, scope="metric", name=spec.name, metric=metric, **own))
                for group in ["overall", *groups]:
                    inside = [spec for spec in tasks if group == "overall" or getattr(spec, groups[group]) == group]
                    missing = [spec.name for spec in inside if model == last and spec.name == without]
                    means = [row.mean for row in rows if row.scope == "dataset" and row.model == model
                             and (row.setting, row.protocol) == (setting, protocol)
                             and row.name in {spec.name for spec in inside}]  # fmt: skip
                    mean = None if missing else sum(value or 0.0 for value in means) / len(means)
                    own = figures(mean, place)
                    rows.append(Standing(**more, scope="group", name=group, metric="S", missing=missing, **own))
    return rows


def figures(mean: float | None, place: int) -> dict[str, object]:
    if mean is None:
        return {"mean": None, "signature": ""}
    rank = 2 if place == 3 else place
    return {"mean": mean, "deviation": 0.01, "low": mean - 0.06, "high": mean + 0.05, "rank": rank, "signature": "s|v1"}
