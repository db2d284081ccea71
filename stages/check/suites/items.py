"""Items of one task: the record's own promises, the task's rules, the published lengths, no leak into the example."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stages.check.rules import Row, Rule, Suite, filled, present, sound, unique, within
from stages.check.suites.answer_form import answer_problem
from stages.check.suites.folding import fold
from taxpraben.records.decision import Decision
from taxpraben.records.item import Item
from taxpraben.tasks.spec import TaskSpec
from taxpraben.text.shingles import jaccard, shingles


def suite(spec: TaskSpec) -> Suite:
    """What must hold of the task's items."""
    return Suite(
        name="items",
        part=spec.name,
        remedy="correct the decision in the portal, raise build.release, then `dvc repro`",
        rules=(*_record_rules(), *_task_rules(spec), *_length_rules(spec)),
    )


def _record_rules() -> tuple[Rule, ...]:
    return (
        present("至少有一道题", "there is an item", "warning", "rule on drafts of this task in the portal"),
        unique("row", "题目编号不重复", "item ids are unique"),
        filled("text", "题面不为空", "the text is not empty"),
        filled("query", "提示词不为空", "the prompt is not empty"),
        filled("answer", "参考答案不为空", "the answer is not empty"),
        sound("release_problem", "属于本版本与本任务", "the item is of this release and this version of the task"),
        sound("decision_problem", "内容即裁定采纳的内容", "the content is what people decided"),
        sound("example_problem", "示例题不是本题，也不与本题近似",
              "the example is neither the item itself nor its near-duplicate",
              remedy="build chose it: see build.near_duplicate in params.yaml, then `dvc repro build`"),
        sound("example_absence", "有示例题", "there is an example", "warning",
              "the task needs a second, different question"),
        unique("folded", "没有两道题的题面相同", "no two items ask the same", "warning"),
    )  # fmt: skip


def _task_rules(spec: TaskSpec) -> tuple[Rule, ...]:
    rules = [sound("prompt_problem", "提示词出自任务文件", "the prompt is one of the task's")]
    if spec.form in ("single", "set"):
        low, high = spec.gold_size
        rules += [
            sound("choices_problem", "选项个数与标签符合任务",
                  "the choices are as many as, or the labels that, the task states"),
            sound("equal_options", "没有两个文字相同的选项", "no two options have the same text"),
            sound("gold_problem", f"正确选项在选项之内，个数为 {low} 至 {high}，升序",
                  f"gold lies inside the choices, {low} to {high} of them, ascending"),
        ]  # fmt: skip
    rules.append(sound("answer_problem", "参考答案合乎任务的答案形式", "the answer has the task's form"))
    if spec.form == "span":
        rules.append(
            sound("span_problem", "答案原样见于题面", "the answer stands in the text", "warning",
                  "an extractive answer is a stretch of its passage; correct it in the portal")
        )  # fmt: skip
    return tuple(rules)


def _length_rules(spec: TaskSpec) -> tuple[Rule, ...]:
    remedy = "not wrong in itself: Table C3 describes the paper's own corpus"
    (low, high), (least, most) = spec.lengths.input, spec.lengths.label
    return (
        within("text_length", low, high, f"题面 {low} 至 {high} 字（表 C3）",
               f"the text has {low} to {high} characters (Table C3)", "warning", remedy),
        within("answer_length", least, most, f"答案 {least} 至 {most} 字（表 C3）",
               f"the answer has {least} to {most} characters (Table C3)", "warning", remedy),
    )  # fmt: skip


def columns(
    items: Sequence[Item],
    decisions: Mapping[str, Decision],
    spec: TaskSpec,
    release: str,
    near_duplicate: float,
) -> list[Row]:
    """One row an item, in the given order.

    Args:
        items: the task's items.
        decisions: the task's decisions by draft id.
        spec: the task.
        release: the number that the items should carry.
        near_duplicate: Jaccard similarity of character shingles from which two items are one question.
    """
    # Cues of a recitation differ by an article's number only; what makes two items one is text and answer together.
    pieces = {item.item_id: shingles(f"{item.text}\n{item.answer}") for item in items}
    return [
        {
            "row": item.item_id,
            "text": item.text,
            "query": item.query,
            "answer": item.answer,
            "folded": fold(item.text),
            "release_problem": release_problem(item, spec, release),
            "decision_problem": decision_problem(item, decisions.get(item.draft_id)),
            "example_problem": example_problem(item, pieces, near_duplicate),
            "example_absence": "" if item.example_id else "no example",
            "prompt_problem": prompt_problem(item, spec),
            "choices_problem": choices_problem(item, spec),
            "equal_options": equal_options(item.choices),
            "gold_problem": gold_problem(item, spec),
            "answer_problem": answer_problem(item, spec),
            "span_problem": "" if item.answer.strip() in item.text else f"not in the text: {item.answer!r}",
            "text_length": len(item.text),
            "answer_length": len(item.answer),
        }
        for item in items
    ]


def release_problem(item: Item, spec: TaskSpec, release: str) -> str:
    """Says that release, task or version of the task is another."""
    found, right = (item.task, item.task_version, item.release), (spec.name, spec.version, release)
    return "" if found == right else f"{found} instead of {right}"


def decision_problem(item: Item, decision: Decision | None) -> str:
    """Says that no decision stands behind the item, or where its content is another."""
    if decision is None:
        return f"no decision on draft {item.draft_id!r}"
    if decision.content is None:
        return f"the draft was {decision.verdict}"
    names = ("text", "answer", "choices", "gold", "fields", "unit")
    different = [name for name in names if getattr(item, name) != getattr(decision.content, name)]
    return f"differs from its decision in {', '.join(different)}" if different else ""


def example_problem(item: Item, pieces: Mapping[str, frozenset[str]], near_duplicate: float) -> str:
    """Says that the example would give the item away, or is not in the release; no example is no leak.

    Args:
        item: the item.
        pieces: character shingles of text and answer, by item id.
        near_duplicate: similarity from which two items are one question.
    """
    if not item.example_id:
        return ""
    if item.example_id == item.item_id:
        return "is its own example"
    if item.example_id not in pieces:
        return f"the example {item.example_id!r} is not in the release"
    alike = jaccard(pieces[item.item_id], pieces[item.example_id])
    return f"{alike:.2f} alike to its example {item.example_id}" if alike >= near_duplicate else ""


def prompt_problem(item: Item, spec: TaskSpec) -> str:
    """Says that the prompt is not the one of that number; one that lists the item's own fields may differ there."""
    if not 0 <= item.prompt < len(spec.prompts):
        return f"prompt {item.prompt} of {len(spec.prompts)}"
    if spec.fields_from_item:
        missing = [field.name for field in item.fields if field.name not in item.query]
        return f"does not ask for {', '.join(missing)}" if missing else ""
    return "" if item.query == spec.prompts[item.prompt] else f"is not prompt {item.prompt} of the task"


def choices_problem(item: Item, spec: TaskSpec) -> str:
    """Says that choices are too few, too many, empty, or not the task's labels."""
    if spec.labels:
        return "" if item.choices == spec.labels else "the choices are not the task's labels"
    if len(item.choices) != spec.options:
        return f"{len(item.choices)} options instead of {spec.options}"
    return "an option is empty" if any(not choice.strip() for choice in item.choices) else ""


def equal_options(choices: Sequence[str]) -> str:
    """Names the letters and text of options that read the same, blind to width, case and white space."""
    seen: dict[str, int] = {}
    for number, choice in enumerate(choices):
        first = seen.setdefault(fold(choice), number)
        if first != number:
            return f"{_letter(first)} and {_letter(number)} are both {choice.strip()!r}"
    return ""


def gold_problem(item: Item, spec: TaskSpec) -> str:
    """Says that gold points outside the choices, is of the wrong size, or not ascending."""
    low, high = spec.gold_size
    if any(not 0 <= index < len(item.choices) for index in item.gold):
        return f"gold {item.gold} outside {len(item.choices)} choices"
    if not low <= len(item.gold) <= high:
        return f"{len(item.gold)} right options instead of {low} to {high}"
    return "" if item.gold == sorted(set(item.gold)) else f"gold {item.gold} is not ascending"


def _letter(number: int) -> str:
    return chr(ord("A") + number)
