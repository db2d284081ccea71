"""Personal data taken out of documents: one pseudonym a name in the whole document, counts by kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from stages.ingest.outcome import settle
from stages.ingest.personal_data import PUBLIC_IN_OFFICIAL, find_personal_data
from taxpraben.records.document import Document


def mask(document: Document, names: Mapping[str, str] | None = None) -> Document:
    """The document with personal data masked in title, summary, text and parts alike.

    Args:
        document: as parsed.
        names: names to pseudonyms (``party_names.party_pseudonyms``), for verdicts.

    Returns:
        The document with counts of what stood in its text in ``masked``, by kind: ``email``, ``identity_number``,
        ``credit_code``, ``bank_card``, ``phone``, ``landline``, ``plate``, ``person``, ``company``.
    """
    if document.kind in ("exam_book", "casebook", "statute"):
        return document  # published books and laws name no one; their long numbers are figures
    whole = "\n".join([document.title, document.summary, document.text])
    public = PUBLIC_IN_OFFICIAL if document.kind == "official" else frozenset()
    found = find_personal_data(whole, public)
    swaps = {surface: token for _, surface, token in found}
    counts: Counter[str] = Counter()
    for kind, surface, _ in found:
        counts[kind] += document.text.count(surface)
    for name, pseudonym in (names or {}).items():
        swaps[name] = pseudonym
        counts["company" if pseudonym.endswith("公司") else "person"] += document.text.count(name)
    if not swaps:
        return document
    pattern = re.compile("|".join(re.escape(surface) for surface in sorted(swaps, key=len, reverse=True)))

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return pattern.sub(lambda match: swaps[match.group()], value)
        if isinstance(value, list):
            return [clean(element) for element in value]
        if isinstance(value, dict):
            return {key: clean(element) for key, element in value.items()}
        return value

    parts = [part.model_copy(update={"text": clean(part.text), "data": clean(part.data)}) for part in document.parts]
    return settle(
        document,
        title=clean(document.title),
        summary=clean(document.summary),
        text=clean(document.text),
        parts=parts,
        masked={kind: count for kind, count in sorted(counts.items()) if count},
    )
