"""The JSON API: the acts of the pages for programs, and its OpenAPI document held against what it does."""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Callable

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from portal_samples import content_of, draft_of, fill

from taxpraben.queue.accounts import make_api_token
from taxpraben.queue.intake import export_decisions
from taxpraben.queue.prompts import add_prompts, assign_prompts, my_prompts
from taxpraben.queue.store import Queue
from taxpraben.records.content import Content
from taxpraben.tasks.catalog import load_catalog

Ask = Callable[..., object]


@pytest.fixture
def caller(app: FastAPI, queue: Queue) -> Callable[[str], TestClient]:
    def of(role: str) -> TestClient:
        secret = make_api_token(queue, f"{role}-1", "trial", "write", "admin-1")
        return TestClient(app, headers={"Authorization": f"Bearer {secret}"})

    return of


def test_a_program_claims_saves_and_submits(caller: Callable[[str], TestClient], queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA", number) for number in range(3)])
    api = caller("annotator")
    accepted, fixed, skipped = api.post("/api/claims", json={"count": 3, "task": "TaxQA"}).json()["work_ids"]
    assert [each["work_id"] for each in api.get("/api/works").json()] == [accepted, fixed, skipped]
    assert api.get(f"/api/works/{fixed}").json()["draft"]["answer"] == "应当补缴税款"
    kept = api.put(f"/api/works/{fixed}/text", json={"version": 0, "form": {"answer": "写到一半"}})
    assert kept.json()["version"] == 1
    content = {"text": "题目", "answer": "改好的答案"}
    fix = {"verdict": "fixed", "content": content, "version": 1}
    assert api.post(f"/api/works/{fixed}/submission", json=fix).json() == {"state": "accepted"}
    assert api.post(f"/api/works/{accepted}/submission", json={"verdict": "accepted"}).status_code == 200
    assert api.post(f"/api/works/{skipped}/skip", json={"reason": "看不清"}).json() == {"state": "skipped"}
    assert [(row.verdict, row.annotator) for row in export_decisions(queue)] == [
        ("accepted", "annotator-1"),
        ("fixed", "annotator-1"),
    ]


def test_a_stale_save_and_submission_get_the_current_text(caller: Callable[[str], TestClient], queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    api = caller("annotator")
    work = api.post("/api/claims", json={}).json()["work_ids"][0]
    api.put(f"/api/works/{work}/text", json={"version": 0, "form": {"answer": "先写的"}})
    reply = api.put(f"/api/works/{work}/text", json={"version": 0, "form": {"answer": "后写的"}})
    assert (reply.status_code, reply.json()["kind"], reply.json()["theirs"]["answer"]) == (409, "conflict", "先写的")
    reply = api.post(f"/api/works/{work}/submission", json={"verdict": "accepted", "version": 0})
    assert (reply.status_code, reply.json()["version"]) == (409, 1)


def test_a_fix_that_breaks_the_tasks_rules_is_refused_by_rule(
    caller: Callable[[str], TestClient], queue: Queue
) -> None:
    fill(queue, [draft_of("TaxSCQ")])
    api = caller("annotator")
    work = api.post("/api/claims", json={}).json()["work_ids"][0]
    wrong = content_of(load_catalog()["TaxSCQ"]).model_dump() | {"gold": [0, 1], "answer": "AB"}
    reply = api.post(f"/api/works/{work}/submission", json={"verdict": "fixed", "content": wrong})
    assert reply.status_code == 422
    assert reply.json()["problems"] == ["2 right options instead of 1 to 1"]


def test_a_misspelt_name_is_refused_and_not_passed_over(caller: Callable[[str], TestClient], queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    reply = caller("annotator").post("/api/claims", json={"cuont": 5})
    assert reply.status_code == 422
    assert "cuont" in reply.json()["problems"][0]


def test_an_annotator_sees_nothing_of_anothers_judgement(caller: Callable[[str], TestClient], queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")], overlap=2, spot_checks=5)
    expert, annotator = caller("expert"), caller("annotator")
    work = expert.post("/api/claims", json={}).json()["work_ids"][0]
    expert.post(f"/api/works/{work}/comments", json={"text": "内部意见"})
    expert.post(f"/api/works/{work}/submission", json={"verdict": "rejected", "reason": "专家的理由"})
    text = annotator.get(f"/api/works/{work}").text
    assert "专家的理由" not in text
    assert "expert-1" not in text
    assert "drafter-x" not in text
    assert annotator.get(f"/api/works/{work}/comments").status_code == 404
    assert annotator.post(f"/api/works/{work}/comments", json={"text": "?"}).status_code == 404


def test_checkers_return_and_experts_settle(caller: Callable[[str], TestClient], queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")], overlap=2)
    one, other, expert = caller("annotator"), caller("checker"), caller("expert")
    first = one.post("/api/claims", json={}).json()["work_ids"][0]
    second = other.post("/api/claims", json={}).json()["work_ids"][0]
    one.post(f"/api/works/{first}/submission", json={"verdict": "accepted"})
    other.post(f"/api/works/{second}/submission", json={"verdict": "rejected", "reason": "重复"})
    draft = one.get(f"/api/works/{first}").json()["draft_id"]
    settlement = {"verdict": "fixed", "content": {"text": "题目", "answer": "第三种答案"}}
    assert one.post(f"/api/drafts/{draft}/settlement", json=settlement).status_code == 403
    assert expert.post(f"/api/drafts/{draft}/settlement", json=settlement).status_code == 200
    assert [row.content.answer for row in export_decisions(queue) if row.content] == ["第三种答案"]
    figures = expert.get("/api/agreement").json()
    assert {each["percent"] for each in figures} == {0.0}


def test_prompts_are_rated_and_progress_is_told(caller: Callable[[str], TestClient], queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    add_prompts(queue, "TaxQA", ["问法一", "问法二"], "admin-1")
    assign_prompts(queue, "TaxQA", ["annotator-1"], "admin-1", per_person=1)
    api = caller("annotator")
    prompt = api.get("/api/ratings").json()[0]["prompt_id"]
    marks = {"accuracy": 3, "naturalness": 2, "informativeness": 1}
    assert api.put(f"/api/ratings/{prompt}", json=marks).status_code == 200
    assert api.put(f"/api/ratings/{prompt}", json={**marks, "accuracy": 4}).status_code == 422
    rating = my_prompts(queue, "annotator-1")[0].rating
    assert rating is not None
    assert (rating.accuracy, rating.naturalness, rating.informativeness) == (3, 2, 1)
    assert api.get("/api/progress").json()["tasks"][0]["needed"] == 1


def test_a_share_goes_out_and_comes_back(caller: Callable[[str], TestClient], queue: Queue) -> None:
    fill(queue, [draft_of("TaxQA")])
    api = caller("annotator")
    api.post("/api/claims", json={})
    row = json.loads(api.get("/api/share").text)
    filled = json.dumps({**row, "verdict": "accepted"}, ensure_ascii=False).encode()
    report = api.post("/api/share", content=filled).json()
    assert len(report["taken"]) == 1
    assert [each.verdict for each in export_decisions(queue)] == ["accepted"]


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1+1", " =1+1", "＝1+1"]


def test_no_cell_of_the_csv_is_a_formula_and_numbers_stay_numbers(
    caller: Callable[[str], TestClient], queue: Queue
) -> None:
    drafts = [draft_of("TaxQA", at, Content(text=text, answer=text)) for at, text in enumerate(FORMULAS)]
    fill(queue, [*drafts, draft_of("TaxCalc", 9)])
    api = caller("admin")
    for work in api.post("/api/claims", json={"count": 20}).json()["work_ids"]:
        assert api.post(f"/api/works/{work}/submission", json={"verdict": "accepted"}).status_code == 200
    data = api.get("/api/decisions?format=csv").content.decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(data, newline="")))
    assert len(rows) == len(FORMULAS) + 1
    cells = [cell for row in rows for cell in row.values()]
    assert [cell for cell in cells if cell.lstrip()[:1] in tuple("=+@＝") or cell.startswith(("\t", "-2"))] == []
    assert {row["answer"] for row in rows} == {f"'{text}" for text in FORMULAS} | {"-72.75"}


@pytest.mark.parametrize("text", ["a\x00b", "\ud800"])
def test_text_that_no_database_keeps_is_refused(caller: Callable[[str], TestClient], queue: Queue, text: str) -> None:
    fill(queue, [draft_of("TaxQA")])
    api = caller("annotator")
    work = api.post("/api/claims", json={}).json()["work_ids"][0]
    body = json.dumps({"text": text}).encode()
    reply = api.post(f"/api/works/{work}/comments", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 422


@pytest.mark.slow
def test_the_api_does_what_its_openapi_document_says(app: FastAPI, queue: Queue) -> None:
    import hypothesis
    import schemathesis
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
        unsupported_method,
    )

    fill(queue, [draft_of("TaxQA", number) for number in range(5)])
    add_prompts(queue, "TaxQA", ["问法一", "问法二"], "admin-1")
    assign_prompts(queue, "TaxQA", ["admin-1"], "admin-1", per_person=1)
    secret = make_api_token(queue, "admin-1", "trial", "write", "admin-1")
    headers = {"Authorization": f"Bearer {secret}"}
    work = TestClient(app, headers=headers).post("/api/claims", json={"count": 3}).json()["work_ids"][0]
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app)
    checks = [
        not_a_server_error,
        status_code_conformance,
        content_type_conformance,
        response_schema_conformance,
        unsupported_method,
    ]
    examples = int(os.environ.get("TAXPRABEN_API_EXAMPLES", "12"))
    tried = 0
    for result in schema.get_all_operations():
        operation = result.ok()

        @hypothesis.settings(
            max_examples=examples,
            deadline=None,
            database=None,
            derandomize=True,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        @hypothesis.given(case=operation.as_strategy(), there=hypothesis.strategies.booleans())
        def holds(case: schemathesis.Case, there: bool) -> None:
            nonlocal tried
            tried += 1
            if there and "work_id" in (case.path_parameters or {}):
                case.path_parameters["work_id"] = work
            case.call_and_validate(headers=headers, checks=checks)

        holds()
    assert tried > 20 * examples / 2
