"""A content as a form, field by field, and back; what is wrong is said at its field."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from portal.words import Language, say
from taxpraben.records.base import JsonObject
from taxpraben.records.content import Content
from taxpraben.records.field import Field, FieldKind
from taxpraben.tasks.spec import LETTERS, TaskSpec

Values = dict[str, str | list[str]]
"""What stands in a form's fields, by input name; a list for checkboxes. This is what autosave keeps."""

SPARE_FIELDS = 2
"""Empty rows at the end of an item's own field list, to add fields without a script."""


@dataclass(frozen=True)
class Option:
    """A choice of an input."""

    value: str
    label: str
    chosen: bool


@dataclass(frozen=True)
class Input:
    """One input of the form.

    Attributes:
        rows: height of an area in lines.
        group: inputs of the same group stand in one row (an item's own field: name, kind, unit, value).
        problem: what is wrong with it, in the page's language; empty where nothing is.
    """

    name: str
    label: str
    kind: Literal["area", "line", "number", "select", "radio", "checks"]
    value: str = ""
    rows: int = 2
    unit: str = ""
    options: tuple[Option, ...] = ()
    group: str = ""
    problem: str = ""


@dataclass(frozen=True)
class Reading:
    """What a form says.

    Attributes:
        content: the content; None where something is wrong.
        problems: what is wrong, by input name, as keys of the words with their values.
    """

    content: Content | None
    problems: dict[str, tuple[str, dict[str, object]]]


def values_of(spec: TaskSpec, content: Content | None) -> Values:
    """A content as it stands in the form; empty fields without one."""
    content = content or Content(text="", answer="", choices=spec.labels or [""] * spec.options)
    values: Values = {"text": content.text}
    if spec.form in ("single", "set"):
        if not spec.labels:
            values |= {f"choice_{place}": choice for place, choice in enumerate(content.choices)}
        values["gold"] = [str(index) for index in content.gold]
    elif spec.form == "fields":
        answer = _answer_object(content)
        if spec.fields_from_item:
            for place, field in enumerate(content.fields):
                values |= {
                    f"own_{place}_name": field.name,
                    f"own_{place}_kind": field.kind,
                    f"own_{place}_unit": field.unit,
                    f"own_{place}_value": _shown(answer.get(field.name)),
                }
        else:
            values |= {f"field_{place}": _shown(answer.get(field.name)) for place, field in enumerate(spec.fields)}
    else:
        values["answer"] = content.answer
        if spec.form == "number":
            values["unit"] = content.unit
    return values


def saved_values(form: JsonObject) -> Values:
    """What autosave kept, freed of everything that is no form value."""
    values: Values = {}
    for name, value in form.items():
        if isinstance(value, str):
            values[name] = value
        elif isinstance(value, list):
            values[name] = [item for item in value if isinstance(item, str)]
    return values


def make_inputs(
    spec: TaskSpec,
    values: Values,
    language: Language,
    problems: Mapping[str, tuple[str, dict[str, object]]] | None = None,
) -> list[Input]:
    """The form's inputs, top to bottom, filled in."""
    said = {name: say(language, key, **given) for name, (key, given) in (problems or {}).items()}
    inputs = [_area("text", say(language, "field_text"), values, said, fewest=3)]
    if spec.form in ("single", "set"):
        inputs += _choice_inputs(spec, values, language, said)
    elif spec.form == "fields" and spec.fields_from_item:
        inputs += _own_inputs(values, language, said)
    elif spec.form == "fields":
        inputs += [_field_input(place, field, values, said) for place, field in enumerate(spec.fields)]
    elif spec.form == "number":
        inputs.append(
            Input(
                "answer",
                say(language, "field_number"),
                "number",
                _text(values, "answer"),
                problem=said.get("answer", ""),
            )
        )
        inputs.append(Input("unit", say(language, "field_unit"), "line", _text(values, "unit")))
    else:
        inputs.append(_area("answer", say(language, "field_answer"), values, said, fewest=3))
    return inputs


def _choice_inputs(spec: TaskSpec, values: Values, language: Language, said: Mapping[str, str]) -> list[Input]:
    inputs: list[Input] = []
    if not spec.labels:
        for place in range(spec.options):
            label = say(language, "field_option", letter=LETTERS[place])
            inputs.append(_area(f"choice_{place}", label, values, said, fewest=1))
    gold = values.get("gold", [])
    texts = spec.labels or [""] * spec.options
    options = tuple(
        Option(str(place), f"{LETTERS[place]} {text}".strip(), str(place) in gold) for place, text in enumerate(texts)
    )
    kind: Literal["radio", "checks"] = "radio" if spec.gold_size == (1, 1) else "checks"
    inputs.append(Input("gold", say(language, "field_gold"), kind, options=options, problem=said.get("gold", "")))
    return inputs


def _field_input(place: int, field: Field, values: Values, said: Mapping[str, str]) -> Input:
    name = f"field_{place}"
    if field.kind == "label":
        value = _text(values, name)
        labels = field.labels if value in field.labels else ["", *field.labels]
        options = tuple(Option(label, label, label == value) for label in labels)
        return Input(name, field.name, "select", value, options=options, problem=said.get(name, ""))
    if field.kind == "number":
        return Input(name, field.name, "number", _text(values, name), unit=field.unit, problem=said.get(name, ""))
    return _area(name, field.name, values, said, fewest=2)


def _own_inputs(values: Values, language: Language, said: Mapping[str, str]) -> list[Input]:
    inputs: list[Input] = []
    for place in range(_own_count(values) + SPARE_FIELDS):
        group = f"own_{place}"
        kind = _text(values, f"{group}_kind") or "text"
        options = tuple(Option(each, say(language, f"kind_{each}"), each == kind) for each in ("text", "number"))
        parts: list[tuple[str, str, Literal["line", "select"], tuple[Option, ...]]] = [
            ("name", "field_name", "line", ()),
            ("kind", "field_kind", "select", options),
            ("unit", "field_unit", "line", ()),
            ("value", "field_value", "line", ()),
        ]
        for part, key, input_kind, choices in parts:
            name = f"{group}_{part}"
            inputs.append(
                Input(
                    name,
                    say(language, key),
                    input_kind,
                    _text(values, name),
                    options=choices,
                    group=group,
                    problem=said.get(name, ""),
                )
            )
    return inputs


def _area(name: str, label: str, values: Values, said: Mapping[str, str], fewest: int) -> Input:
    value = _text(values, name)
    lines = sum(len(line) // 34 + 1 for line in value.split("\n"))
    return Input(name, label, "area", value, rows=min(max(lines, fewest), 16), problem=said.get(name, ""))


def read_values(spec: TaskSpec, values: Values, draft: Content | None) -> Reading:
    """The content that a form states, or what is wrong with it.

    Values that were not touched stay byte for byte what the draft says, so that an unchanged form is an acceptance.
    """
    problems: dict[str, tuple[str, dict[str, object]]] = {}
    # Browsers send line ends as CR LF; the records have LF.
    values = {name: _line_ends(value) for name, value in values.items()}
    text = _text(values, "text")
    if not text.strip():
        problems["text"] = ("problem_empty", {})
    if spec.form in ("single", "set"):
        content = _read_choices(spec, values, text, draft, problems)
    elif spec.form == "fields":
        content = _read_fields(spec, values, text, draft, problems)
    else:
        content = _read_answer(spec, values, text, draft, problems)
    return Reading(None if problems else content, problems)


def _read_choices(
    spec: TaskSpec, values: Values, text: str, draft: Content | None, problems: dict[str, tuple[str, dict[str, object]]]
) -> Content:
    choices = spec.labels or [_text(values, f"choice_{place}") for place in range(spec.options)]
    if not spec.labels:
        for place, choice in enumerate(choices):
            if not choice.strip():
                problems[f"choice_{place}"] = ("problem_empty", {})
            elif choice.strip() in [other.strip() for other in choices[:place]]:
                problems[f"choice_{place}"] = ("problem_same_options", {})
    given = values.get("gold", [])
    chosen = [given] if isinstance(given, str) else given
    gold = sorted({int(mark) for mark in chosen if re.fullmatch(r"\d{1,2}", mark) and int(mark) < len(choices)})
    low, high = spec.gold_size
    if not low <= len(gold) <= high:
        problems["gold"] = ("problem_gold", {"low": low, "high": high})
    return Content(
        text=text,
        answer="".join(LETTERS[index] for index in gold),
        choices=choices,
        gold=gold,
        fields=draft.fields if draft else [],
        unit=draft.unit if draft else "",
    )


def _read_fields(
    spec: TaskSpec,
    values: Values,
    text: str,
    draft: Content | None,
    problems: dict[str, tuple[str, dict[str, object]]],
) -> Content:
    fields, inputs = _own_fields(values, draft, problems) if spec.fields_from_item else (spec.fields, [])
    inputs = inputs or [f"field_{place}" for place in range(len(fields))]
    drafted = _answer_object(draft) if draft is not None else {}
    answer: JsonObject = {}
    for field, name in zip(fields, inputs, strict=True):
        value = _text(values, name)
        if not value.strip():
            problems[name] = ("problem_empty", {})
        elif field.kind == "number" and _as_number(value) is None:
            problems[name] = ("problem_number", {})
        elif field.kind == "label" and value not in field.labels:
            problems[name] = ("problem_label", {})
        untouched = field.name in drafted and _shown(drafted[field.name]) == value
        number = _as_number(value) if field.kind == "number" else None
        answer[field.name] = drafted[field.name] if untouched else (number if number is not None else value)
    same = draft is not None and answer == drafted and list(answer) == list(drafted)
    return Content(
        text=text,
        answer=draft.answer if same and draft is not None else json.dumps(answer, ensure_ascii=False),
        fields=fields if spec.fields_from_item else [],
    )


def _own_fields(
    values: Values, draft: Content | None, problems: dict[str, tuple[str, dict[str, object]]]
) -> tuple[list[Field], list[str]]:
    known = {field.name: field for field in draft.fields} if draft is not None else {}
    fields: list[Field] = []
    inputs: list[str] = []
    for place in range(_own_count(values)):
        group = f"own_{place}"
        name = _text(values, f"{group}_name").strip()
        if not name:
            continue
        if name in [field.name for field in fields]:
            problems[f"{group}_name"] = ("problem_same_fields", {})
        kind: FieldKind = "number" if _text(values, f"{group}_kind") == "number" else "text"
        unit = _text(values, f"{group}_unit").strip()
        drafted = known.get(name)
        if drafted is not None and (drafted.kind, drafted.unit) == (kind, unit):
            fields.append(drafted)
        else:
            fields.append(Field(name=name, kind=kind, unit=unit))
        inputs.append(f"{group}_value")
    if not fields:
        problems["own_0_name"] = ("problem_no_fields", {})
    return fields, inputs


def _read_answer(
    spec: TaskSpec, values: Values, text: str, draft: Content | None, problems: dict[str, tuple[str, dict[str, object]]]
) -> Content:
    answer = _text(values, "answer")
    if not answer.strip():
        problems["answer"] = ("problem_empty", {})
    elif spec.form == "number":
        number = _as_number(answer)
        if number is None:
            problems["answer"] = ("problem_number", {})
        elif draft is None or answer != draft.answer:
            answer = number
    elif spec.form == "span" and answer.strip() not in text:
        problems["answer"] = ("problem_span", {})
    return Content(text=text, answer=answer, unit=_text(values, "unit").strip() if spec.form == "number" else "")


def _as_number(text: str) -> str | None:
    """A number as plain decimal text (thousands marks and full-width digits taken out), or None."""
    plain = text.strip().translate(str.maketrans("０１２３４５６７８９．－，", "0123456789.-,")).replace(",", "")
    try:
        return plain if Decimal(plain).is_finite() and re.fullmatch(r"-?\d+(\.\d+)?", plain) else None
    except InvalidOperation:
        return None


def labelled_texts(spec: TaskSpec, content: Content | None, language: Language) -> list[tuple[str, str]]:
    """A content as labelled texts, in the form's order: what pages show and compare."""
    if content is None:
        return []
    texts = [(say(language, "field_text"), content.text)]
    if spec.form in ("single", "set"):
        if not spec.labels:
            texts += [
                (say(language, "field_option", letter=LETTERS[place]), choice)
                for place, choice in enumerate(content.choices)
            ]
        right = [f"{LETTERS[index]} {content.choices[index]}" for index in content.gold if index < len(content.choices)]
        texts.append((say(language, "field_gold"), "\n".join(right)))
    elif spec.form == "fields":
        answer = _answer_object(content)
        for field in spec.fields_of(content.fields):
            label = f"{field.name}（{field.unit}）" if field.unit else field.name
            texts.append((label, _shown(answer.get(field.name))))
    else:
        unit = f" {content.unit}" if content.unit else ""
        texts.append((say(language, "field_answer"), content.answer + unit))
    return texts


def _answer_object(content: Content) -> JsonObject:
    try:
        answer = json.loads(content.answer)
    except json.JSONDecodeError:
        return {}
    return answer if isinstance(answer, dict) else {}


def _shown(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _text(values: Mapping[str, str | list[str]], name: str) -> str:
    value = values.get(name, "")
    return value if isinstance(value, str) else "".join(value[:1])


def _line_ends(value: str | list[str]) -> str | list[str]:
    return value.replace("\r\n", "\n") if isinstance(value, str) else value


def _own_count(values: Mapping[str, str | list[str]]) -> int:
    places = [int(match[1]) for name in values if (match := re.fullmatch(r"own_(\d{1,2})_name", name))]
    filled = [place for place in places if any(_text(values, f"own_{place}_{part}") for part in ("name", "value"))]
    return max(filled, default=-1) + 1


def collect(pairs: Sequence[tuple[str, str]]) -> Values:
    """A submitted form's pairs as values; ``gold`` is a list, whatever the number of marks."""
    values: Values = {"gold": []}
    for name, value in pairs:
        if name == "gold":
            gold = values["gold"]
            if isinstance(gold, list):
                gold.append(value)
        elif re.fullmatch(r"text|answer|unit|choice_\d{1,2}|field_\d{1,2}|own_\d{1,2}_(name|kind|unit|value)", name):
            values[name] = value
    return values
