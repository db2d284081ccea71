"""Brings drafts into the queue and takes decisions out; stops with status 3 while drafts await people."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from stages.console import run_stage, say
from stages.review.checkpoint import as_json, awaits_people, message
from stages.review.params import ReviewParams
from taxpraben.queue.files import read_decisions
from taxpraben.queue.intake import (
    Import,
    Unseen,
    accept_unseen,
    bring_in,
    export_decisions,
    import_decisions,
    set_policy,
)
from taxpraben.queue.policy import Policy, held_keys, read_policy
from taxpraben.queue.status import task_status
from taxpraben.queue.store import Queue, open_queue
from taxpraben.records.base import read_records, write_records
from taxpraben.records.decision import Decision
from taxpraben.records.document import Document
from taxpraben.records.draft import Draft
from taxpraben.tasks.catalog import load_catalog
from taxpraben.workspace import Workspace, WorkspaceError, open_workspace

AWAITS_PEOPLE = 3
"""Exit status of a review that waits for people, and of nothing else."""


def main() -> None:
    """Run the stage in the current folder's workspace."""
    workspace = open_workspace()
    params = workspace.section("review", ReviewParams)
    decisions = [(name, _shipped(workspace.root / name)) for name in params.decisions]
    queue = open_queue(workspace.queue_url)
    try:
        waits = _review(workspace, params, queue, decisions)
    finally:
        queue.close()
    if waits:
        sys.exit(AWAITS_PEOPLE)


def _review(
    workspace: Workspace, params: ReviewParams, queue: Queue, decisions: list[tuple[str, list[Decision]]]
) -> bool:
    _set_rules(queue, params)
    drafts = _read_drafts(workspace)
    intake = bring_in(queue, drafts, read_records(workspace.documents, Document))
    say(
        f"Drafts: {len(drafts)} in {len({draft.task for draft in drafts})} tasks; {len(intake.new)} new, "
        f"{len(intake.reopened)} reopened because the draft changed, {len(intake.held)} changed but a fix holds, "
        f"{len(intake.withdrawn)} withdrawn"
    )
    for name, rows in decisions:
        say(_told(name, len(rows), import_decisions(queue, rows)))
    if params.accept_unseen:
        say(_told_unseen(params.accept_unseen, accept_unseen(queue, params.accept_unseen)))
    settled = export_decisions(queue)
    write_records(workspace.decisions, Decision, settled)
    statuses = task_status(queue)
    report = as_json(statuses, params.share)
    _write_status(workspace.out / "review" / "status.json", json.dumps(report, ensure_ascii=False, indent=2))
    verdicts = {
        verdict: sum(row.verdict == verdict for row in settled) for verdict in ("accepted", "fixed", "rejected")
    }
    say(
        f"Settled: {report['settled']} of {report['needed']} drafts that need a person "
        f"({verdicts['accepted']} accepted, {verdicts['fixed']} fixed, {verdicts['rejected']} rejected); "
        f"{report['filtered']} filtered out as off topic"
    )
    if awaits_people(statuses, params.share):
        say(message(statuses, params.share))
        return True
    return False


def _set_rules(queue: Queue, params: ReviewParams) -> None:
    with queue.read() as session:
        current = read_policy(session)
    # The round is the queue's own, moved by `taxpraben review next-round`; the rest is the parameters', save for what
    # people changed in the portal's settings.
    rules = Policy(
        claim_minutes=params.claim_minutes,
        hand_off=params.hand_off,
        overlap=params.overlap,
        spot_checks=params.spot_checks,
        pass_mark=params.pass_mark,
        seed=params.seed,
        round=current.round,
        batch_size=params.batch_size,
        gold_every=params.gold_every,
    )
    held = {key: value for key, value in held_keys(queue).items() if getattr(rules, key) != value}
    if held:
        changed = ", ".join(f"{key} {value:g} instead of {getattr(rules, key):g}" for key, value in held.items())
        say(f"Rules changed in the portal hold: {changed}")
    set_policy(queue, replace(rules, **held))  # type: ignore[arg-type]


def _read_drafts(workspace: Workspace) -> list[Draft]:
    catalog = load_catalog()
    order = {name: place for place, name in enumerate(catalog)}
    files = sorted(workspace.drafts.glob("*.parquet"), key=lambda path: (order.get(path.stem, len(order)), path.stem))
    if not files:
        raise WorkspaceError(f"{workspace.drafts}: no drafts; run the draft stage (`dvc repro draft`) first")
    return [draft for path in files for draft in read_records(path, Draft)]


def _shipped(path: Path) -> list[Decision]:
    if not path.exists():
        raise WorkspaceError(
            f"{path}: no such file, but params.yaml names it under review.decisions; "
            "put it there, or take it off the list"
        )
    return read_decisions(path)


def _told(name: str, rows: int, report: Import) -> str:
    line = f"{name}: {rows} decisions; {len(report.imported)} imported, {len(report.unchanged)} there already"
    for what, drafts in report.left_out.items():
        if drafts:
            shown = ", ".join(drafts[:3]) + (", …" if len(drafts) > 3 else "")
            line += f"; {len(drafts)} {what} ({shown})"
    return line


def _told_unseen(methods: Sequence[str], report: Unseen) -> str:
    line = f"By rule, unseen by people ({', '.join(methods)}): {len(report.accepted)} accepted"
    if report.rejected:
        shown = ", ".join(report.rejected[:3]) + (", …" if len(report.rejected) > 3 else "")
        line += f"; {len(report.rejected)} rejected because the parser failed on them ({shown})"
    return line


def _write_status(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    run_stage(main)
