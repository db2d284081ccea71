"""Adding a task, a domain, a metric or a model touches one place; everything else takes it from there."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from stages.build.params import BuildParams
from stages.build.release import build_task
from stages.draft.slots import find_slots
from taxpraben import metrics
from taxpraben.backends.roster import load_roster
from taxpraben.metrics.base import Pair
from taxpraben.records.content import Content
from taxpraben.records.decision import Decision
from taxpraben.records.document import Document
from taxpraben.records.draft import Draft
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
    shutil.copy(Path(metrics.__file__).parent / "chrf.py", tmp_path / "house_rule.py")
    monkeypatch.setattr(metrics, "__path__", [*metrics.__path__, str(tmp_path)])
    assert "house_rule" in metrics.metric_names()
    pair = Pair(reference="应税所得", candidate="应税所得额", compared="text")
    [score], [known] = (metrics.find_metric(name, {}).score_pairs([pair]) for name in ("house_rule", "chrf"))
    assert score == known


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
