"""Imports run one way, and DVC knows every module that a stage imports."""

import subprocess
import sys
from pathlib import Path

import grimp
import pytest
import yaml
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[2]
PACKAGES = ("taxpraben", "stages", "flows", "portal", "cli")
STAGES = ("ingest", "draft", "review", "build", "check", "infer", "read", "score", "rank", "publish")


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(*PACKAGES, cache_dir=None)


def dvc_stage_of(stage: str) -> dict[str, dict]:
    """The DVC stages whose command runs this package, by their name in dvc.yaml."""
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text(encoding="utf-8"))["stages"]
    bodies = {name: body.get("do", body) for name, body in stages.items()}
    return {name: body for name, body in bodies.items() if f"stages.{stage}" in body["cmd"].split()}


def file_of(module: str) -> Path:
    path = Path(*module.split("."))
    return path / "__init__.py" if (ROOT / path).is_dir() else path.with_suffix(".py")


def test_imports_run_one_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert lint_imports(no_cache=True, config_filename=str(ROOT / "pyproject.toml")) == 0


@pytest.mark.parametrize("stage", STAGES)
def test_dvc_lists_all_code_that_a_stage_imports_and_no_other(graph: grimp.ImportGraph, stage: str) -> None:
    package = f"stages.{stage}"
    inside = {package} | graph.find_descendants(package)
    closure = inside.union(*(graph.find_upstream_modules(module) for module in inside))
    files = {file_of(module) for module in closure} - {Path("stages/__init__.py"), Path("taxpraben/__init__.py")}
    found = dvc_stage_of(stage)
    assert found, f"no stage of dvc.yaml runs {package}"
    for name, body in found.items():
        listed = {Path(dep) for dep in body["deps"] if str(dep).startswith(("stages/", "taxpraben/"))}
        missing = {file for file in files if not any(dep == file or dep in file.parents for dep in listed)}
        unused = {dep for dep in listed if not any(dep == file or dep in file.parents for file in files)}
        assert not missing, f"dvc.yaml, {name}: deps lack {sorted(map(str, missing))}"
        assert not unused, f"dvc.yaml, {name}: deps list code that is not imported {sorted(map(str, unused))}"


def test_every_stage_of_the_design_has_a_package_and_a_dvc_stage() -> None:
    assert [stage for stage in STAGES if not (ROOT / "stages" / stage / "__main__.py").exists()] == []


@pytest.mark.parametrize("package", ["records.item", "tasks.catalog", "metrics", "reading", "backends", "queue"])
def test_taxpraben_is_quiet_to_import(package: str) -> None:
    """Neither Prefect, DVC, a web framework nor torch is loaded by importing what the benchmark is."""
    loud = "{'prefect', 'dvc', 'fastapi', 'torch', 'transformers', 'great_expectations', 'pandas'}"
    code = f"import taxpraben.{package}, sys; print(sorted({loud} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_no_file_is_a_grab_bag() -> None:
    grab = {"utils.py", "util.py", "helpers.py", "helper.py", "common.py", "misc.py"}
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    assert [str(path) for path in files if path.name in grab] == []
