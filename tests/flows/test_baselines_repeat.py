"""Two runs of the deterministic baselines, from the release to the standings, give the same bytes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.rank.samples import write_workspace

pytestmark = [pytest.mark.flow, pytest.mark.slow]

BASELINES = ("random", "majority", "lead", "copy")


def run_from_the_release(root: Path) -> dict[str, bytes]:
    """Ask, read, score and rank the baselines in a workspace of its own; the files that follow, by name."""
    write_workspace(root, BASELINES)
    models = yaml.safe_load((root / "models.yaml").read_text(encoding="utf-8"))
    for name in BASELINES:
        models["models"][name]["baseline"] = name
    (root / "models.yaml").write_text(yaml.safe_dump(models), encoding="utf-8")
    for step in ("infer", "read", "score"):
        for name in BASELINES:
            subprocess.run([sys.executable, "-m", f"stages.{step}", "--model", name], cwd=root, check=True)
    subprocess.run([sys.executable, "-m", "stages.rank"], cwd=root, check=True)
    out = root / "data" / "trial"
    files = [out / "standings.parquet", *(out / "answers").glob("*.parquet"), *(out / "scores").glob("*.parquet")]
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


def test_two_runs_of_the_baselines_give_the_same_bytes(tmp_path: Path) -> None:
    first, second = run_from_the_release(tmp_path / "one"), run_from_the_release(tmp_path / "two")
    assert len(first) == 1 + 2 * len(BASELINES)
    assert first == second
