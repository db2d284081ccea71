"""What made an answer file: kept beside it, so that its figures can be defended and made again elsewhere."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from stages.infer.params import InferParams
from taxpraben.backends.asking import Asker
from taxpraben.backends.journal import utc_now
from taxpraben.backends.roster import ModelEntry
from taxpraben.records.answer import Answer
from taxpraben.records.item import Item

PACKAGES = ("taxpraben", "openai", "aiohttp", "xllamacpp", "transformers", "tokenizers", "torch", "vllm", "ray")


class Sessions:
    """The processes that asked: one line each in a file beside the journal, written before the first question.

    A run that is killed leaves its line, so that the record of a resumed run names every machine, version and engine
    that answered.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, backend: object) -> None:
        """Note that this process asks from now on, with what."""
        line = {"begun": utc_now(), "versions": versions(), "machine": machine(), "engine": _engine(backend)}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")

    def all(self) -> list[dict[str, Any]]:
        """Every process's line, the oldest first; a torn one is left out."""
        if not self.path.exists():
            return []
        found = []
        for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError:
                continue
        return found


def make_record(
    model: str,
    entry: ModelEntry,
    release: str,
    params: InferParams,
    asker: Asker,
    answers: Sequence[Answer],
    items: dict[str, Item],
    sessions: Sessions,
) -> dict[str, Any]:
    """Versions, parameters, seeds, prompt set, hardware, revision, engine flags, statuses and cost of an answer file.

    Args:
        model: the roster's name.
        entry: its entry (it names the variable of a key, never a key).
        release: the benchmark release's number.
        params: what held for the model.
        asker: asked, or took from its journal.
        answers: all rows of the file.
        items: the items asked, by id.
        sessions: the processes that asked.
    """
    usage = asker.journal.used.get(model)
    return {
        "model": model,
        "entry": entry.model_dump(mode="json", exclude_defaults=True),
        "revision": asker.backend.revision,
        "supports": asker.backend.capabilities.words,
        "release": release,
        "params": params.model_dump(mode="json", exclude={"overrides"}),
        "seeds": {str(run): params.seed + run for run in range(params.runs)},
        "prompts": _prompts(answers, items),
        "answers": {
            "rows": len(answers),
            "statuses": dict(sorted(Counter(answer.status for answer in answers).items())),
            "cut": sum(answer.error.startswith("cut:") for answer in answers),
            "sha256": _digest("\n".join(f"{row.request}|{row.status}|{row.text}" for row in answers)),
        },
        "tokens": {
            "prompt": usage.prompt_tokens if usage else 0,
            "completion": usage.completion_tokens if usage else 0,
            "uncounted_replies": usage.uncounted if usage else 0,
        },
        "cost": {"spent": round(asker.purse.spent, 6), "currency": asker.purse.currency},
        "asked_by": sessions.all(),
        "written_by": {"versions": versions(), "machine": machine()},
    }


def versions() -> dict[str, str]:
    """This program's version and commit, Python's, and those of the packages that may shape an answer."""
    found = {"python": platform.python_version(), "commit": _commit()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """The system, the processor, its cores, the memory in GiB, and the GPUs with their driver."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    except (ValueError, OSError, AttributeError):
        memory = 0.0
    return {
        "system": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count() or 0,
        "memory_gib": round(memory, 1),
        "gpus": _gpus(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    named = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return named or platform.processor() or platform.machine()


def _gpus() -> list[str]:
    return _said("nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader").splitlines()


def _commit() -> str:
    """The commit of the code that runs, with a + where files have changed since; empty outside a repository."""
    here = str(Path(__file__).parent)
    commit = _said("git", "-C", here, "rev-parse", "HEAD")
    changed = _said("git", "-C", here, "status", "--porcelain", "--untracked-files=no") if commit else ""
    return f"{commit}+" if changed else commit


def _said(*command: str) -> str:
    program = shutil.which(command[0])
    if program is None:
        return ""
    try:
        done = subprocess.run([program, *command[1:]], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _engine(backend: object) -> Any:
    """What the engine itself says it runs with, where a backend has one."""
    return getattr(backend, "engine", {})


def _prompts(answers: Sequence[Answer], items: dict[str, Item]) -> dict[str, Any]:
    """A digest of all prompts as sent, and for each task its version and which of its prompts were drawn how often."""
    tasks: dict[str, Any] = {}
    for name in sorted({answer.task for answer in answers}):
        asked = {answer.item_id for answer in answers if answer.task == name}
        drawn = Counter(str(items[item_id].prompt) for item_id in asked)
        task_versions = sorted({items[item_id].task_version for item_id in asked})
        tasks[name] = {
            "task_version": task_versions,
            "items": len(asked),
            "drawn": dict(sorted(drawn.items(), key=lambda pair: int(pair[0]))),
        }
    return {"sha256": _digest("\n".join(answer.prompt for answer in answers)), "tasks": tasks}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
