"""OCR of page images (RapidOCR on ONNX Runtime), kept on disk by the hash of the image, so that a page is read once."""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

from stages.ingest.layout import Piece

ENGINE = "rapidocr-3.10/no-cls"
"""What read the page; part of the cache key, so that another engine reads anew."""


class Reader:
    """Reads scanned pages; the engine is loaded at the first page that the cache does not have.

    Attributes:
        counts: pages ``read`` and pages ``cached``.
    """

    def __init__(self, cache: Path, dpi: int = 150, threads: int = 2, least_score: float = 0.5) -> None:
        self.cache = cache
        self.dpi = dpi
        self.threads = threads
        self.least_score = least_score
        self.counts: Counter[str] = Counter()
        self._engine: Any = None

    def read(self, page: Any) -> list[Piece]:
        """The pieces of a pdfium page's image, top to bottom; a small turn of the page is taken out."""
        bitmap = page.render(scale=self.dpi / 72)
        image = bitmap.to_numpy()
        key = hashlib.sha256(f"{ENGINE}|{self.dpi}|{image.shape}|".encode() + image.tobytes()).hexdigest()
        file = self.cache / f"{key[:32]}.json"
        if file.exists():
            self.counts["cached"] += 1
            boxes = json.loads(file.read_text(encoding="utf-8"))
        else:
            self.counts["read"] += 1
            boxes = self._recognise(image)
            self.cache.mkdir(parents=True, exist_ok=True)
            partial = file.with_suffix(".partial")
            partial.write_text(json.dumps(boxes, ensure_ascii=False), encoding="utf-8")
            partial.replace(file)
        height, width = image.shape[:2]
        return pieces_of(boxes, width, height, self.least_score)

    def _recognise(self, image: Any) -> list[list[Any]]:
        """``[[x, y] * 4, text, score]`` a text line, in pixels."""
        if self._engine is None:
            from rapidocr import RapidOCR

            # The direction classifier turned whole lines upside down on clean pages: off.
            self._engine = RapidOCR(
                params={
                    "Global.use_cls": False,
                    "Global.log_level": "error",
                    "EngineConfig.onnxruntime.intra_op_num_threads": self.threads,
                    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                }
            )
        result = self._engine(image, use_cls=False)
        if result.boxes is None:
            return []
        return [
            [[[round(float(x), 1), round(float(y), 1)] for x, y in box], str(text), round(float(score), 4)]
            for box, text, score in zip(result.boxes, result.txts, result.scores, strict=True)
        ]


def pieces_of(boxes: list[list[Any]], width: int, height: int, least_score: float) -> list[Piece]:
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
