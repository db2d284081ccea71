"""One answer read: statuses first, the strict form next, the rules, then the model parser for what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from pydantic import JsonValue

from taxpraben.reading.amounts import plain_decimal
from taxpraben.reading.asked import Asked, Form, Found, ReadResult
from taxpraben.reading.fields import find_fields, read_strict
from taxpraben.reading.letters import find_letters
from taxpraben.reading.numbers import STRICT, find_number
from taxpraben.reading.option_text import find_stated_options
from taxpraben.reading.parser import Ask, parse_with_model
from taxpraben.reading.spans import find_span
from taxpraben.reading.surface import is_refusal, until_stop, without_echo, without_reasoning
from taxpraben.records.answer import AnswerStatus
from taxpraben.records.field import Field


def read_answer(
    form: Form,
    text: str,
    *,
    letters: str = "",
    choices: Sequence[str] = (),
    fields: Sequence[Field] = (),
    unit: str = "",
    question: str = "",
    prompt: str = "",
    status: AnswerStatus = "ok",
    ask: Ask | None = None,
) -> ReadResult:
    """Read one raw answer as what its task asks for.

    Args:
        form: single, set, number, span, text or fields.
        text: the answer as the model gave it.
        letters: allowed option letters in order, for choices.
        choices: option texts in the order of the letters, where known.
        fields: the fields of a structured answer.
        unit: the unit of a number, or empty (then the question may name it).
        question: the question as put to the model, without instruction and example.
        prompt: everything that was sent, so that an echo of it is not taken for an answer.
        status: the answer's own status.
        ask: the model parser; asked only where an answer came and the rules leave it unread. Never sees gold.

    Returns:
        Value, strict value, method, evidence (a stretch of the answer), reason and flags; it never raises on any text.
        ``strict_value`` is set only where the answer, reasoning and outer white space apart, is in the asked form.
    """
    return read_asked(
        Asked(form, letters, tuple(choices), tuple(fields), unit, question, prompt), text, status=status, ask=ask
    )


def read_asked(
    asked: Asked, text: str, *, status: AnswerStatus = "ok", ask: Ask | None = None, rules: bool = True
) -> ReadResult:
    """The same as ``read_answer``, with what was asked as one object.

    Args:
        asked: form, options or fields, unit, question and prompt.
        text: the answer as the model gave it.
        status: the answer's own status.
        ask: the model parser.
        rules: whether strict form and rules read first; without them the model parser reads every answer that came,
            which shows where the two differ.
    """
    said = _without_text(status, text)
    if said is not None:
        return said
    flags = {"length"} if status == "length" else set()
    spoken, unclosed = without_reasoning(text)
    if unclosed:
        flags.add("reasoning_unclosed")
    elif spoken.strip() != text.strip():
        flags.add("reasoning_removed")
    spoken = until_stop(spoken)
    if not spoken.strip():
        reason = "the reasoning was never closed" if unclosed else "nothing stands after the reasoning"
        return ReadResult("truncated" if unclosed or status == "length" else "unread", reason=reason).flagged(*flags)
    if is_refusal(spoken.strip()):
        return ReadResult("refused", reason="the model declined to answer", evidence=spoken.strip()).flagged(*flags)
    if asked.form == "text":
        whole = spoken.strip()
        return ReadResult("read", whole, whole, "strict", whole).flagged(*flags)
    if ask is not None and not rules:
        return parse_with_model(asked, spoken, ask).flagged(*flags)
    return _by_form(asked, spoken, status, ask).flagged(*flags)


def _without_text(status: AnswerStatus, text: str) -> ReadResult | None:
    if status in ("error", "too_long"):
        return ReadResult("unread", reason=f"no answer came ({status})", flags=("no_answer",))
    if status in ("refused", "content_filter"):
        return ReadResult("refused", reason=f"no answer came ({status})", evidence=text.strip())
    if not text.strip():
        cut = status == "length"
        return ReadResult("truncated" if cut else "unread", reason="the answer is empty", flags=("empty",))
    return None


def _by_form(asked: Asked, spoken: str, status: AnswerStatus, ask: Ask | None) -> ReadResult:
    strict = _strict(asked, spoken.strip())
    if strict is not None and asked.form not in ("span", "fields"):
        return ReadResult("read", strict, strict, "strict", spoken.strip())
    found = _by_rules(asked, spoken)
    if found.value is not None:
        same = strict is not None and strict == found.value
        return ReadResult(
            "read", found.value, strict, "strict" if same else "rules", found.evidence, flags=tuple(sorted(found.flags))
        )
    if is_refusal(spoken.strip()[:_OPENS]):
        return ReadResult("refused", reason="the model declined to answer", evidence=spoken.strip()[:_OPENS])
    if ask is not None and not found.settled:
        parsed = parse_with_model(asked, spoken, ask)
        if parsed.status != "unread":
            return parsed.flagged(*found.flags)
    cut = status == "length" or "truncated" in found.flags
    return ReadResult("truncated" if cut else "unread", reason=found.reason, flags=tuple(sorted(found.flags)))


_OPENS = 120
"""A longer answer in which nothing can be read is a refusal where it begins with one."""

_RULES: dict[Form, Callable[[str, Asked], Found]] = {
    "single": find_letters,
    "set": find_letters,
    "number": find_number,
    "span": find_span,
    "fields": find_fields,
}


def _by_rules(asked: Asked, spoken: str) -> Found:
    rule = _RULES[asked.form]
    if asked.form in ("single", "set"):
        stated = find_stated_options(spoken, asked)
        if stated is not None:
            return stated
    fresh = without_echo(spoken, asked.prompt, passage=asked.question if asked.form == "span" else "")
    if not fresh.strip():
        return Found(reason="only the prompt is repeated", flags=("echo_removed",), settled=True)
    if fresh is not spoken:
        found = rule(fresh, asked)
        if found.value is not None:
            return Found(found.value, found.evidence, found.reason, (*found.flags, "echo_removed"))
        return found if asked.form == "number" else rule(spoken, asked)
    return rule(spoken, asked)


def _strict(asked: Asked, stripped: str) -> JsonValue:
    if asked.form in ("single", "set"):
        allowed = "".join(letter for letter in asked.letters if letter in stripped)
        size = 1 if asked.form == "single" else len(asked.letters)
        return stripped if stripped == allowed and 1 <= len(stripped) <= size else None
    if asked.form == "number":
        return plain_decimal(Decimal(stripped)) if STRICT.fullmatch(stripped) else None
    if asked.form == "fields":
        return read_strict(stripped, asked)
    return stripped
