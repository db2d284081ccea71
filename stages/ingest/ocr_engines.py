"""The OCR engines: RapidOCR (models in its package) and Tesseract (a program of the system)."""

from __future__ import annotations

import csv
import io
import itertools
import os
import shutil
import subprocess
from collections import defaultdict
from typing import Any, Literal, Protocol

EngineName = Literal["rapidocr", "tesseract"]

Box = tuple[list[list[float]], str, float]
"""A text line: its four corners in pixels (clockwise from the top left), its text, its score from 0 to 1."""

LANGUAGE = "chi_sim"
_INSTALL = (
    "install it (Debian and Ubuntu: apt-get install tesseract-ocr tesseract-ocr-chi-sim) "
    "or set ocr: {engine: rapidocr} in the section ingest of params.yaml"
)


class OcrMissingError(ValueError):
    """The engine that params.yaml names is not on this machine; the message says what to install."""


class Engine(Protocol):
    """Reads the lines of a page's image."""

    def lines(self, image: Any, dpi: int) -> list[Box]:
        """The text lines of an image (height x width x 3, blue-green-red, 8 bits) in the engine's order."""


def engine_version(name: EngineName) -> str:
    """What reads pages, for the cache's key: another engine or version reads anew.

    Raises:
        OcrMissingError: Tesseract or its Chinese is not installed.
    """
    if name == "rapidocr":
        return "rapidocr-3.10/no-cls"
    program = shutil.which("tesseract")
    if program is None:
        raise OcrMissingError(f"There is no program 'tesseract' on this machine; {_INSTALL}")
    known = _run([program, "--list-langs"]).decode(errors="replace").split()
    if LANGUAGE not in known:
        raise OcrMissingError(f"Tesseract has no {LANGUAGE} (it has {', '.join(known[5:]) or 'none'}); {_INSTALL}")
    words = _run([program, "--version"]).decode(errors="replace").split()
    return f"tesseract-{words[1] if len(words) > 1 else 'unknown'}/{LANGUAGE}"


def open_engine(name: EngineName) -> Engine:
    """The engine, ready to read; RapidOCR loads its models here (about two seconds)."""
    return RapidEngine() if name == "rapidocr" else TesseractEngine()


class RapidEngine:
    """RapidOCR on ONNX Runtime, one thread: pages are read side by side, each by a process of its own."""

    def __init__(self) -> None:
        from rapidocr import RapidOCR

        # The direction classifier turned whole lines upside down on clean pages: off.
        self._read = RapidOCR(
            params={
                "Global.use_cls": False,
                "Global.log_level": "error",
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )

    def lines(self, image: Any, dpi: int) -> list[Box]:  # noqa: ARG002
        """See ``Engine``; the image's own size counts, not ``dpi``."""
        result: Any = self._read(image, use_cls=False)
        if result.boxes is None:
            return []
        return [
            ([[round(float(x), 1), round(float(y), 1)] for x, y in corners], str(text), round(float(score), 4))
            for corners, text, score in zip(result.boxes, result.txts, result.scores, strict=True)
        ]


class TesseractEngine:
    """Tesseract with simplified Chinese, called once a page."""

    def lines(self, image: Any, dpi: int) -> list[Box]:
        """See ``Engine``; words of a line become one text, with spaces only between Latin words.

        Raises:
            OcrMissingError: the program is gone.
        """
        import cv2

        _, png = cv2.imencode(".png", image)
        program = shutil.which("tesseract")
        if program is None:
            raise OcrMissingError(f"There is no program 'tesseract' on this machine; {_INSTALL}")
        command = [program, "stdin", "stdout", "-l", LANGUAGE, "--psm", "3", "--dpi", str(dpi), "tsv"]
        return tesseract_lines(_run(command, png.tobytes()).decode("utf-8", errors="replace"))


def tesseract_lines(table: str) -> list[Box]:
    """The lines of Tesseract's tab-separated words; the score is the mean of the words', 0 to 1."""
    words: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    for row in csv.DictReader(io.StringIO(table), delimiter="\t", quoting=csv.QUOTE_NONE):
        if row["level"] == "5" and (row["text"] or "").strip():
            words[row["block_num"], row["par_num"], row["line_num"]].append(row)
    return [box for line in words.values() for box in _parted(line)]


def _parted(line: list[dict[str, str]]) -> list[Box]:
    """A line's words as boxes, parted where the gap is wider than twice the line's height (columns, set options)."""
    height = max(int(word["height"]) for word in line)
    groups: list[list[dict[str, str]]] = [[line[0]]]
    for before, word in itertools.pairwise(line):
        if int(word["left"]) - int(before["left"]) - int(before["width"]) > 2 * height:
            groups.append([])
        groups[-1].append(word)
    return [_box(group) for group in groups]


def _box(words: list[dict[str, str]]) -> Box:
    text = ""
    for word in words:
        between = " " if text and text[-1].isascii() and word["text"][0].isascii() and text[-1].isalpha() else ""
        text += between + word["text"]
    left, top = min(int(word["left"]) for word in words), min(int(word["top"]) for word in words)
    right = max(int(word["left"]) + int(word["width"]) for word in words)
    bottom = max(int(word["top"]) + int(word["height"]) for word in words)
    score = sum(float(word["conf"]) for word in words) / len(words) / 100
    return [[left, top], [right, top], [right, bottom], [left, bottom]], text, round(score, 4)


def _run(command: list[str], given: bytes = b"") -> bytes:
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1"}  # its own threads only slow it down
    done = subprocess.run(command, input=given, capture_output=True, env=environment, check=False)
    if done.returncode:
        raise OcrMissingError(f"{command[0]} failed: {done.stderr.decode(errors='replace').strip()[:300]}")
    return done.stdout
