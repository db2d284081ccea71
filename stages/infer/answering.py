"""Planned rows become answers: fitted, asked, and every one of them accounted for."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from stages.infer.fitting import Fitted, fit, messages
from stages.infer.params import InferParams
from stages.infer.plan import Planned
from taxpraben.backends.asking import Asker, work_through
from taxpraben.backends.batches import BatchFiles, Wanted
from taxpraben.backends.protocol import ItemView, Reply, Request, Sampling, request_hash
from taxpraben.records.answer import Answer
from taxpraben.tasks.rendering import render

GRACE_S = 15.0
"""Seconds that answers in flight get to arrive when the run is stopped, so that what was paid for is kept."""


@dataclass(frozen=True)
class Prepared:
    """A row made ready: what the model would be asked, or why it is not.

    Attributes:
        request: None where there is nothing to ask.
        reply: the row's reply where it is not asked.
        cut: what was cut of the prompt.
    """

    row: Planned
    request: Request | None
    reply: Reply | None = None
    cut: str = ""


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
        ready = await prepare(row, model, asker, params, typical)
        if ready.reply is not None or ready.request is None:
            reply = ready.reply or Reply(status="error")
        else:
            reply = await asker.ask(ready.request, row.about)
        answer = _row(ready, model, reply)
        step()
        return answer

    return await work_through(rows, work, asker.workers, stop=asker.stop, grace=GRACE_S)


async def prepare(row: Planned, model: str, asker: Asker, params: InferParams, typical: dict[str, str]) -> Prepared:
    """Render a row's prompt, measure it, and cut it where it must be and may be."""
    item = row.item
    if row.setting == "one-shot" and row.example is None:
        return Prepared(row, None, Reply(status="error", error="the release has no one-shot example for this item"))
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
    too_long = Reply(status="too_long", error=fitted.too_long) if fitted.too_long else None
    return Prepared(row, request(fitted.prompt), too_long, fitted.cut)


async def ask_by_batches(
    rows: Sequence[Planned], model: str, asker: Asker, params: InferParams, typical: dict[str, str], files: BatchFiles
) -> int:
    """Have everything that the journal does not answer yet answered by batch files, into the journal.

    Returns:
        How many requests no batch has answered; ``answer_all`` asks them singly.
    """

    async def look(row: Planned) -> Wanted | None:
        ready = await prepare(row, model, asker, params, typical)
        if ready.request is None or ready.reply is not None or asker.known(ready.request) is not None:
            return None
        return Wanted(ready.request, row.about)

    found = await work_through(rows, look, asker.workers)
    wanted = {one.key: one for one in found if one is not None}
    return await files.ask(list(wanted.values())) if wanted or files.under_way else 0


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


def _row(ready: Prepared, model: str, reply: Reply) -> Answer:
    row, request = ready.row, ready.request
    turns = [turn.model_dump() for turn in request.messages] if request is not None else []
    return Answer(
        item_id=row.item.item_id,
        task=row.item.task,
        model=model,
        setting=row.setting,
        run=row.run,
        request=request_hash(request) if request is not None else "",
        prompt=json.dumps(turns, ensure_ascii=False),
        status=reply.status,
        text=reply.text,
        finish_reason=reply.finish_reason,
        error="; ".join(part for part in (ready.cut, reply.error) if part),
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
    )
