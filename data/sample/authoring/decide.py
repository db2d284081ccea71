"""Rules on the sample's drafts as its authors judge them: what each source should become stands beside its text.

Run it from the repository root after `dvc repro draft` (profile demo); it writes data/sample/decisions.jsonl.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from stages.ingest.masking import what_to_mask
from stages.ingest.outcome import Place, new_document
from taxpraben.records.base import read_records, write_jsonl
from taxpraben.records.content import Content
from taxpraben.records.decision import Decision
from taxpraben.records.draft import Draft
from taxpraben.records.field import Field
from taxpraben.tasks.catalog import find_task, load_catalog
from taxpraben.tasks.spec import LETTERS
from taxpraben.text.normalise import normalise
from taxpraben.text.numerals import format_chinese_number
from taxpraben.workspace import open_workspace

AUTHORING = Path(__file__).parent
OUT = AUTHORING.parent / "decisions.jsonl"
ANNOTATORS = tuple(f"annotator-{number:02d}" for number in range(1, 6))
DECIDED_AT = "2026-11-30T08:00:00Z"

Truths = dict[tuple[str, str, str], Content]


def truths() -> Truths:
    """What each source should become, by task, origin's last part, and slot."""
    found: Truths = {}
    for origin, slot, task, content in [*_exam(), *_cases(), *_statute(), *_official(), *_verdicts(), *_site()]:
        found[task, origin, slot] = content
    return found


def _read(name: str) -> Any:
    return yaml.safe_load((AUTHORING / name).read_text(encoding="utf-8"))


Entry = tuple[str, str, str, Content]


def _chosen(text: str, options: list[str], letters: str) -> Content:
    gold = [LETTERS.index(letter) for letter in letters]
    return Content(text=text, answer=letters, choices=options, gold=gold)


def _exam() -> Iterator[Entry]:
    origin = "tax_exam_guide.pdf"
    for chapter in _read("exam_guide.yaml")["chapters"]:
        for row in chapter["questions"]:
            stem, options = row["stem"].strip(), row["options"]
            if row["kind"] == "calculation":
                answer = row["answer"]
                content = Content(text=stem, answer=str(answer["value"]), unit=answer["unit"])
                yield origin, f"计算{row['number']}", "TaxCalc", content
                continue
            shown = " ".join(f"{letter}.{option}" for letter, option in zip(LETTERS, options, strict=False))
            slot, task = ("单选", "TaxSCQ") if row["kind"] == "single" else ("多选", "TaxMCQ")
            yield origin, f"{slot}{row['number']}", task, _chosen(f"{stem} {shown}", options, row["answer"])


def _cases() -> Iterator[Entry]:
    for case in _read("casebook.yaml")["cases"]:
        fields = [Field(name=row["name"], kind=row["kind"], unit=row["unit"] or "") for row in case["fields"]]
        answer = json.dumps({row["name"]: row["answer"] for row in case["fields"]}, ensure_ascii=False)
        content = Content(text=case["text"].strip(), answer=answer, fields=fields)
        yield "planning_casebook.pdf", f"案例{case['number']}", "TaxPlan", content


def _statute() -> Iterator[Entry]:
    book = _read("regulation.yaml")
    for article in (row for chapter in book["chapters"] for row in chapter["articles"]):
        label = f"第{format_chinese_number(article['number'])}条"
        question = book["judgement"]["question"].format(number=label)
        yield book["file"], label, "TaxRecite", Content(text=question, answer=article["text"].strip())


def _official() -> Iterator[Entry]:
    for document in _read("official.yaml")["documents"]:
        for row in document["qa"]:
            content = Content(text=row["question"].strip(), answer=row["answer"].strip())
            yield document["file"], row["section"], "TaxQA", content


def _verdicts() -> Iterator[Entry]:
    labels = find_task("TaxCrime").labels
    for row in _read("verdicts.yaml")["verdicts"]:
        wanted = {f"刑法第{format_chinese_number(number)}条" for number in row["judgement"]["gold"]}
        letters = "".join(letter for letter, label in zip(LETTERS, labels, strict=False) if label in wanted)
        suffix = ".html" if row["form"] == "page" else ".json"
        yield f"{row['id']}{suffix}", "", "TaxCrime", _chosen(row["judgement"]["text"].strip(), labels, letters)


def _site() -> Iterator[Entry]:
    topics = find_task("TaxTopic").labels
    for name in ("news", "risk", "inspect", "board", "opinion"):
        for row in _read(f"site/{name}.yaml")["items"]:
            clean = _masking(name, row)
            for task, content in _judged(name, row, topics):
                yield f"{row['id']}.html", "", task, clean(content)


def _judged(name: str, row: dict[str, Any], topics: list[str]) -> Iterator[tuple[str, Content]]:
    body, judgement = row.get("body", "").strip(), row["judgement"]
    if name == "news":
        letter = LETTERS[topics.index(judgement["topic"])]
        yield "TaxTopic", _chosen(row["title"], topics, letter)
        yield "TaxSum", Content(text=body, answer=judgement["summary"].strip())
        if read := judgement.get("read"):
            text = f"{body}问题：{read['question'].strip()}"
            yield "TaxRead", Content(text=text, answer=read["answer"].strip())
    elif name in ("risk", "inspect"):
        answer = {key: value.strip() for key, value in judgement[name].items()}
        task = "TaxRisk" if name == "risk" else "TaxInspect"
        yield task, Content(text=body, answer=json.dumps(answer, ensure_ascii=False))
    elif name == "board":
        pair = judgement["board"]
        yield "TaxBoard", Content(text=pair["question"].strip(), answer=pair["answer"].strip())
    elif judgement["opinion"]:
        yield "TaxOpinion", Content(text=body, answer=judgement["opinion"].strip())


def _masking(name: str, row: dict[str, Any]) -> Callable[[Content], Content]:
    """What ingest masks in the page is masked in the judgement too."""
    text = row.get("body") or f"{row['judgement']['board']['question']}\n{row['judgement']['board']['answer']}"
    page = new_document(Place("site", "sites", row["id"]), name, row.get("title", ""), text, [])  # type: ignore[arg-type]
    swaps = {surface: token for surface, (_, token) in what_to_mask(page).items()}

    def clean(content: Content) -> Content:
        changed = {"text": content.text, "answer": content.answer}
        for surface in sorted(swaps, key=len, reverse=True):
            changed = {field: value.replace(surface, swaps[surface]) for field, value in changed.items()}
        return content.model_copy(update=changed)

    return clean


def rule(draft: Draft, truth: Content | None) -> Decision:
    """Accept a draft that says what its author judged, fix one that does not, reject what nobody wanted."""
    digest = draft.content.digest if draft.content else ""
    annotator = ANNOTATORS[int(hashlib.sha256(draft.draft_id.encode()).hexdigest(), 16) % len(ANNOTATORS)]
    common = {"draft_id": draft.draft_id, "task": draft.task, "draft_digest": digest, "annotator": annotator}
    common |= {"checker": "checker-01", "decided_at": DECIDED_AT}
    if truth is None:
        reason = "与税务无关" if draft.task == "TaxOpinion" else "题目区分度不足，不入库"
        return Decision(**common, verdict="rejected", content=None, reason=reason)
    if draft.content and _same(draft.content, truth):
        return Decision(**common, verdict="accepted", content=draft.content)
    return Decision(**common, verdict="fixed", content=truth, reason="按原文更正")


def _same(one: Content, other: Content) -> bool:
    return _blind(one) == _blind(other)


def _blind(content: Content) -> tuple[Any, ...]:
    bare = ["".join(normalise(text).split()) for text in (content.text, content.answer, *content.choices)]
    return bare, content.gold, content.fields, content.unit


def main() -> None:
    """Write the decisions and say how many of each there are."""
    workspace = open_workspace()
    if workspace.profile != "demo":
        sys.exit("params.yaml: the decisions are for profile 'demo'; run `taxpraben run --profile demo` first")
    known = truths()
    decisions, counts, used = [], Counter[tuple[str, str, str]](), set()
    for task in load_catalog():
        for draft in read_records(workspace.drafts / f"{task}.parquet", Draft):
            if draft.status == "filtered":
                counts[task, draft.method, "filtered"] += 1
                continue
            name = draft.origin.rsplit("/", 1)[-1]
            key = next((key for key in ((task, name, draft.slot), (task, name, "")) if key in known), None)
            used.add(key)
            decision = rule(draft, known[key] if key else None)
            decisions.append(decision)
            counts[task, draft.method, decision.verdict] += 1
    write_jsonl(OUT, sorted(decisions, key=lambda row: row.key))
    for (task, method, verdict), count in counts.items():
        print(f"{task:12} {method:7} {verdict:9} {count}")
    for key in sorted(set(known) - used):
        print(f"no draft for {' '.join(key)}")


if __name__ == "__main__":
    main()
