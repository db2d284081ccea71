"""decisions + drafts -> benchmark/RELEASE: items, manifest, datasheet, and what was refused."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict

from stages.build.datasheet import datasheet
from stages.build.params import BuildParams
from stages.build.release import build_task, release_digest
from stages.console import run_stage, say
from taxpraben.records.base import read_records, write_jsonl, write_records
from taxpraben.records.decision import Decision
from taxpraben.records.draft import Draft
from taxpraben.records.item import Item
from taxpraben.tasks.catalog import load_catalog
from taxpraben.workspace import WorkspaceError, open_workspace


def main() -> None:
    """Build the release that params.yaml numbers."""
    workspace = open_workspace()
    params = workspace.section("build", BuildParams)
    decisions = read_records(workspace.decisions, Decision)
    builds = {}
    for name, spec in load_catalog().items():
        drafts = read_records(workspace.drafts / f"{name}.parquet", Draft)
        builds[name] = build_task(spec, drafts, [row for row in decisions if row.task == name], params)
    items = [item for built in builds.values() for item in built.items]
    digest = release_digest(items)
    frozen = params.frozen.get(params.release)
    if frozen and frozen != digest:
        raise WorkspaceError(
            f"params.yaml: release {params.release} is frozen with digest {frozen[:12]}… but the decisions now give "
            f"{digest[:12]}…; a release is never edited, so raise build.release"
        )
    folder = workspace.release
    shutil.rmtree(folder, ignore_errors=True)
    refused = [row for built in builds.values() for row in built.refused]
    for name, built in builds.items():
        write_records(folder / f"{name}.parquet", Item, built.items)
        write_jsonl(folder / f"{name}.jsonl", built.items)
        say(
            f"{name}: {len(built.items)} items, {built.rejected} rejected, {len(built.refused)} refused, "
            f"{built.left_out} beyond the limit"
            + (f", {built.not_in_force} not in force on {params.in_force_on}" if params.in_force_on else "")
        )
    for row in refused:
        say(f"refused: {row.task} {row.draft_id}: {'; '.join(row.reasons)}; correct the decision in the portal")
    manifest = {
        "release": params.release,
        "digest": digest,
        "seed": params.seed,
        "items": {name: len(built.items) for name, built in builds.items()},
        "task_versions": {name: spec.version for name, spec in load_catalog().items()},
        "in_force_on": params.in_force_on.isoformat() if params.in_force_on else None,
        "not_in_force": {name: built.not_in_force for name, built in builds.items() if built.not_in_force},
        "undated": {name: built.undated for name, built in builds.items() if built.undated},
        "refused": [asdict(row) for row in refused],
    }
    text = json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    (folder / "datasheet.md").write_text(datasheet(params.release, digest, builds), encoding="utf-8")
    say(f"release {params.release}: {len(items)} items, digest {digest[:12]}")


if __name__ == "__main__":
    run_stage(main)
