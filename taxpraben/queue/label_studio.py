"""The queue and Label Studio: tasks with predictions (drafts) and annotations (decisions), in its JSON format.

Format: a list of tasks, each with ``data`` and, where there is one, ``predictions`` and ``annotations``; each of these
has a ``result`` of regions with ``from_name``, ``to_name``, ``type`` and ``value`` (Label Studio's task format). The
project needs the labelling interface of ``label_config``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select

from taxpraben.queue.flat import PARTS, flatten, rebuild
from taxpraben.queue.intake import Import, export_decisions, import_decisions
from taxpraben.queue.states import FILTERED, QueueError
from taxpraben.queue.store import Queue, stamp
from taxpraben.queue.tables import Entry
from taxpraben.records.content import Content
from taxpraben.records.decision import Decision

VERDICTS = ("accepted", "fixed", "rejected")
_SOURCE = "source"


def label_config() -> str:
    """The labelling interface of a Label Studio project for these tasks."""
    areas = "\n".join(
        f'  <Header value="{part}" size="5"/>\n'
        f'  <TextArea name="{part}" toName="{_SOURCE}" rows="{4 if part in ("text", "answer") else 2}" '
        f'editable="true" maxSubmissions="1"/>'
        for part in PARTS
    )
    choices = "".join(f'<Choice value="{verdict}"/>' for verdict in VERDICTS)
    return (
        "<View>\n"
        '  <Header value="$title"/>\n'
        f'  <Text name="{_SOURCE}" value="$source"/>\n'
        f'  <Choices name="verdict" toName="{_SOURCE}" choice="single" required="true">{choices}</Choices>\n'
        f"{areas}\n"
        f'  <TextArea name="reason" toName="{_SOURCE}" rows="2" editable="true" maxSubmissions="1"/>\n'
        "</View>\n"
    )


def export_label_studio(queue: Queue, tasks: Sequence[str] = ()) -> bytes:
    """Drafts that need a person, with the decisions that stand; in the order of the queue, the same bytes each time."""
    decisions = {decision.draft_id: decision for decision in export_decisions(queue, tasks)}
    query = select(Entry).where(Entry.active.is_(True), Entry.state != FILTERED).order_by(Entry.place, Entry.draft_id)
    if tasks:
        query = query.where(Entry.task.in_(tasks))
    with queue.read() as session:
        exported = [
            _task(number, entry, decisions.get(entry.draft_id))
            for number, entry in enumerate(session.scalars(query), 1)
        ]
    return (json.dumps(exported, ensure_ascii=False, indent=1) + "\n").encode()


def _task(number: int, entry: Entry, decision: Decision | None) -> dict[str, Any]:
    draft = Content.model_validate(entry.content) if entry.content is not None else None
    data: dict[str, Any] = {
        "draft_id": entry.draft_id,
        "dataset": entry.task,
        "draft_digest": entry.digest,
        "title": str(entry.excerpt["title"]),
        _SOURCE: str(entry.excerpt["text"]),
        "error": entry.error,
    }
    task: dict[str, Any] = {"id": number, "data": data, "annotations": [], "predictions": []}
    if draft is not None:
        task["predictions"].append({"model_version": "draft", "result": _areas(draft)})
    if decision is not None:
        # Who decided, in a form that Label Studio hands back; its own users have other names.
        data["decision"] = decision.model_dump(mode="json", exclude={"content"})
        data["decided_digest"] = decision.content.digest if decision.content is not None else ""
        task["annotations"].append(
            {
                "id": number,
                "was_cancelled": False,
                "ground_truth": False,
                "created_at": decision.decided_at,
                "updated_at": decision.decided_at,
                "result": [
                    _region("verdict", "choices", {"choices": [decision.verdict]}),
                    *(_areas(decision.content) if decision.content is not None else []),
                    *([_area("reason", decision.reason)] if decision.reason else []),
                ],
            }
        )
    return task


def _areas(content: Content) -> list[dict[str, Any]]:
    return [_area(part, text) for part, text in flatten(content).items() if text]


def _area(name: str, text: str) -> dict[str, Any]:
    return _region(name, "textarea", {"text": [text]})


def _region(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "from_name": name, "to_name": _SOURCE, "type": kind, "value": value}


def import_label_studio(queue: Queue, data: bytes, actor: str) -> Import:
    """Take annotations back as decisions; tasks without one are left for later.

    An annotation that says what its task's decision said stays that decision. Another one is the ruling of whoever
    completed it (``label-studio-N`` for user N), at the time of its last change. Who accepted a draft that has changed
    since the export accepted another text: it is told as stale, and the present draft waits on.

    Raises:
        QueueError: the file is no list of tasks, a task has annotations that contradict each other, or an annotation
            is no ruling; nothing is taken then.
    """
    try:
        tasks = json.loads(data.decode("utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise QueueError(f"This is no JSON of Label Studio ({error})") from error
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise QueueError("Label Studio's JSON export is a list of tasks (choose 'JSON', not 'JSON-MIN')")
    known = _known(queue)
    decisions: list[Decision] = []
    stale: list[str] = []
    for number, task in enumerate(tasks, start=1):
        decision = _decision(queue, number, task, known, stale)
        if decision is not None:
            decisions.append(decision)
    report = import_decisions(queue, decisions, actor)
    report.stale += stale
    return report


def _known(queue: Queue) -> dict[str, tuple[str, str, Content | None]]:
    with queue.read() as session:
        return {
            entry.draft_id: (
                entry.task,
                entry.digest,
                Content.model_validate(entry.content) if entry.content is not None else None,
            )
            for entry in session.scalars(select(Entry))
        }


def _decision(
    queue: Queue,
    number: int,
    task: Mapping[str, Any],
    known: Mapping[str, tuple[str, str, Content | None]],
    stale: list[str],
) -> Decision | None:
    def bad(cause: str) -> QueueError:
        return QueueError(f"Task {number} ({task.get('data', {}).get('draft_id', 'no draft_id')}): {cause}")

    own = task.get("data")
    if not isinstance(own, dict) or not isinstance(own.get("draft_id"), str):
        raise QueueError(f"Task {number}: its data has no draft_id; import what was exported from here")
    name, digest, draft = known.get(own["draft_id"], (str(own.get("dataset", "")), "", None))
    done = [each for each in task.get("annotations") or [] if isinstance(each, dict) and not each.get("was_cancelled")]
    if not done:
        return None
    shown = str(own.get("draft_digest", ""))
    if own["draft_id"] in known and shown != digest and all(_leaves(annotation, shown) for annotation in done):
        stale.append(own["draft_id"])
        return None
    rulings = []
    for annotation in done:
        try:
            rulings.append(_ruling(annotation, draft))
        except QueueError as error:
            raise bad(str(error)) from error
    if len({(verdict, content.digest if content else "") for verdict, content, _ in rulings}) > 1:
        raise bad("its annotations contradict each other; leave the right one")
    verdict, content, reason = rulings[-1]
    before = own.get("decision")
    if isinstance(before, dict):
        same = (verdict, reason, content.digest if content is not None else "")
        if same == (before.get("verdict"), before.get("reason"), own.get("decided_digest")):
            return Decision.model_validate({**before, "content": content})
    last = done[-1]
    return Decision(
        draft_id=own["draft_id"],
        task=name,
        draft_digest=shown if verdict != "fixed" else digest,
        verdict=verdict,
        content=content,
        reason=reason,
        annotator=_who(last.get("completed_by")),
        decided_at=_when(queue, last.get("updated_at") or last.get("created_at")),
    )


def _leaves(annotation: Mapping[str, Any], digest: str) -> bool:
    """Whether an annotation leaves the draft of this digest as it is: accepted, or fixed without a change."""
    verdict, parts, _ = _regions(annotation)
    if verdict not in ("accepted", "fixed"):
        return False
    if not (parts.get("text", "").strip() and parts.get("answer", "").strip()):
        return not parts
    return rebuild(parts, None).digest == digest


def _ruling(annotation: Mapping[str, Any], draft: Content | None) -> tuple[Any, Content | None, str]:
    verdict, parts, reason = _regions(annotation)
    if verdict not in VERDICTS:
        raise QueueError(f"verdict {verdict!r}; known: {', '.join(VERDICTS)}")
    if verdict == "rejected":
        return verdict, None, reason
    content = rebuild(parts, draft)
    if verdict == "accepted" and draft is not None and content.digest != draft.digest:
        return "fixed", content, reason
    return ("accepted" if draft is not None and content.digest == draft.digest else verdict), content, reason


def _regions(annotation: Mapping[str, Any]) -> tuple[str, dict[str, str], str]:
    """The verdict, the parts of a content and the reason, as an annotation has them."""
    verdict, parts = "", dict[str, str]()
    for region in annotation.get("result") or []:
        value = region.get("value") or {}
        if region.get("from_name") == "verdict":
            verdict = str((value.get("choices") or [""])[0])
        elif isinstance(value.get("text"), list) and value["text"]:
            parts[str(region.get("from_name"))] = str(value["text"][-1])
        elif isinstance(value.get("text"), str):
            parts[str(region.get("from_name"))] = value["text"]
    reason = parts.pop("reason", "")
    return verdict, {name: text for name, text in parts.items() if name in PARTS}, reason


def _who(completed_by: object) -> str:
    if isinstance(completed_by, dict):
        completed_by = completed_by.get("id") or completed_by.get("email") or "unknown"
    # No address of a person in released decisions.
    return f"label-studio-{str(completed_by if completed_by is not None else 'unknown').split('@')[0]}"[:60]


def _when(queue: Queue, text: object) -> str:
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return queue.now()
    return stamp(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


__all__ = ["export_label_studio", "import_label_studio", "label_config"]
