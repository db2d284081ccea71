"""What a filled-in form says: the content, or what is wrong at which field."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from portal.forms import Values, own_count, shown, text_of
from taxpraben.records.base import JsonObject
from taxpraben.records.content import Content
from taxpraben.records.field import Field, FieldKind
from taxpraben.tasks.rules import answer_object, faults_of, plain_number
from taxpraben.tasks.spec import LETTERS, TaskSpec

Problem = tuple[str, dict[str, object]]
"""A key of the words, with its values."""


@dataclass(frozen=True)
class Reading:
    """What a form says.

    Attributes:
        content: the content; None where something is wrong.
        problems: what is wrong, by input name.
    """

    content: Content | None
    problems: dict[str, Problem]


def read_values(spec: TaskSpec, values: Values, draft: Content | None) -> Reading:
    """The content that a form states, or what is wrong with it.

    Values that were not touched stay byte for byte what the draft says, so that an unchanged form is an acceptance.
    """
    # Browsers send line ends as CR LF; the records have LF.
    values = {name: _line_ends(value) for name, value in values.items()}
    inputs: dict[str, str] = {}
    if spec.form in ("single", "set"):
        content = _read_choices(spec, values, draft)
    elif spec.form == "fields":
        content, inputs = _read_fields(spec, values, draft)
    else:
        content = _read_answer(spec, values, draft)
    problems: dict[str, Problem] = {}
    for fault in faults_of(content, spec):
        name = inputs.get(f"{fault.place} {fault.rule}") or inputs.get(fault.place, fault.place)
        problems.setdefault(name, (f"problem_{fault.rule}", dict(fault.values)))
    return Reading(None if problems else content, problems)


def _read_choices(spec: TaskSpec, values: Values, draft: Content | None) -> Content:
    choices = spec.labels or [text_of(values, f"choice_{place}") for place in range(spec.options)]
    given = values.get("gold", [])
    chosen = [given] if isinstance(given, str) else given
    gold = sorted({int(mark) for mark in chosen if re.fullmatch(r"[0-9]{1,2}", mark) and int(mark) < len(choices)})
    return Content(
        text=text_of(values, "text"),
        answer="".join(LETTERS[index] for index in gold),
        choices=choices,
        gold=gold,
        fields=draft.fields if draft else [],
        unit=draft.unit if draft else "",
    )


def _read_fields(spec: TaskSpec, values: Values, draft: Content | None) -> tuple[Content, dict[str, str]]:
    """The content, and the inputs by place of a fault where they differ."""
    fields, names = _own_fields(values, draft) if spec.fields_from_item else (spec.fields, [])
    names = names or [f"field_{place}" for place in range(len(fields))]
    drafted = answer_object(draft) if draft is not None else {}
    answer: JsonObject = {}
    for field, name in zip(fields, names, strict=True):
        value = text_of(values, name)
        untouched = field.name in drafted and shown(drafted[field.name]) == value
        number = plain_number(value) if field.kind == "number" else None
        answer[field.name] = drafted[field.name] if untouched else (number if number is not None else value)
    same = draft is not None and answer == drafted and list(answer) == list(drafted)
    content = Content(
        text=text_of(values, "text"),
        answer=draft.answer if same and draft is not None else json.dumps(answer, ensure_ascii=False),
        fields=fields if spec.fields_from_item else [],
    )
    inputs = {f"field_{place}": name for place, name in enumerate(names)} | {"fields": "own_0_name"}
    inputs |= {f"field_{place} same_fields": name.replace("_value", "_name") for place, name in enumerate(names)}
    return content, inputs


def _own_fields(values: Values, draft: Content | None) -> tuple[list[Field], list[str]]:
    known = {field.name: field for field in draft.fields} if draft is not None else {}
    fields: list[Field] = []
    inputs: list[str] = []
    for place in range(own_count(values)):
        group = f"own_{place}"
        name = text_of(values, f"{group}_name").strip()
        if not name:
            continue
        kind: FieldKind = "number" if text_of(values, f"{group}_kind") == "number" else "text"
        unit = text_of(values, f"{group}_unit").strip()
        drafted = known.get(name)
        same = drafted is not None and (drafted.kind, drafted.unit) == (kind, unit)
        fields.append(drafted if same and drafted is not None else Field(name=name, kind=kind, unit=unit))
        inputs.append(f"{group}_value")
    return fields, inputs


def _read_answer(spec: TaskSpec, values: Values, draft: Content | None) -> Content:
    answer = text_of(values, "answer")
    if spec.form != "number":
        return Content(text=text_of(values, "text"), answer=answer)
    if draft is None or answer != draft.answer:
        answer = plain_number(answer) or answer
    return Content(text=text_of(values, "text"), answer=answer, unit=text_of(values, "unit").strip())


def _line_ends(value: str | list[str]) -> str | list[str]:
    return value.replace("\r\n", "\n") if isinstance(value, str) else value
