"""Adding a task, a domain, a metric or a model touches one place; everything else takes it from there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from stages.build.params import BuildParams
from stages.build.release import build_task
from stages.check.suites.scores import columns
from stages.draft.slots import find_slots
from stages.rank.columns import from_table
from stages.rank.params import RankParams
from stages.rank.standings import rank
from stages.score.scoring import score_all
from taxpraben import metrics
from taxpraben.backends.roster import load_roster
from taxpraben.records.base import revise
from taxpraben.records.content import Content
from taxpraben.records.decision import Decision
from taxpraben.records.document import Document
from taxpraben.records.draft import Draft
from taxpraben.records.item import Item
from taxpraben.records.reading import Reading
from taxpraben.records.score import Score
from taxpraben.tasks.catalog import TASKS_FOLDER, load_catalog

ROOT = Path(__file__).parents[2]

TASK = """\
name: LawReminder
title: {zh: 法条提示, en: Law reminder}
version: 1
domain: law
level: KM
nlp_type: GEN
creation: MC
size: 10
form: text
score: {metrics: [rouge_l]}
lengths: {input: [1, 100], label: [1, 100]}
"""

# A metric with a scale, a range and a required parameter of its own.
METRIC = """\
from typing import ClassVar

from taxpraben.metrics.base import Metric, PairScore


class HouseRule(Metric):
    KIND = "texts"
    RANGE: ClassVar[tuple[float, float]] = (0.0, 50.0)

    most: float

    @classmethod
    def to_unit(cls, value):
        return value / 50.0

    def score_pairs(self, pairs, progress=None):
        shares = [len(set(pair.candidate or "") & set(pair.reference)) / len(set(pair.reference)) for pair in pairs]
        return [PairScore(value=self.most * share) for share in shares]


METRIC = HouseRule
"""


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    """The project's task folders, and one more in a domain that did not exist."""
    root = tmp_path / "tasks"
    shutil.copytree(TASKS_FOLDER, root, ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    folder = root / "law" / "law_reminder"
    folder.mkdir(parents=True)
    (folder / "task.yaml").write_text(TASK, encoding="utf-8")
    (folder / "prompts.yaml").write_text("prompts: [请写出条文。]\n", encoding="utf-8")
    drafting = "version: 1\ndocuments: [statute]\nunit: article\ntext: '{label}说了什么？'\nanswer: '{text}'\n"
    (folder / "drafting.yaml").write_text(drafting, encoding="utf-8")
    return root


def test_a_task_in_a_new_domain_is_one_folder(catalogue: Path) -> None:
    spec = load_catalog(catalogue)["LawReminder"]
    assert (spec.domain, len(load_catalog(catalogue))) == ("law", len(load_catalog()) + 1)
    article = {"kind": "article", "label": "第一条", "text": "为了测试，制定本办法。"}
    document = Document(
        document_id="doc-1",
        pipeline="official",
        kind="statute",
        source="s",
        origin="o",
        title="办法（虚构）",
        text="第一条　为了测试，制定本办法。",
        parts=[article],
        digest="d",
    )
    assert len(find_slots(spec, [document])) == 1
    content = Content(text="第一条说了什么？", answer="为了测试，制定本办法。")
    draft = Draft(
        draft_id="LawReminder-1",
        task=spec.name,
        document_id="doc-1",
        origin="o",
        slot="第一条",
        method="parsed",
        status="drafted",
        content=content,
    )
    decision = Decision(
        draft_id=draft.draft_id,
        task=spec.name,
        draft_digest=content.digest,
        verdict="accepted",
        content=content,
        annotator="annotator-01",
        decided_at="2026-01-01T00:00:00Z",
    )
    [item] = build_task(spec, [draft], [decision], BuildParams()).items
    assert item.query == "请写出条文。"


def test_a_metric_is_one_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "house_rule.py").write_text(METRIC, encoding="utf-8")
    monkeypatch.setattr(metrics, "__path__", [*metrics.__path__, str(tmp_path)])
    task = load_catalog()["TaxQA"]
    item = Item(
        item_id="i1", task=task.name, task_version=task.version, release="0.1.0", query="q", prompt=0, text="t",
        answer="应税所得", choices=[], gold=[], fields=[], unit="", example_id="", draft_id="i1", document_id="doc-1",
        origin="o", effective="", repealed="",
    )  # fmt: skip
    reading = Reading(
        item_id="i1", task=task.name, model="m", setting="zero-shot", run=0, request="r", status="read",
        value="应税", strict_value="应税", method="rules",
    )  # fmt: skip
    substitute = {"bertscore": "house_rule", "bartscore": "rouge_l"}
    used = {"house_rule": metrics.find_metric("house_rule", {"most": 50.0}), "rouge_l": metrics.find_metric("rouge_l")}
    items, tasks = {(task.name, "i1"): item}, {task.name: task}
    scores, _ = score_all([reading], items, tasks, used, substitute, say=lambda _: None)
    # Two of the four characters are there: 25 of 50, so 0.5; F of the common subsequence is 2 * 1 * 0.5 / 1.5.
    table = pa.Table.from_pylist([row.model_dump() for row in scores], schema=Score.arrow_schema())
    standings = rank(
        from_table(table), ["m"], [task], metrics.metric_class, substitute, RankParams(draws=0), lambda _: None
    )
    means = {(row.scope, row.metric): row.mean for row in standings if row.protocol == "aligned"}
    assert means["metric", "house_rule"] == 25.0
    assert means["dataset", "S"] == pytest.approx((0.5 + 2 / 3) / 2)
    checked = columns(scores, {reading.key: reading}, tasks, substitute)
    assert not [value for row in checked for column, value in row.items() if column.endswith("_problem") and value]
    above = [revise(row, value=51.0) for row in scores if row.metric == "house_rule"]
    assert [row["range_problem"] for row in columns(above, {}, tasks, substitute)] == ["51.0 outside 0.0 to 50.0"] * 2


def test_score_rank_and_check_name_no_metric() -> None:
    # rank/paper.py reads the headings of the paper's own tables.
    files = [path for stage in ("score", "rank", "check") for path in (ROOT / "stages" / stage).rglob("*.py")]
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in files
        for name in metrics.metric_names()
        if f'"{name}"' in path.read_text(encoding="utf-8") and path.name != "paper.py"
    ]
    assert found == []


@pytest.mark.slow
@pytest.mark.flow
def test_a_model_is_one_entry_and_gets_its_own_stages(tmp_path: Path) -> None:
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    raw = yaml.safe_load((ROOT / "models.yaml").read_text(encoding="utf-8"))
    raw["models"]["office"] = {
        "title": "Office",
        "backend": "openai",
        "access": "api",
        "group": "chinese",
        "served": "office-1",
        "base_url": "http://127.0.0.1:9/v1",
    }
    raw["roster"].append("office")
    (tmp_path / "models.yaml").write_text(yaml.safe_dump(raw, allow_unicode=True), encoding="utf-8")
    assert load_roster(tmp_path).chosen[-1] == "office"
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    dvc = [sys.executable, "-m", "dvc"]
    subprocess.run([*dvc, "init", "-q"], cwd=tmp_path, check=True)
    listed = subprocess.run(
        [*dvc, "stage", "list", "--name-only"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout.split()
    assert {"infer@office", "read@office", "score@office"} <= set(listed)
