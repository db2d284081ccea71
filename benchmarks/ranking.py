"""Ranking the paper's whole protocol: 19 models, two settings, five runs, 7,300 items; time and peak memory.

The scores are drawn by seed: each model has a level, each item a difficulty. Every text dataset has BERTScore and
BARTScore a row an answer, every choice dataset one row, so that there are more rows than answers.
Ends with status 1 above 60 s or 4 GiB.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from stages.rank.columns import read_scores
from stages.rank.params import RankParams
from stages.rank.standings import rank
from taxpraben.metrics import metric_class
from taxpraben.records.answer import SETTINGS
from taxpraben.records.field import Field
from taxpraben.records.score import PROTOCOLS, Score
from taxpraben.tasks.catalog import load_catalog
from taxpraben.tasks.spec import TaskSpec

# The paper's Table 2: 7,300 items.
SIZES = {
    "TaxRecite": 200, "TaxSum": 1000, "TaxTopic": 1000, "TaxRead": 1000, "TaxCalc": 500, "TaxSCQ": 700, "TaxMCQ": 400,
    "TaxQA": 700, "TaxBoard": 500, "TaxCrime": 200, "TaxOpinion": 500, "TaxRisk": 200, "TaxInspect": 200,
    "TaxPlan": 200,
}  # fmt: skip
MOST_S, MOST_GIB = 60, 4
_OWN_FIELDS = [
    Field(name="思路", kind="text"),
    Field(name="筹划前", kind="number"),
    Field(name="筹划后", kind="number"),
]


def compared(task: TaskSpec) -> list[tuple[str, str]]:
    """(metric, field) of each score row of one answer."""
    if task.form != "fields":
        return [(metric, "") for metric in task.score.metrics]
    return [
        (group.metric, field.name)
        for group in task.score.groups
        for field in task.fields_of(_OWN_FIELDS if task.fields_from_item else [])
        if field.name in group.fields or (not group.fields and field.kind == group.kind)
    ]


def write_model(path: Path, model: str, level: float, runs: int, share: float, draw: np.random.Generator) -> int:
    """One model's score file; gives the number of its rows."""
    tables = []
    for task in load_catalog().values():
        count = max(2, round(SIZES[task.name] * share))
        letters = np.array(list(task.letters or "A"))
        gold = letters[np.arange(count) % len(letters)]
        for setting in SETTINGS:
            for run in range(1, runs + 1):
                said = np.where(draw.random(count) < level, gold, letters[draw.integers(len(letters), size=count)])
                for protocol in PROTOCOLS:
                    for metric, field in compared(task):
                        kind, (low, high) = metric_class(metric), metric_class(metric).RANGE
                        values = np.clip(draw.normal(level, 0.2, count), 0, 1) * (high - max(low, -10)) + max(low, -10)
                        columns = {
                            "item_id": [f"{task.name}-{number:012d}" for number in range(count)],
                            "task": task.name, "model": model, "setting": setting, "run": run, "protocol": protocol,
                            "metric": metric, "field": field,
                            "value": [None] * count if kind.KIND == "labels" else values,
                            "gold": gold if kind.KIND == "labels" else "",
                            "predicted": said if kind.KIND == "labels" else "",
                            "signature": metric, "status": "read", "flags": [[]] * count,
                        }  # fmt: skip
                        arrays = [
                            pa.array(columns[name.name], name.type)
                            if not isinstance(columns[name.name], str | int)
                            else pa.repeat(pa.scalar(columns[name.name], name.type), count)
                            for name in Score.arrow_schema()
                        ]
                        tables.append(pa.table(arrays, schema=Score.arrow_schema()))
    table = pa.concat_tables(tables)
    pq.write_table(table, path)
    return table.num_rows


def rank_files(folder: Path, draws: int) -> None:
    """Rank what lies in the folder, and print time and peak."""
    paths = sorted(folder.glob("*.parquet"))
    start = time.perf_counter()
    scores = read_scores(paths)
    read = time.perf_counter() - start
    tasks = [load_catalog()[name] for name in SIZES]
    found = rank(
        scores, [path.stem for path in paths], tasks, metric_class, {}, RankParams(draws=draws), lambda _: None
    )
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"| {len(scores):,} | {len(found):,} | {draws:,} | {read:.1f} s | {took:.1f} s | {peak:.2f} GiB |")
    whole = [row for row in found if row.name == "overall" and row.setting == "zero-shot" and row.protocol == "aligned"]
    order = sorted(whole, key=lambda row: -(row.mean or 0))
    if [row.model for row in order] != sorted(row.model for row in whole):
        raise SystemExit("the models do not come out in the order of their levels")
    if took > MOST_S or peak > MOST_GIB:
        raise SystemExit(f"more than {MOST_S} s or {MOST_GIB} GiB")


def main() -> None:
    """Write the files, then rank them in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=19)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--share", type=float, default=1.0, help="of the 7,300 items")
    parser.add_argument("--folder", type=Path, help="rank the files of this folder")
    options = parser.parse_args()
    if options.folder:
        rank_files(options.folder, options.draws)
        return
    with tempfile.TemporaryDirectory() as folder:
        draw = np.random.default_rng(1)
        for number in range(options.models):
            level = 0.8 - 0.02 * number
            write_model(
                Path(folder) / f"m{number:02d}.parquet", f"m{number:02d}", level, options.runs, options.share, draw
            )
        answers = (
            options.models * 2 * options.runs * sum(max(2, round(size * options.share)) for size in SIZES.values())
        )
        print(f"{answers:,} answers of {options.models} models\n")
        print("| score rows | standings | draws | reading the files | in all | peak memory |")
        print("|---:|---:|---:|---:|---:|---:|")
        command = [sys.executable, __file__, "--folder", folder, "--draws", str(options.draws)]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip())


if __name__ == "__main__":
    main()
