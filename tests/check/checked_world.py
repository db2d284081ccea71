"""A small world of records, right in every respect, that tests break in one place."""

import hashlib
from dataclasses import dataclass, field

from taxpraben.records.answer import Answer
from taxpraben.records.content import Content
from taxpraben.records.decision import Decision
from taxpraben.records.document import Document, DocumentPart
from taxpraben.records.draft import Draft, Span
from taxpraben.records.item import Item
from taxpraben.records.reading import Reading
from taxpraben.records.score import Score
from taxpraben.records.standing import Standing
from taxpraben.tasks.catalog import find_task

STEMS = (
    "云栖示范公司购销合同应按哪一税目缴纳印花税（）。",
    "下列车船中免征车船税的是哪一项（）。",
    "个人承受家庭唯一住房时契税的计税依据是（）。",
)
OPTIONS = ["买卖合同", "借款合同", "租赁合同", "运输合同"]
MODEL = "model-a"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def document() -> Document:
    parts = []
    text = "示范习题（虚构，仅供测试）\n"
    for number, stem in enumerate(STEMS, start=1):
        data = {"kind": "single", "stem": stem, "options": list(OPTIONS), "answer": "A"}
        parts.append(DocumentPart(kind="question", label=f"单选{number}", text=stem, start=len(text), data=data))
        text += stem + "\n"
    return Document(
        document_id="doc-" + sha("sample|books/demo.pdf")[:12], pipeline="books", kind="exam_book", source="sample",
        origin="books/demo.pdf", title="示范习题", text=text, parts=parts, digest=sha(text), effective="2026-01-01",
    )  # fmt: skip


def content(stem: str) -> Content:
    options = " ".join(f"{letter}.{text}" for letter, text in zip("ABCD", OPTIONS, strict=True))
    return Content(text=f"{stem} {options}", answer="A", choices=list(OPTIONS), gold=[0])


@dataclass
class World:
    """Records of one document, its three single choice questions, and one model."""

    document: Document = field(default_factory=document)
    drafts: list[Draft] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    answers: list[Answer] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    standings: list[Standing] = field(default_factory=list)


def make_world() -> World:
    """A new world."""
    made = World()
    spec = find_task("TaxSCQ")
    for part in made.document.parts:
        draft_id = f"TaxSCQ-{sha(f'{made.document.document_id}|{part.label}')[:12]}"
        inside = content(part.text)
        made.drafts.append(
            Draft(
                draft_id=draft_id, task="TaxSCQ", document_id=made.document.document_id, origin=made.document.origin,
                slot=part.label, method="parsed", status="drafted", content=inside,
                evidence=[Span(start=part.start, end=part.start + len(part.text), text=part.text)],
            )
        )  # fmt: skip
        made.decisions.append(
            Decision(
                draft_id=draft_id, task="TaxSCQ", draft_digest=inside.digest, verdict="accepted", content=inside,
                annotator="annotator-01", decided_at="2026-11-30T08:00:00+08:00",
            )
        )  # fmt: skip
    ids = [draft.draft_id for draft in made.drafts]
    for number, decision in enumerate(made.decisions):
        assert decision.content is not None
        made.items.append(
            Item(
                item_id=decision.draft_id, task="TaxSCQ", task_version=spec.version, release="0.1.0",
                query=spec.prompts[0], prompt=0, text=decision.content.text, answer="A",
                choices=list(OPTIONS), gold=[0], fields=[], unit="",
                example_id=ids[(number + 1) % len(ids)], draft_id=decision.draft_id,
                document_id=made.document.document_id, origin=made.document.origin, effective="", repealed="",
            )
        )  # fmt: skip
    for item in made.items:
        for setting in ("zero-shot", "one-shot"):
            key = {"item_id": item.item_id, "task": "TaxSCQ", "model": MODEL, "setting": setting, "run": 1}
            request = sha(f"{item.item_id}{setting}")
            made.answers.append(Answer(**key, request=request, prompt="[]", status="ok", text="选A"))
            made.readings.append(
                Reading(
                    **key, request=request, status="read", value="A", strict_value=None, method="rules", evidence="A"
                )
            )
            for protocol in ("strict", "aligned"):
                for metric in spec.metric_names:
                    made.scores.append(
                        Score(
                            **key, protocol=protocol, metric=metric, value=1.0 if metric == "accuracy" else None,
                            gold="A", predicted="A", signature=f"{metric}|v1", status="read",
                        )
                    )  # fmt: skip
    return made


def standing(model: str, scope: str, name: str, mean: float | None, rank: int | None, **more: object) -> Standing:
    bounds = {} if mean is None else {"low": mean - 0.1, "high": mean + 0.1}
    given = {"setting": "zero-shot", "protocol": "aligned", "metric": "S", "items": 3, "runs": 1, "signature": "s|v1"}
    return Standing(model=model, scope=scope, name=name, mean=mean, rank=rank, **{**given, **bounds, **more})
