"""OCR of page images, several processes side by side, kept on disk by the image's hash: a page is read once."""

from __future__ import annotations

import hashlib
import json
import math
import multiprocessing
import os
import statistics
import threading
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stages.ingest.layout import Piece
from stages.ingest.level import levelled
from stages.ingest.ocr_engines import Box, Engine, EngineName, engine_version, open_engine

_WAYS = "level-1"  # how images are made ready; another way reads anew


@dataclass(frozen=True)
class Scan:
    """What OCR made of a page.

    Attributes:
        pieces: top to bottom, left to right.
        confidence: mean score of the lines taken, weighted by their characters; 0 where there are none.
        least: score of the least confident line taken.
        turned: degrees by which the page was turned back.
    """

    pieces: tuple[Piece, ...]
    confidence: float
    least: float
    turned: float


class OcrStoppedError(ValueError):
    """Reading broke off; what was read is kept."""


class Reader:
    """Reads scanned pages; engines are opened at the first page that the cache does not have.

    Attributes:
        counts: pages ``read`` and pages ``cached``.
        version: the engine with its version.
    """

    def __init__(
        self,
        cache: Path,
        dpi: int = 150,
        least_score: float = 0.5,
        engine: EngineName = "rapidocr",
        processes: int = 0,
    ) -> None:
        """Make a reader.

        Args:
            cache: folder of what was read.
            dpi: resolution of the page images.
            least_score: lines with a lower score are left out.
            engine: which engine reads.
            processes: pages read side by side; 0 for as many as there are cores.

        Raises:
            OcrMissingError: the engine is not on this machine.
        """
        self.cache = cache
        self.dpi = dpi
        self.least_score = least_score
        self.engine: EngineName = engine
        self.version = engine_version(engine)
        self.processes = processes or os.cpu_count() or 1
        self.counts: Counter[str] = Counter()
        self._open: Engine | None = None
        self._workers: ProcessPoolExecutor | None = None

    def read(self, images: Iterable[tuple[int, Any]], total: int) -> Iterator[tuple[int, Scan]]:
        """What stands on page images, each kept on disk as soon as it is read.

        Args:
            images: (page number, height x width x 3 image in blue-green-red), made one at a time as they are needed.
            total: how many there are; one is read here, several by processes side by side.

        Yields:
            (page number, what was read), in the order in which they are ready.

        Raises:
            OcrStoppedError: a process was ended from outside.
        """
        alone = min(self.processes, total) <= 1
        waiting: dict[Future[tuple[list[Box], float]], tuple[int, _Sheet]] = {}
        for number, found in self._not_kept(images):
            if isinstance(found, Scan):
                yield number, found
            elif alone:
                yield number, self._keep(found, self._recognise(found.image))
            else:
                waiting[self._pool().submit(_work, found.image, self.dpi)] = (number, found)
                if len(waiting) >= 2 * self.processes:  # no more pictures in memory than that
                    yield from self._ready(waiting)
        while waiting:
            yield from self._ready(waiting)

    def close(self) -> None:
        """End the processes; pages that wait are not read."""
        if self._workers is not None:
            self._workers.shutdown(wait=True, cancel_futures=True)
            self._workers = None

    def _not_kept(self, images: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Scan | _Sheet]]:
        for number, image in images:
            key = hashlib.sha256(f"{self.version}|{_WAYS}|{self.dpi}|{image.shape}|".encode() + image.tobytes())
            file = self.cache / f"{key.hexdigest()[:32]}.json"
            sheet = _Sheet(image, file)
            if file.exists():
                self.counts["cached"] += 1
                kept = json.loads(file.read_text(encoding="utf-8"))
                yield number, self._scan(sheet, kept["boxes"], kept["turned"])
            else:
                yield number, sheet

    def _pool(self) -> ProcessPoolExecutor:
        if self._workers is None:
            # Spawned, not forked: pdfium and ONNX Runtime have threads of their own. Started as pages come.
            spawn = multiprocessing.get_context("spawn")
            self._workers = ProcessPoolExecutor(
                self.processes, spawn, initializer=_start_worker, initargs=(self.engine,)
            )
        return self._workers

    def _ready(self, waiting: dict[Future[tuple[list[Box], float]], tuple[int, _Sheet]]) -> Iterator[tuple[int, Scan]]:
        for done in wait(waiting, return_when=FIRST_COMPLETED).done:
            number, sheet = waiting.pop(done)
            try:
                found = done.result()
            except BrokenProcessPool as error:
                self._workers = None
                raise OcrStoppedError(
                    f"an OCR process was ended from outside at page {number} (too little memory?); pages read so far "
                    "are kept; set ocr: {processes: 1} in the section ingest of params.yaml and run again"
                ) from error
            yield number, self._keep(sheet, found)

    def _recognise(self, image: Any) -> tuple[list[Box], float]:
        if self._open is None:
            self._open = open_engine(self.engine)
        flat, turned = levelled(image)
        return self._open.lines(flat, self.dpi), turned

    def _keep(self, sheet: _Sheet, found: tuple[list[Box], float]) -> Scan:
        boxes, turned = found
        self.counts["read"] += 1
        self.cache.mkdir(parents=True, exist_ok=True)
        partial = sheet.file.with_suffix(".partial")
        partial.write_text(json.dumps({"boxes": boxes, "turned": turned}, ensure_ascii=False), encoding="utf-8")
        partial.replace(sheet.file)
        return self._scan(sheet, boxes, turned)

    def _scan(self, sheet: _Sheet, boxes: list[Any], turned: float) -> Scan:
        height, width = sheet.image.shape[:2]
        taken = [(len(text.strip()), score) for _, text, score in boxes if text.strip() and score >= self.least_score]
        weight = sum(length for length, _ in taken)
        mean = sum(length * score for length, score in taken) / weight if weight else 0.0
        pieces = tuple(pieces_of(boxes, width, height, self.least_score))
        return Scan(pieces, round(mean, 4), min((score for _, score in taken), default=0.0), turned)


@dataclass(frozen=True)
class _Sheet:
    """A page image that the cache may not have, and the file in which it is to be kept."""

    image: Any
    file: Path


_ENGINES: list[Engine] = []


def _start_worker(name: EngineName) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _ENGINES.append(open_engine(name))


def _end_with_parent() -> None:
    """A killed parent cannot tell its workers to end; they would wait for pages for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _work(image: Any, dpi: int) -> tuple[list[Box], float]:
    flat, turned = levelled(image)
    return _ENGINES[0].lines(flat, dpi), turned


def pieces_of(boxes: list[Any], width: int, height: int, least_score: float) -> list[Piece]:
    """OCR boxes as pieces in shares of the page, turned back by the median slope of the long lines."""
    kept = [(corners, text.strip()) for corners, text, score in boxes if text.strip() and score >= least_score]
    slopes = [
        math.atan2(corners[1][1] - corners[0][1], corners[1][0] - corners[0][0])
        for corners, text in kept
        if len(text) >= 8
    ]
    angle = statistics.median(slopes) if slopes else 0.0
    cos, sin = math.cos(-angle), math.sin(-angle)
    pieces = []
    for corners, text in kept:
        turned = [
            ((x - width / 2) * cos - (y - height / 2) * sin, (x - width / 2) * sin + (y - height / 2) * cos)
            for x, y in corners
        ]
        xs = [x / width + 0.5 for x, _ in turned]
        ys = [y / height + 0.5 for _, y in turned]
        pieces.append(Piece(text, min(xs), min(ys), max(xs), max(ys)))
    return sorted(pieces, key=lambda piece: (piece.y0, piece.x0))
