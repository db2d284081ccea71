"""Statutes of a folder read in: articles, gaps, and whether each article stands word for word in its file."""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from stages.ingest.ocr import Reader
from stages.ingest.outcome import Place
from stages.ingest.params import SourceParams
from stages.ingest.parsers import Desk, find_parser
from taxpraben.records.document import Document

_MARKUP = re.compile(r"[\s#*|]+")


def unequal_articles(document: Document, raw: str) -> list[str]:
    """Labels of articles whose text, white space and Markdown marks apart, is not a stretch of the file."""
    bare = _MARKUP.sub("", raw)
    return [part.label for part in document.parts if part.kind == "article" and _MARKUP.sub("", part.text) not in bare]


def main() -> None:
    """Print a table of all files, then totals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="statutes as Markdown or text files")
    folder = parser.parse_args().folder
    source = SourceParams(name="statutes", pipeline="official", parser="official", path="*")
    reader = Reader(Path(tempfile.gettempdir()))  # for PDFs alone; texts need none
    start = time.perf_counter()
    totals = [0, 0, 0, 0]
    print("| file | articles | numbers | in force from | amended | set aside | not word for word |")
    print("|---|---:|---:|---|---|---:|---:|")
    for path in sorted(path for path in folder.iterdir() if path.suffix in (".md", ".txt")):
        place = Place("statutes", "official", path.name)
        harvest = find_parser("official")(Desk(place, path, source, reader))
        for document in harvest.documents:
            articles = [part for part in document.parts if part.kind == "article"]
            if not articles:
                continue
            numbers = {part.label.split("之")[0] for part in articles}
            wrong = unequal_articles(document, path.read_text(encoding="utf-8"))
            aside = len(harvest.quarantined)
            print(
                f"| {path.stem} | {len(articles)} | {len(numbers)} | {document.effective} | {document.amended} "
                f"| {aside} | {len(wrong)} |"
            )
            totals = [a + b for a, b in zip(totals, (1, len(articles), aside, len(wrong)), strict=True)]
    print(
        f"\n{totals[0]} statutes, {totals[1]} articles, {totals[2]} set aside, {totals[3]} not word for word; "
        f"{time.perf_counter() - start:.1f} s"
    )


if __name__ == "__main__":
    main()
