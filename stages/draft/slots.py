"""Where a task's drafts come from: one slot a part of a document, or one a whole document."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from taxpraben.records.document import Document, DocumentPart
from taxpraben.tasks.spec import LETTERS, TaskSpec

WHOLE = "all"

Variables = dict[str, JsonValue]

COLUMNS = (
    "title",
    "text",
    "summary",
    "category",
    "publisher",
    "number",
    "published",
    "effective",
    "repealed",
    "kind",
    "source",
    "origin",
)


@dataclass(frozen=True)
class Slot:
    """One place for one draft.

    Attributes:
        part: the unit of the document; None for the whole document.
    """

    spec: TaskSpec
    document: Document
    part: DocumentPart | None = None

    @property
    def name(self) -> str:
        """The part's label, or ``all``."""
        return self.part.label if self.part else WHOLE

    @property
    def draft_id(self) -> str:
        """The same for the same task, document and slot, whatever the drafter says."""
        digest = hashlib.sha256(f"{self.document.document_id}|{self.name}".encode()).hexdigest()[:12]
        return f"{self.spec.name}-{digest}"


def find_slots(spec: TaskSpec, documents: Iterable[Document]) -> list[Slot]:
    """The task's slots, in order of documents and parts; those that break ``drafting.where`` left out."""
    drafting = spec.drafting
    slots: list[Slot] = []
    for document in documents:
        if document.kind not in drafting.documents:
            continue
        if drafting.unit == "document":
            slots.append(Slot(spec, document))
        else:
            slots += [Slot(spec, document, part) for part in document.parts if part.kind == drafting.unit]
    return [slot for slot in slots if _holds(drafting.where, variables_of(slot))]


def draw_slots(slots: Sequence[Slot], count: int, seed: int) -> list[Slot]:
    """So many slots, drawn by seed and draft id, in their old order; 0 takes all."""
    if not count or count >= len(slots):
        return list(slots)
    ranked = sorted(slots, key=lambda slot: hashlib.sha256(f"{seed}|draw|{slot.draft_id}".encode()).digest())
    kept = {slot.draft_id for slot in ranked[:count]}
    return [slot for slot in slots if slot.draft_id in kept]


def variables_of(slot: Slot) -> Variables:
    """What templates may use: the document's columns, then the part's label, text and data, which count first.

    Made beside them: ``title`` without book marks, ``published_zh`` and ``issued`` (a date in words), and
    ``options_text`` (the options behind their letters).
    """
    document, part = slot.document, slot.part
    variables: Variables = {name: getattr(document, name) for name in COLUMNS}
    variables["title"] = _bare_title(document.title.strip())
    date = chinese_date(document.published)
    variables["published_zh"] = date
    variables["issued"] = f"{date}公布的" if date else ""
    if part is not None:
        variables |= {"label": part.label, "text": part.text, **part.data}
        options = part.data.get("options")
        if isinstance(options, list):
            variables["options_text"] = " ".join(
                f"{letter}.{option}" for letter, option in zip(LETTERS, options, strict=False)
            )
    return variables


def chinese_date(iso: str) -> str:
    """``2025-03-01`` as ``2025年3月1日``; a year or a month alone likewise; empty text for anything else."""
    numbers = iso.split("-")
    if not iso or not all(number.isdigit() for number in numbers):
        return ""
    return "".join(f"{int(number)}{unit}" for number, unit in zip(numbers, "年月日", strict=False))


def _holds(where: Variables, variables: Variables) -> bool:
    return all(variables.get(name) == value for name, value in where.items())


def _bare_title(title: str) -> str:
    """The title without the book marks around it; marks around a part of it stay."""
    inner = title[1:-1]
    return inner if title.startswith("《") and title.endswith("》") and "《" not in inner else title
