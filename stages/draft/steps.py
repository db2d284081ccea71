"""A draft's model calls: text, JSON (with one repair) and verdicts, through an asker."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from pydantic import JsonValue

from stages.draft.params import DraftParams
from stages.draft.slots import Slot, Variables
from stages.draft.templates import as_figure, as_text, fill
from taxpraben.backends.asking import Asker
from taxpraben.backends.protocol import Message, Reply, Request, Sampling, request_hash
from taxpraben.tasks.spec import DraftStep

ON_TOPIC = "是"

LONGEST_FIGURE = 30
"""Digits before or behind the point; a longer number is no figure, and 1e999999999 would fill the memory."""


class StepFailedError(ValueError):
    """A step whose reply cannot be used, after one repair where that could help."""


class OffTopicError(ValueError):
    """A filter step found the document off topic."""


@dataclass
class Calls:
    """The model calls of one draft: the slot's variables as the steps change them, and the requests, in order."""

    slot: Slot
    params: DraftParams
    asker: Asker
    variables: Variables
    requests: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    async def run(self) -> None:
        """Take the task's steps in order.

        Raises:
            StepFailedError: a reply cannot be used.
            OffTopicError: a verdict was not 是.
            NothingToFillError: a step's prompt needs what the source has not.
        """
        for step in self.slot.spec.drafting.steps:
            if step.over and len(as_text(self.variables.get(step.into))) <= step.over:
                continue
            await self._take(step)

    async def _take(self, step: DraftStep) -> None:
        turns = [Message(role="user", content=fill(step.prompt, self.variables))]
        reply = await self._ask(step, turns)
        if step.reply == "verdict":
            if not reply.text.strip().startswith(ON_TOPIC):
                raise OffTopicError(f"{step.name}: {reply.text.strip()[:20] or 'no answer'}")
            return
        if step.reply == "json":
            found = await self._read_json(step, turns, reply)
            self.variables |= {step.name: found} | {key: found[key] for key in step.keys}
            return
        text = reply.text.strip()
        if not text:
            raise StepFailedError(f"{step.name}: empty reply")
        if reply.status == "length":
            self.notes.append(f"{step.name}: cut at {step.new_tokens} tokens")
        self.variables[step.into or step.name] = text

    async def _read_json(self, step: DraftStep, turns: list[Message], reply: Reply) -> dict[str, JsonValue]:
        try:
            return parse_object(reply.text, step.keys)
        except ValueError as problem:
            wanted = "、".join(step.keys) or "题目要求的各项"
            again = f"上面的输出不合要求（{problem}）。请只输出一个合格的JSON对象，键为：{wanted}，不要输出其他文字。"
            said = Message(role="assistant", content=reply.text or "（空）")
            repaired = await self._ask(step, [*turns, said, Message(role="user", content=again)])
            try:
                found = parse_object(repaired.text, step.keys)
            except ValueError as still:
                raise StepFailedError(f"{step.name}: {still}, also after one repair") from still
            self.notes.append(f"{step.name}: repaired once")
            return found

    async def _ask(self, step: DraftStep, turns: list[Message]) -> Reply:
        backend = self.asker.backend
        request = Request(
            model=self.params.drafter,
            revision=backend.revision,
            messages=turns,
            sampling=Sampling(max_tokens=step.new_tokens, temperature=self.params.temperature, seed=self.params.seed),
        )
        self.requests.append(request_hash(request))
        slot = self.slot
        reply = await self.asker.ask(request, f"{slot.spec.name}/{step.name}/{slot.document.document_id}/{slot.name}")
        if reply.status in ("error", "too_long", "content_filter", "refused"):
            raise StepFailedError(f"{step.name}: {reply.status}: {reply.error or reply.text[:80]}")
        return reply


def parse_object(text: str, keys: list[str]) -> dict[str, JsonValue]:
    """The JSON object in a reply, whatever stands around it.

    Whole numbers are int; a number with decimals or an exponent is the text of its exact digits, since a float would
    round it.

    Args:
        text: the reply.
        keys: keys that must be there and hold something; none means any object with a value.

    Raises:
        ValueError: there is no such object; the message says in Chinese what is wrong, for the model to mend.
    """
    begin, end = text.find("{"), text.rfind("}")
    if begin < 0 or end < begin:
        raise ValueError("没有JSON对象")
    try:
        found = json.loads(
            text[begin : end + 1], strict=False, parse_float=_figure, parse_int=_whole, parse_constant=_no_number
        )
        as_text(found).encode()
    except json.JSONDecodeError as error:
        raise ValueError(f"JSON格式有误：第{error.pos + 1}个字符处") from error
    except UnicodeEncodeError as error:
        raise ValueError("JSON格式有误：有不成对的\\ud转义字符") from error
    except RecursionError as error:
        raise ValueError("JSON格式有误：嵌套太深") from error
    missing = [key for key in keys if not as_text(found.get(key))]
    if missing:
        raise ValueError(f"缺少：{'、'.join(missing)}")
    if not any(map(as_text, found.values())):
        raise ValueError("JSON对象是空的")
    kept: dict[str, JsonValue] = found
    return kept


def _figure(literal: str) -> str:
    try:
        number = Decimal(literal)
    except InvalidOperation:  # an exponent beyond what decimals have
        raise _too_long(literal) from None
    _, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int) or max(len(digits) + exponent, -exponent) > LONGEST_FIGURE:
        raise _too_long(literal)
    return as_figure(number)


def _whole(literal: str) -> int:
    if len(literal.removeprefix("-")) > LONGEST_FIGURE:
        raise _too_long(literal)
    return int(literal)


def _too_long(literal: str) -> ValueError:
    return ValueError(f"JSON格式有误：数字{literal[:12]}……位数太多")


def _no_number(constant: str) -> JsonValue:
    raise ValueError(f"JSON格式有误：{constant}不是数字")
