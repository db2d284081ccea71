"""Personal data taken out of documents: one pseudonym a name in the whole document, counts by kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Any

from stages.ingest.addresses import find_addresses
from stages.ingest.names_in_text import find_names
from stages.ingest.outcome import Taken, settle
from stages.ingest.personal_data import PUBLIC_IN_OFFICIAL, find_personal_data
from stages.ingest.pseudonyms import assign_pseudonyms
from taxpraben.records.document import Document, DocumentKind

# Published books and laws name no one; their long numbers are figures.
AS_PRINTED: frozenset[DocumentKind] = frozenset({"exam_book", "casebook", "statute"})
# What people write, and what is written of them. Authorities' own documents name people in office.
NAMING: frozenset[DocumentKind] = frozenset({"verdict", "news", "risk", "inspect", "board", "opinion"})


def mask(document: Document, names: Mapping[str, str] | None = None) -> Document:
    """The document with personal data masked in title, summary, text and parts alike.

    Args:
        document: as parsed.
        names: names to pseudonyms, where the source itself tells the parties (``party_names``); otherwise people and
            companies are looked for in the text, in documents of the kinds in ``NAMING``.

    Returns:
        The document with counts of what stood in its text in ``masked``, by kind: ``email``, ``identity_number``,
        ``credit_code``, ``bank_card``, ``phone``, ``landline``, ``plate``, ``account``, ``address``, ``person``,
        ``company``.
    """
    return take_out(document, names)[0]


def take_out(document: Document, names: Mapping[str, str] | None = None) -> tuple[Document, list[Taken]]:
    """The masked document as ``mask`` gives it, and what was taken out of its text, in reading order."""
    swaps = what_to_mask(document, names)
    if not swaps:
        return document, []
    pattern = _any_of(swaps)

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return pattern.sub(lambda match: swaps[match.group()][1], value)
        if isinstance(value, list):
            return [clean(element) for element in value]
        if isinstance(value, dict):
            return {key: clean(element) for key, element in value.items()}
        return value

    counts: Counter[str] = Counter()
    taken: list[Taken] = []
    shift = 0
    for match in pattern.finditer(document.text):
        kind, token = swaps[match.group()]
        counts[kind] += 1
        taken.append(Taken(match.start() + shift, token, match.group()))
        shift += len(token) - len(match.group())
    parts = [part.model_copy(update={"text": clean(part.text), "data": clean(part.data)}) for part in document.parts]
    masked = settle(
        document,
        title=clean(document.title),
        summary=clean(document.summary),
        text=clean(document.text),
        parts=parts,
        masked=dict(sorted(counts.items())),
    )
    return masked, taken


def what_to_mask(document: Document, names: Mapping[str, str] | None = None) -> dict[str, tuple[str, str]]:
    """What stands in the document and must not, to its kind and what is to stand there."""
    if document.kind in AS_PRINTED:
        return {}
    whole = "\n".join([document.title, document.summary, document.text])
    public = PUBLIC_IN_OFFICIAL if document.kind == "official" else frozenset()
    swaps = {surface: (kind, token) for kind, surface, token in find_personal_data(whole, public)}
    if document.kind != "official":
        swaps.update(dict.fromkeys(find_addresses(whole), ("address", "[地址]")))
    if names is None and document.kind in NAMING:
        people, companies = find_names(_any_of(swaps).sub("，", whole) if swaps else whole)
        names = assign_pseudonyms(whole, people, companies)
    for name, pseudonym in (names or {}).items():
        swaps[name] = ("company" if pseudonym.endswith("公司") else "person", pseudonym)
    return swaps


def _any_of(surfaces: Collection[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(surface) for surface in sorted(surfaces, key=len, reverse=True)))
