"""References are embedded once, whatever process needs them; the file is bounded and may be killed or deleted."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from taxpraben.metrics import MetricError, Pair, bertscore, find_metric
from taxpraben.metrics.shelf import VectorShelf
from tests.metrics.tiny import TEXTS, save_bert

PAIRS = [Pair(reference=one, candidate=two, compared="text") for one in TEXTS[:3] for two in TEXTS[3:]]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random BERT."""
    return save_bert(tmp_path_factory.mktemp("encoder"))


@pytest.fixture
def embedded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many texts each pass through the network had."""
    sizes: list[int] = []
    encode = bertscore._encode

    def counting(windows, tokenizer, network):  # type: ignore[no-untyped-def]
        sizes.append(len(windows))
        return encode(windows, tokenizer, network)

    monkeypatch.setattr(bertscore, "_encode", counting)
    return sizes


def values(bert: Path, folder: Path | None, **more: object) -> list[float | None]:
    """F values by a metric of its own, as another process has one."""
    metric = find_metric("bertscore", {"model": str(bert), "layer": 2, **more})
    metric.prepare(folder)
    return [score.value for score in metric.score_pairs(PAIRS)]


def test_a_second_process_takes_the_references_from_disk_with_equal_values(
    bert: Path, tmp_path: Path, embedded: list[int]
) -> None:
    first = values(bert, tmp_path)
    assert sum(embedded) == 5  # three references, two candidates
    embedded.clear()
    assert values(bert, tmp_path) == first
    assert sum(embedded) == 2  # the candidates


def test_references_of_another_layer_or_limit_are_not_taken(bert: Path, tmp_path: Path, embedded: list[int]) -> None:
    values(bert, tmp_path)
    embedded.clear()
    assert values(bert, tmp_path, layer=3) == values(bert, None, layer=3)
    assert sum(embedded) == 10
    embedded.clear()
    values(bert, tmp_path, max_tokens=20)
    assert sum(embedded) > 2


def test_idf_weights_belong_to_the_call_though_vectors_are_kept(bert: Path, tmp_path: Path) -> None:
    plain = values(bert, tmp_path)
    weighed = values(bert, tmp_path, idf=True)
    assert weighed == pytest.approx(values(bert, None, idf=True), abs=1e-6)
    assert weighed != pytest.approx(plain, abs=1e-4)


def vectors(number: float, tokens: int = 256) -> tuple[np.ndarray, list[int], frozenset[str]]:
    """A text of 256 tokens and 1,024 numbers each is one megabyte."""
    return np.full((tokens, 1024), number, dtype=np.float32), [1] * tokens, frozenset({"windowed"})


def test_what_was_used_least_recently_makes_room(tmp_path: Path) -> None:
    shelf = VectorShelf(tmp_path / "s.sqlite", megabytes=4)
    for name in "abc":
        shelf.add("x", {name: vectors(ord(name))})
    assert shelf.find("x", ["a"]).keys() == {"a"}  # used again, so b is the oldest
    shelf.add("x", {"d": vectors(1)})
    shelf.add("x", {"e": vectors(1)})
    assert shelf.find("x", "abcde").keys() == {"a", "d", "e"}
    found = shelf.find("x", "a")["a"]
    assert (found[0] == ord("a")).all()
    assert (found[1], found[2]) == ([1] * 256, frozenset({"windowed"}))


def test_two_writers_at_a_time_lose_nothing(tmp_path: Path) -> None:
    def write(part: int) -> None:
        shelf = VectorShelf(tmp_path / "s.sqlite", megabytes=64)
        for number in range(10):
            shelf.add("x", {f"{part}-{number}": vectors(number, tokens=2)})
        shelf.close()

    threads = [threading.Thread(target=write, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = [f"{part}-{number}" for part in range(4) for number in range(10)]
    assert len(VectorShelf(tmp_path / "s.sqlite", megabytes=64).find("x", names)) == 40


def test_a_killed_writer_leaves_what_was_written_whole(tmp_path: Path) -> None:
    program = (
        "import sys, numpy as np, pathlib\n"
        "from taxpraben.metrics.shelf import VectorShelf\n"
        "shelf = VectorShelf(pathlib.Path(sys.argv[1]), 512)\n"
        "number = 0\n"
        "while True:\n"
        "    shelf.add('x', {str(number): (np.full((64, 256), number, dtype=np.float32), [1] * 64, frozenset())})\n"
        "    print(number, flush=True)\n"
        "    number += 1\n"
    )
    path = tmp_path / "s.sqlite"
    root = Path(__file__).parents[2]
    process = subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True, cwd=root)
    assert process.stdout is not None
    said = [int(next(process.stdout)) for _ in range(20)]
    process.kill()
    process.wait()
    process.stdout.close()
    found = VectorShelf(path, 512).find("x", [str(number) for number in said])
    assert len(found) == len(said)
    assert all((kept[0] == int(name)).all() for name, kept in found.items())


def test_a_file_that_is_no_shelf_is_named_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "references.sqlite"
    path.write_bytes(b"no database at all" * 100)
    with pytest.raises(MetricError, match=r"references\.sqlite: cannot be used .* delete it"):
        VectorShelf(path, 8)
