"""The release's datasheet: what is in it, where it came from, how it was made, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean

from stages.build.release import TaskBuild
from taxpraben.tasks.catalog import load_catalog


def datasheet(release: str, digest: str, builds: Mapping[str, TaskBuild]) -> str:
    """Describe a release after the questions of "Datasheets for Datasets" (composition, collection, process).

    Args:
        release: its number.
        digest: SHA-256 of its items.
        builds: what became of each task's decisions, by task name.

    Returns:
        Markdown with one table of counts and lengths (characters) and the list of source documents.
    """
    catalog = load_catalog()
    lines = [
        f"# Datasheet of release {release}",
        "",
        f"Digest of all items: `{digest}`",
        "",
        "## Composition",
        "",
        "| task | level | form | items | text (mean) | answer (mean) | rejected | refused |",
        "|---|---|---|---:|---:|---:|---:|---:|",
    ]
    for name, built in builds.items():
        spec = catalog[name]
        text = mean(len(item.text) for item in built.items) if built.items else 0
        answer = mean(len(item.answer) for item in built.items) if built.items else 0
        lines.append(
            f"| {name} {spec.title.zh} | {spec.level} | {spec.form} | {len(built.items)} | {text:.0f} | {answer:.0f} "
            f"| {built.rejected} | {len(built.refused)} |"
        )
    total = sum(len(built.items) for built in builds.values())
    unseen = sum(built.unseen for built in builds.values())
    origins = sorted({item.origin for built in builds.values() for item in built.items})
    lines += [
        "",
        "## Collection and process",
        "",
        "Items with a definite answer (creation MC, and those whose source states the answer) were parsed; the others",
        "were drafted by a model with the versioned prompts of each task's drafting.yaml. Of the items,",
        f"{total - unseen} were ruled on by people and {unseen} passed by a rule of params.yaml without a person.",
        "What was rejected and what broke its task's rule is counted above and is not part of the release.",
        "One of the task's retained prompts was drawn per item by seed; the one-shot example of an item is never the",
        "item itself nor its near-duplicate.",
        "",
        f"## Sources ({len(origins)} documents)",
        "",
        *(f"- {origin}" for origin in origins),
        "",
    ]
    return "\n".join(lines)
