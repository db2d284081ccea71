"""Exam books of our own, printed as text and as scans, read in: questions found and exact, errors of OCR, time, memory.

Text books hold some 200 questions, scanned ones fewer (one page costs seconds). Fails where fewer than 98% of a text
book's questions, or 90% of a clean scan's, are exact, or where one that is not exact is neither in review nor pictured.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from stages.ingest.ocr import Reader
from stages.ingest.pdf import read_pdf
from tests.ingest.exam_press import Print, print_book
from tests.ingest.exam_questions import make_questions
from tests.ingest.exam_reading import read_and_compare

TEXT: dict[str, Print] = {
    "text, key at the back": Print(),
    "text, two columns, key after each chapter": Print(key="chapter", columns=2, size=9),
    "text, answers under each question": Print(key="inline"),
    "text, answers in the brackets": Print(key="blank"),
    "text, compact key, questions over page breaks": Print(key="compact", depth=190),
}
CLEAN: dict[str, Print] = {
    "scan 150 dpi, key at the back": Print(scan=150),
    "scan 200 dpi, two columns, key after each chapter": Print(key="chapter", columns=2, size=9, scan=200),
    "mixed: every second page a scan of 150 dpi": Print(scan=150, scanned_pages=tuple(range(2, 100, 2))),
}
POOR: dict[str, Print] = {
    "scan 150 dpi, turned by 1.5 degrees": Print(scan=150, turned=1.5),
    "scan 110 dpi, noise and blur": Print(scan=110, noise=14),
}
VARIANTS = TEXT | CLEAN | POOR


def measure(name: str, options: argparse.Namespace) -> dict[str, object]:
    """Print one book, read it in, and compare."""
    how = VARIANTS[name]
    count = options.scanned if how.scan else options.questions
    each = (count * 26 // 200, count * 14 // 200, count * 10 // 200)
    questions = make_questions(options.seed, 4, each)
    with tempfile.TemporaryDirectory() as folder:
        sources = Path(folder) / "sources"
        sources.mkdir()
        printed = print_book(sources / "book.pdf", questions, how)
        before = os.times()
        start = time.perf_counter()
        reading = read_and_compare(Path(folder), questions, printed, options.processes, options.engine)
        took = time.perf_counter() - start
        start = time.perf_counter()
        read_pdf(sources / "book.pdf", Reader(Path(folder) / "cache" / "ocr", processes=1, engine=options.engine))
        again = time.perf_counter() - start
    after = os.times()
    cpu = sum(after[:4]) - sum(before[:4])
    peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    ocr = sum(page.read == "ocr" for page in reading.harvest.pages)
    return {
        "questions": reading.questions, "pages": reading.pages, "found": reading.found, "exact": reading.exact,
        "review": reading.review, "missing": len(reading.missing), "pictured": reading.pictured, "took": took,
        "again": again,
        "error_rate": reading.error_rate, "ocr": ocr, "cpu": cpu, "peak": peak / 1024, "wrong": reading.wrong,
        "lost": reading.missing,
    }  # fmt: skip


def main() -> None:
    """Each variant in a process of its own, so that each has its own peak."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=200, help="of a text book")
    parser.add_argument("--scanned", type=int, default=60, help="of a scanned book")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--processes", type=int, default=0, help="pages read side by side; 0: one a core")
    parser.add_argument("--engine", choices=["rapidocr", "tesseract"], default="rapidocr")
    parser.add_argument("--only", default="", help="variants whose name holds these words")
    parser.add_argument("--variant", choices=list(VARIANTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.variant:
        print(json.dumps(measure(options.variant, options)))
        return
    print("| book | questions | pages (OCR) | recall | exact | in review | character errors | reading | peak |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    broken = []
    names = [name for name in VARIANTS if options.only in name]
    for name in names:
        command = [sys.executable, __file__, *sys.argv[1:], "--variant", name]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr[-2000:]}")
        row = json.loads(done.stdout.splitlines()[-1])
        count, exact = row["questions"], row["exact"]
        ocr = row["ocr"]
        pace = f"{row['pages'] / row['again']:.0f} pages a second" if not ocr else (
            f"{row['took'] / ocr:.1f} s a scan ({row['cpu'] / ocr:.1f} CPU s)"
        )  # fmt: skip
        print(
            f"| {name} | {count} | {row['pages']} ({ocr}) | {row['found'] / count:.1%} | {exact / count:.1%} | "
            f"{row['review']} | {row['error_rate']:.2%} | {pace} | {row['peak']:.0f} MiB |",
            flush=True,
        )
        least = 0.98 if name in TEXT else 0.90 if name in CLEAN else 0.0
        if exact < least * count:
            broken.append(f"{name}: {exact} of {count} exact, {least:.0%} were promised")
        if ocr == row["pages"] and row["pictured"] < count - exact:
            broken.append(f"{name}: {count - exact} not exact, {row['pictured']} of them with a picture")
        if row["wrong"] or row["lost"]:
            print(f"{name}: not exact {row['wrong']}, no part {row['lost']}", file=sys.stderr)
    print("\n" + ("\n".join(broken) if broken else "All promises hold."))
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
