"""A content as a form, field by field, and as labelled texts; ``filled`` reads it back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from portal.words import Language, say
from taxpraben.records.base import JsonObject
from taxpraben.records.content import Content
from taxpraben.records.field import Field
from taxpraben.tasks.rules import answer_object
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


def values_of(spec: TaskSpec, content: Content | None) -> Values:
    """A content as it stands in the form; empty fields without one."""
    content = content or Content(text="", answer="", choices=spec.labels or [""] * spec.options)
    values: Values = {"text": content.text}
    if spec.form in ("single", "set"):
        if not spec.labels:
            values |= {f"choice_{place}": choice for place, choice in enumerate(content.choices)}
        values["gold"] = [str(index) for index in content.gold]
    elif spec.form == "fields":
        answer = answer_object(content)
        if spec.fields_from_item:
            for place, field in enumerate(content.fields):
                values |= {
                    f"own_{place}_name": field.name,
                    f"own_{place}_kind": field.kind,
                    f"own_{place}_unit": field.unit,
                    f"own_{place}_value": shown(answer.get(field.name)),
                }
        else:
            values |= {f"field_{place}": shown(answer.get(field.name)) for place, field in enumerate(spec.fields)}
    else:
        values["answer"] = content.answer
        if spec.form == "number":
            values["unit"] = content.unit
    return values


def saved_values(spec: TaskSpec, form: JsonObject) -> Values:
    """What was kept of a form, freed of everything that is no form value; a text from a file stands as its content."""
    content = form.get("content")
    if isinstance(content, dict):
        return values_of(spec, Content.model_validate(content))
    values: Values = {}
    for name, value in form.items():
        if isinstance(value, str):
            values[name] = clean(value)
        elif isinstance(value, list):
            values[name] = [clean(item) for item in value if isinstance(item, str)]
    return values


def clean(text: str) -> str:
    """A text without NUL and halves of characters: no database or page can hold them."""
    return text.replace("\0", "").encode("utf-8", errors="ignore").decode()


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
                text_of(values, "answer"),
                problem=said.get("answer", ""),
            )
        )
        inputs.append(Input("unit", say(language, "field_unit"), "line", text_of(values, "unit")))
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
        value = text_of(values, name)
        labels = field.labels if value in field.labels else ["", *field.labels]
        options = tuple(Option(label, label, label == value) for label in labels)
        return Input(name, field.name, "select", value, options=options, problem=said.get(name, ""))
    if field.kind == "number":
        return Input(name, field.name, "number", text_of(values, name), unit=field.unit, problem=said.get(name, ""))
    return _area(name, field.name, values, said, fewest=2)


def _own_inputs(values: Values, language: Language, said: Mapping[str, str]) -> list[Input]:
    inputs: list[Input] = []
    for place in range(own_count(values) + SPARE_FIELDS):
        group = f"own_{place}"
        kind = text_of(values, f"{group}_kind") or "text"
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
                    text_of(values, name),
                    options=choices,
                    group=group,
                    problem=said.get(name, ""),
                )
            )
    return inputs


def _area(name: str, label: str, values: Values, said: Mapping[str, str], fewest: int) -> Input:
    value = text_of(values, name)
    lines = sum(len(line) // 34 + 1 for line in value.split("\n"))
    return Input(name, label, "area", value, rows=min(max(lines, fewest), 16), problem=said.get(name, ""))


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
        answer = answer_object(content)
        for field in spec.fields_of(content.fields):
            label = f"{field.name}（{field.unit}）" if field.unit else field.name
            texts.append((label, shown(answer.get(field.name))))
    else:
        unit = f" {content.unit}" if content.unit else ""
        texts.append((say(language, "field_answer"), content.answer + unit))
    return texts


def shown(value: object) -> str:
    """A value of an answer as it stands in a field."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def text_of(values: Mapping[str, str | list[str]], name: str) -> str:
    """A field as one text; empty where it is missing."""
    value = values.get(name, "")
    return value if isinstance(value, str) else "".join(value[:1])


def own_count(values: Mapping[str, str | list[str]]) -> int:
    """How many rows of an item's own fields a form has, empty ones at the end left out."""
    places = [int(match[1]) for name in values if (match := re.fullmatch(r"own_(\d{1,2})_name", name))]
    filled = [place for place in places if any(text_of(values, f"own_{place}_{part}") for part in ("name", "value"))]
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
            values[name] = clean(value)
    return values


def kept_of(values: Values) -> JsonObject:
    """Values as autosave keeps them."""
    return cast(JsonObject, dict(values))  # texts and lists of texts are JSON


def pairs_of(values: Mapping[str, str | list[str]]) -> list[tuple[str, str]]:
    """Values as a form would send them."""
    return [(name, text) for name, value in values.items() for text in ([value] if isinstance(value, str) else value)]
