"""The rating of prompts: questionnaires of three marks each, filled in by keys."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Request
from starlette.responses import RedirectResponse, Response

from portal.contexts import RatePage, RatingsPage
from portal.guard import FormOf, Visitor, VisitorOf, field_of, queue_of
from portal.render import done_message, render, titles
from taxpraben.queue.prompts import MARKS, METRICS, Questionnaire, my_prompts, rate_prompt
from taxpraben.queue.states import NotFoundError

router = APIRouter()

PromptId = Annotated[str, Path(max_length=80)]


@router.get("/ratings", name="my_ratings")
def my_ratings(request: Request, visitor: VisitorOf, done: str = "") -> Response:
    """The visitor's questionnaires."""
    mine = my_prompts(queue_of(request), visitor.name)
    page = RatingsPage(
        here="my_ratings",
        message=done_message(visitor, done),
        tasks=[
            (task, [each for each in mine if each.task == task]) for task in dict.fromkeys(row.task for row in mine)
        ],
        titles=titles(request, visitor),
        waiting=sum(_waits(each) for each in mine),
        following=next((each.prompt_id for each in mine if _waits(each)), ""),
    )
    return render(request, page)


def _waits(questionnaire: Questionnaire) -> bool:
    return questionnaire.rating is None and not questionnaire.closed


@router.get("/ratings/{prompt_id}", name="rate")
def rate(request: Request, visitor: VisitorOf, prompt_id: PromptId, done: str = "") -> Response:
    """One questionnaire."""
    mine = my_prompts(queue_of(request), visitor.name)
    given: dict[str, int | None] = dict.fromkeys(METRICS)
    found = _find(mine, prompt_id)
    if found.rating is not None:
        given = {metric: getattr(found.rating, metric) for metric in METRICS}
    note = found.rating.note if found.rating is not None else ""
    return _page(request, visitor, mine, found, given, note, message=done_message(visitor, done))


def _find(mine: list[Questionnaire], prompt_id: str) -> Questionnaire:
    """The latest questionnaire on a prompt."""
    found = [each for each in mine if each.prompt_id == prompt_id]
    if not found:
        raise NotFoundError(f"Prompt {prompt_id} was not handed to you")
    return max(found, key=lambda each: each.round)


def _page(
    request: Request,
    visitor: Visitor,
    mine: list[Questionnaire],
    found: Questionnaire,
    given: dict[str, int | None],
    note: str,
    message: str = "",
    problem: str = "",
    status: int = 200,
) -> Response:
    beside = [each for each in mine if (each.task, each.round) == (found.task, found.round)]
    page = RatePage(
        here="my_ratings",
        message=message,
        problem=problem,
        questionnaire=found,
        title=titles(request, visitor).get(found.task, found.task),
        place=beside.index(found) + 1,
        total=len(beside),
        metrics=METRICS,
        marks=MARKS,
        given=given,
        note=note,
    )
    return render(request, page, status)


@router.post("/ratings/{prompt_id}", name="rate_post")
def rate_post(request: Request, visitor: VisitorOf, prompt_id: PromptId, form: FormOf) -> Response:
    """Takes the marks and goes to the next questionnaire that waits."""
    queue = queue_of(request)
    mine = my_prompts(queue, visitor.name)
    found = _find(mine, prompt_id)
    given = {metric: _mark(field_of(form, metric)) for metric in METRICS}
    note = field_of(form, "note")[:2000]
    accuracy, naturalness, informativeness = (given[metric] for metric in METRICS)
    if accuracy is None or naturalness is None or informativeness is None:
        return _page(request, visitor, mine, found, given, note, problem=visitor.say("marks_missing"), status=422)
    rate_prompt(queue, prompt_id, visitor.name, accuracy, naturalness, informativeness, note, round_number=found.round)
    after = mine.index(found)
    following = next((each for each in [*mine[after + 1 :], *mine[:after]] if _waits(each)), None)
    where = f"/ratings/{following.prompt_id}" if following is not None else "/ratings"
    return RedirectResponse(f"{where}?done=rated", status_code=303)


def _mark(text: str) -> int | None:
    return int(text) if text in {str(mark) for mark in MARKS} else None
