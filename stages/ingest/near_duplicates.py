"""Exact and near-duplicates among documents: MinHash to find candidates, exact Jaccard to decide."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from zlib import crc32

from stages.ingest.outcome import settle
from taxpraben.records.document import Document
from taxpraben.text.shingles import fold, jaccard, shingles

_SHORT = 60  # folded characters; below, one changed word is a different text and only equal texts are duplicates
_PERMUTATIONS = 64


@dataclass(frozen=True)
class Duplicate:
    """A document that says again what another says."""

    dropped: Document
    kept: Document
    similarity: float

    @property
    def cause(self) -> str:
        """For the quarantine."""
        name = f"{self.kept.origin} (source {self.kept.source})"
        if self.similarity == 1.0:
            return f"duplicate of {name}"
        return f"near-duplicate of {name}: similarity {self.similarity:.3f}"


def drop_duplicates(
    documents: Sequence[Document], least: float, said: Callable[[int, int], object] | None = None
) -> tuple[list[Document], list[Duplicate]]:
    """Documents without those that repeat another of their kind.

    The earlier one stays (by date of publication, then source and origin; one without a date comes last). Two texts
    are near-duplicates where the Jaccard similarity of their character shingles reaches ``least`` and four in five of
    the numbers of the one with fewer are numbers of the other (two notices in one form with other figures are not).
    Texts under 60 characters must be equal. Statutes are duplicates only where all their articles are: another
    version of a law is another law. Exam books and casebooks are left to their questions.

    Args:
        documents: in any order.
        least: Jaccard similarity from which on two texts are one, 0 to 1.
        said: told (done, all) after each document, where given.

    Returns:
        The kept documents, in the order given, and the dropped ones.
    """
    from datasketch import MinHash, MinHashLSH

    ordered = sorted(documents, key=lambda row: (row.published or "9999", row.source, row.origin))
    # Weighted towards recall: candidates are judged exactly afterwards, a missed one is lost.
    index = MinHashLSH(threshold=max(0.3, least - 0.15), num_perm=_PERMUTATIONS, weights=(0.1, 0.9))
    # Sets of all documents would take far more memory than their texts; few are ever compared.
    shingles_of = lru_cache(maxsize=2048)(lambda text: shingles(text, 3))
    blank = MinHash(num_perm=_PERMUTATIONS, seed=1, hashfunc=crc32)  # making one anew costs more than filling it
    equal: dict[tuple[str, str], Document] = {}
    by_id: dict[str, Document] = {}
    dropped: dict[str, Duplicate] = {}
    for done, document in enumerate(ordered, start=1):
        if said is not None:
            said(done, len(ordered))
        folded = _folded(document)
        same = equal.setdefault((document.kind, folded), document)
        if same is not document:
            dropped[document.document_id] = Duplicate(document, same, 1.0)
            continue
        if len(folded) < _SHORT or document.kind in ("statute", "exam_book", "casebook"):
            continue
        own = shingles(document.text, 3)
        sketch = blank.copy()
        sketch.update_batch([shingle.encode() for shingle in own])
        best: tuple[float, Document] | None = None
        for key in sorted(index.query(sketch)):
            other = by_id[key]
            if other.kind != document.kind or not _same_numbers(document.text, other.text):
                continue
            value = jaccard(own, shingles_of(other.text))
            if value >= least and (best is None or value > best[0]):
                best = (value, other)
        if best is not None:
            dropped[document.document_id] = Duplicate(document, best[1], min(best[0], 0.999))
            continue
        by_id[document.document_id] = document
        index.insert(document.document_id, sketch)
    kept = [document for document in documents if document.document_id not in dropped]
    return kept, [dropped[key] for key in sorted(dropped)]


def _folded(document: Document) -> str:
    if document.kind == "statute":
        return "\n".join(f"{part.label}|{fold(part.text)}" for part in document.parts if part.kind == "article")
    return fold(document.text)


def _same_numbers(a: str, b: str) -> bool:
    first, second = (set(re.findall(r"\d+(?:\.\d+)?", text)) for text in (a, b))
    fewer = min(len(first), len(second))
    return fewer == 0 or len(first & second) >= 0.8 * fewer


def drop_repeated_questions(documents: Sequence[Document]) -> tuple[list[Document], list[tuple[Document, str, str]]]:
    """Exam books without questions that an earlier book (by source and origin) has word for word.

    Returns:
        The documents in the order given, and (document, label, cause) for each dropped question.
    """
    seen: dict[str, str] = {}
    changed: dict[str, Document] = {}
    dropped: list[tuple[Document, str, str]] = []
    for document in sorted(documents, key=lambda row: (row.source, row.origin)):
        if document.kind != "exam_book":
            continue
        kept = []
        for part in document.parts:
            if part.data.get("fault"):  # waits for review as it is
                kept.append(part)
                continue
            options = part.data.get("options")
            texts = sorted(str(option) for option in options) if isinstance(options, list) else []
            same = "|".join([fold(str(part.data.get("stem", part.text))), *(fold(text) for text in texts)])
            where = seen.setdefault(same, f"{part.label} of {document.origin}")
            if where == f"{part.label} of {document.origin}":
                kept.append(part)
            else:
                dropped.append((document, part.label, f"the same question as {where}"))
        if len(kept) < len(document.parts):
            changed[document.document_id] = settle(document, parts=kept)
    return [changed.get(document.document_id, document) for document in documents], dropped
