"""Planned rows become answers: fitted, asked, and every one of them accounted for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from stages.infer.fitting import Fitted, fit, messages
from stages.infer.params import InferParams
from stages.infer.plan import Planned
from taxpraben.backends.asking import Asker, work_through
from taxpraben.backends.protocol import ItemView, Message, Reply, Request, Sampling, request_hash
from taxpraben.records.answer import Answer
from taxpraben.tasks.rendering import render


async def answer_all(
    rows: Sequence[Planned],
    model: str,
    asker: Asker,
    params: InferParams,
    typical: dict[str, str],
    step: Callable[[], None],
) -> list[Answer]:
    """One answer for each planned row, in the order of the plan.

    Args:
        rows: the plan.
        model: the roster's name.
        asker: asks the model, or answers from its journal.
        params: what holds for the model.
        typical: the majority baseline's answer by item id (baselines only).
        step: called after each row.

    Raises:
        BackendError: the model cannot be asked at all.
    """

    async def work(row: Planned) -> Answer:
        answer = await _answer(row, model, asker, params, typical)
        step()
        return answer

    return await work_through(rows, work, asker.concurrency)


async def _answer(row: Planned, model: str, asker: Asker, params: InferParams, typical: dict[str, str]) -> Answer:
    item = row.item
    if row.setting == "one-shot" and row.example is None:
        reply = Reply(status="error", error="the release has no one-shot example for this item")
        return _row(row, model, [], "", reply)
    limit = params.input_tokens or row.spec.limits.input_tokens
    view = _view(row, typical) if asker.backend.capabilities.item_view else None

    def request(prompt: str) -> Request:
        return Request(
            model=model,
            revision=asker.backend.revision,
            messages=messages(prompt),
            sampling=_sampling(row, params),
            run=row.run,
            view=view,
        )

    fitted = Fitted(render(row.spec, item, row.example))
    known = asker.known(request(fitted.prompt))
    if known is None or not 0 <= known.prompt_tokens <= limit:  # else it was measured when it was asked
        fitted = await fit(row.spec, item, row.example, limit, asker.count_tokens)
    asked = request(fitted.prompt)
    if fitted.too_long:
        reply = Reply(status="too_long", error=fitted.too_long)
    else:
        reply = await asker.ask(asked, row.about)
    return _row(row, model, asked.messages, request_hash(asked), reply, fitted.cut)


def _sampling(row: Planned, params: InferParams) -> Sampling:
    new_tokens = row.spec.limits.new_tokens
    return Sampling(
        max_tokens=min(new_tokens, params.new_tokens or new_tokens),
        temperature=params.temperature,
        top_p=params.top_p,
        seed=params.seed + row.run,
    )


def _view(row: Planned, typical: dict[str, str]) -> ItemView:
    spec, item = row.spec, row.item
    return ItemView(
        form=spec.form,
        text=item.text,
        letters=spec.letters,
        gold_size=spec.gold_size,
        fields=[field.name for field in spec.fields_of(item.fields)],
        typical=typical.get(item.item_id, ""),
    )


def _row(row: Planned, model: str, turns: list[Message], request: str, reply: Reply, cut: str = "") -> Answer:
    return Answer(
        item_id=row.item.item_id,
        task=row.item.task,
        model=model,
        setting=row.setting,
        run=row.run,
        request=request,
        prompt=json.dumps([turn.model_dump() for turn in turns], ensure_ascii=False),
        status=reply.status,
        text=reply.text,
        finish_reason=reply.finish_reason,
        error="; ".join(part for part in (cut, reply.error) if part),
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
    )
