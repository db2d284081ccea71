"""A small workspace of its own: the real dvc.yaml's shape with stages of one line each, under real DVC."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

REVIEW = """\
import json, pathlib, sys
out = pathlib.Path("data/mini/review"); out.mkdir(parents=True, exist_ok=True)
done = pathlib.Path("decided").exists()
status = {"complete": done, "waiting": 0 if done else 2, "waiting_by_task": {"TaxQA": 2}, "link": "http://127.0.0.1:8350/"}
(out / "status.json").write_text(json.dumps(status))
if not done: sys.exit(3)
pathlib.Path("data/mini/decisions").write_text("decided")
"""
STEP = """\
import pathlib, sys
name, *files = sys.argv[1:]
with open("log", "a") as log: log.write(name + "\\n")
if pathlib.Path("broken-" + name).exists(): sys.exit(1)
for file in files:
    path = pathlib.Path(file); path.parent.mkdir(parents=True, exist_ok=True); path.write_text(name)
"""
BASELINE = {"backend": "baseline", "access": "none", "group": "baseline"}


def _stage(name: str, deps: list[str], out: str) -> dict[str, object]:
    return {"cmd": f"python step.py {name} {out}", "deps": deps, "outs": [out]}


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A git and DVC workspace with a roster of two models and every stage that the flows name."""
    data = "data/mini"
    stages: dict[str, object] = {
        "ingest": _stage("ingest", ["source"], f"{data}/documents"),
        "check_ingest": _stage("check_ingest", [f"{data}/documents"], f"{data}/checks/ingest"),
        "draft": _stage("draft", [f"{data}/checks/ingest"], f"{data}/drafts"),
        "check_draft": _stage("check_draft", [f"{data}/drafts"], f"{data}/checks/draft"),
        "review": {
            "cmd": "python review.py",
            "always_changed": True,
            "deps": [f"{data}/checks/draft"],
            "outs": [f"{data}/decisions"],
        },
        "build": _stage("build", [f"{data}/decisions"], f"{data}/benchmark"),
        "check_build": _stage("check_build", [f"{data}/benchmark"], f"{data}/checks/build"),
    }
    before = f"{data}/checks/build"
    for name in ("infer", "read", "score"):
        each = _stage(f"{name}-${{item}}", [before], f"{data}/{name}/${{item}}")
        stages[name] = {"foreach": "${roster}", "do": each}
        before = f"{data}/{name}/${{item}}"
    stages["rank"] = _stage("rank", [f"{data}/score"], f"{data}/standings")
    stages["check_rank"] = _stage("check_rank", [f"{data}/standings"], f"{data}/checks/rank")
    stages["publish"] = _stage("publish", [f"{data}/checks/rank"], f"{data}/site/index.html")
    files = {
        "dvc.yaml": yaml.safe_dump({"vars": ["models.yaml:roster"], "stages": stages}),
        "models.yaml": yaml.safe_dump(
            {
                "roster": ["lead", "copy"],
                "models": {name: dict(BASELINE, title=name, baseline=name) for name in ("lead", "copy")},
            }
        ),
        "params.yaml": "profile: mini\nsources: source\nasking: 0\nprofiles: {mini: {}}\n",
        "review.py": REVIEW,
        "step.py": STEP,
        "source": "text",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent) + os.pathsep + os.environ["PATH"])
    for command in (["git", "init", "-q"], ["dvc", "init", "-q"], ["dvc", "config", "core.analytics", "false"]):
        subprocess.run(command, cwd=tmp_path, check=True)
    return tmp_path


def steps_run(workspace: Path) -> list[str]:
    """The stages that ran since the last call, in order."""
    log = workspace / "log"
    lines = log.read_text().split() if log.exists() else []
    log.write_text("")
    return lines
