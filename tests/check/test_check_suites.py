"""What each suite finds in a world that is right in all but one place."""

from collections.abc import Callable

import pytest
from checked_world import MODEL, World, standing

from stages.check.suites import answers, decisions, documents, drafts, items, readings, scores, standings
from stages.check.suites.answer_form import fields_problem
from stages.infer.params import InferParams
from taxpraben.records.base import revise
from taxpraben.records.field import Field
from taxpraben.tasks.catalog import find_task, load_catalog
from taxpraben.workspace import PlanParams

SCQ = find_task("TaxSCQ")
Columns = list[dict[str, object]]


def problems(rows: Columns) -> dict[str, dict[str, object]]:
    """Problem columns that are not empty, by column and row."""
    found: dict[str, dict[str, object]] = {}
    for row in rows:
        for column, value in row.items():
            if value and (column.endswith("_problem") or column in ("equal_options", "missing", "surplus")):
                found.setdefault(column, {})[str(row["row"])] = value
    return found


def document_rows(world: World) -> Columns:
    return documents.columns([world.document])


def draft_rows(world: World) -> Columns:
    return drafts.columns(world.drafts, {world.document.document_id: world.document}, SCQ)


def decision_rows(world: World) -> Columns:
    return decisions.columns(world.decisions, {draft.draft_id: draft for draft in world.drafts})


def item_rows(world: World) -> Columns:
    ruled = {decision.draft_id: decision for decision in world.decisions}
    return items.columns(world.items, ruled, SCQ, "0.1.0", 0.6)


def answer_rows(world: World) -> Columns:
    return answers.columns(world.answers, {item.item_id: item for item in world.items}, MODEL)


def reading_rows(world: World) -> Columns:
    return readings.columns(world.readings, {answer.key: answer for answer in world.answers})


def score_rows(world: World) -> Columns:
    return scores.columns(world.scores, {reading.key: reading for reading in world.readings}, load_catalog(), {})


@pytest.mark.parametrize(
    "rows", [document_rows, draft_rows, decision_rows, item_rows, answer_rows, reading_rows, score_rows]
)
def test_a_right_world_states_no_problem(world: World, rows: Callable[[World], Columns]) -> None:
    made = rows(world)
    assert made
    assert problems(made) == {}


# Documents


def test_a_document_says_which_id_it_should_have(world: World) -> None:
    [problem] = problems(documents.columns([revise(world.document, document_id="doc-0")]))["id_problem"].values()
    assert problem == f"should be {world.document.document_id}"


@pytest.mark.parametrize(
    ("published", "effective", "repealed", "said"),
    [
        ("2026-02-30", "", "", "published"),
        ("2026年1月1日", "", "", "published"),
        ("20260101", "", "", "published"),
        ("", "2026-01-02", "2026-01-01", "before effective"),
    ],
)
def test_an_impossible_date_is_named(published: str, effective: str, repealed: str, said: str) -> None:
    assert said in documents.date_problem(published, effective, repealed)


def test_unknown_dates_are_no_problem() -> None:
    assert documents.date_problem("", "2026-01-01", "") == ""


def test_a_part_that_is_not_where_it_says_is_named_in_code_points(world: World) -> None:
    text = "𠮷" + world.document.text  # one code point, two UTF-16 units
    parts = [revise_part(part, start=part.start + 1) for part in world.document.parts]
    assert problems(documents.columns([revise(world.document, text=text, parts=parts)])) == {}
    assert "单选1" in documents.offset_problem(revise(world.document, text=text))


def revise_part(part, **changes: object):
    return type(part).model_validate({**part.model_dump(), **changes})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"answer": "E"}, "beyond its 4 options"),
        ({"options": ["甲", "乙", "甲 "]}, "two equal options"),
        ({"options": ["甲"]}, "fewer than two"),
        ({"answer": ""}, "no answer"),
        ({"stem": " "}, "no stem"),
    ],
)
def test_a_question_that_was_read_badly_is_named(world: World, data: dict[str, object], said: str) -> None:
    part = world.document.parts[0]
    broken = revise_part(part, data={**part.data, **data})
    assert said in documents.question_problem(broken)
    waiting = revise_part(part, data={**part.data, **data, "fault": "set to review by ingest"})
    assert documents.question_problem(waiting) == ""


# Drafts


def test_evidence_that_does_not_stand_in_the_document_is_named(world: World) -> None:
    span = world.drafts[1].evidence[0]
    moved = revise(world.drafts[1], evidence=[{**span.model_dump(), "start": span.start + 1}])
    found = problems(drafts.columns([moved], {world.document.document_id: world.document}, SCQ))
    assert list(found) == ["evidence_problem"]
    assert "is not" in str(found["evidence_problem"][moved.draft_id])


@pytest.mark.parametrize(
    ("changes", "column"),
    [
        ({"document_id": "doc-unknown"}, "document_problem"),
        ({"task": "TaxMCQ"}, "task_problem"),
        ({"slot": "单选99"}, "id_problem"),
        ({"content": None}, "status_problem"),
        ({"status": "failed", "error": "no JSON"}, "status_problem"),
        ({"status": "failed", "content": None}, "status_problem"),
        ({"method": "model"}, "provenance_problem"),
    ],
)
def test_a_draft_that_contradicts_itself_is_named(world: World, changes: dict[str, object], column: str) -> None:
    world.drafts[0] = revise(world.drafts[0], **changes)
    assert column in problems(draft_rows(world))


# Decisions


def test_an_acceptance_of_another_content_says_where_it_differs(world: World) -> None:
    other = type(world.decisions[0].content).model_validate({**world.decisions[0].content.model_dump(), "answer": "B"})
    world.decisions[0] = revise(world.decisions[0], content=other)
    assert problems(decision_rows(world)) == {
        "acceptance_problem": {world.decisions[0].draft_id: "differs from its draft in answer"}
    }


def test_an_acceptance_of_an_older_draft_is_named(world: World) -> None:
    world.decisions[0] = revise(world.decisions[0], draft_digest="0" * 16)
    assert list(problems(decision_rows(world))) == ["acceptance_problem"]


def test_a_fix_may_differ_from_its_draft(world: World) -> None:
    other = type(world.decisions[0].content).model_validate({**world.decisions[0].content.model_dump(), "answer": "B"})
    world.decisions[0] = revise(world.decisions[0], verdict="fixed", content=other)
    assert problems(decision_rows(world)) == {}


@pytest.mark.parametrize(
    ("changes", "column"),
    [
        ({"draft_id": "TaxSCQ-unknown"}, "draft_problem"),
        ({"verdict": "fixed", "content": None}, "fix_problem"),
        ({"verdict": "rejected", "reason": "重复"}, "rejection_problem"),
        ({"verdict": "rejected", "content": None}, "rejection_problem"),
        ({"decided_at": "2026-11-30T08:00:00"}, "time_problem"),
        ({"decided_at": "昨天"}, "time_problem"),
    ],
)
def test_a_ruling_that_contradicts_itself_is_named(world: World, changes: dict[str, object], column: str) -> None:
    world.decisions[0] = revise(world.decisions[0], **changes)
    assert column in problems(decision_rows(world))


# Items


@pytest.mark.parametrize(
    "options",
    [
        ["百分之六", "百分之九", "百分之六", "百分之三"],
        ["6%", "9%", "６％", "3%"],  # width does not make another option
        ["甲 公司", "乙公司", "甲公司", "丙公司"],  # nor does white space
        ["VAT", "无", "vat", "有"],  # nor does case
    ],
)
def test_equal_options_are_named_by_row_letters_and_text(world: World, options: list[str]) -> None:
    world.items[1] = revise(world.items[1], choices=options)
    found = problems(item_rows(world))["equal_options"]
    assert list(found) == [world.items[1].item_id]
    assert str(found[world.items[1].item_id]).startswith("A and C are both")


@pytest.mark.parametrize("options", [["-5", "5", "5%", "0.5"], ["1/2", "12", "1.2", "1:2"]])
def test_signs_and_punctuation_make_different_options(options: list[str]) -> None:
    assert items.equal_options(options) == ""


@pytest.mark.parametrize(
    ("changes", "column"),
    [
        ({"gold": [4], "answer": "E"}, "gold_problem"),
        ({"gold": [0, 1], "answer": "AB"}, "gold_problem"),
        ({"gold": [], "answer": ""}, "gold_problem"),
        ({"answer": "B"}, "answer_problem"),
        ({"choices": ["甲", "乙", "丙"]}, "choices_problem"),
        ({"choices": ["甲", "乙", "丙", " "]}, "choices_problem"),
        ({"query": "请回答。"}, "prompt_problem"),
        ({"prompt": 7}, "prompt_problem"),
        ({"release": "0.2.0"}, "release_problem"),
        ({"task_version": 9}, "release_problem"),
        ({"draft_id": "TaxSCQ-unknown"}, "decision_problem"),
    ],
)
def test_an_item_that_breaks_its_task_is_named(world: World, changes: dict[str, object], column: str) -> None:
    world.items[0] = revise(world.items[0], **changes)
    assert world.items[0].item_id in problems(item_rows(world))[column]


def test_a_set_of_right_options_must_ascend_without_repeats(world: World) -> None:
    spec = find_task("TaxMCQ")
    item = revise(world.items[0], choices=list("甲乙丙丁戊"), gold=[2, 0], answer="CA")
    assert items.gold_problem(item, spec) == "gold [2, 0] is not ascending"
    assert items.gold_problem(revise(item, gold=[0, 0]), spec) == "gold [0, 0] is not ascending"
    assert items.gold_problem(revise(item, gold=[0, 2]), spec) == ""


def test_an_item_is_never_its_own_example(world: World) -> None:
    world.items[0] = revise(world.items[0], example_id=world.items[0].item_id)
    assert problems(item_rows(world))["example_problem"] == {world.items[0].item_id: "is its own example"}


def test_a_near_duplicate_is_no_example(world: World) -> None:
    twin = revise(world.items[1], text=world.items[0].text.replace("云栖", "云溪").replace("（", "("))
    world.items[1] = twin
    world.items[0] = revise(world.items[0], example_id=twin.item_id)
    assert "alike to its example" in str(problems(item_rows(world))["example_problem"][world.items[0].item_id])


def test_like_cues_with_other_answers_are_no_near_duplicates(world: World) -> None:
    cue = "2026年1月1日公布的《云栖示范办法（虚构，仅供测试）》中第{}条的内容是什么？"
    rules = ["纳税人应当按季申报并于季度终了十五日内缴清税款", "税务机关可以委托有关单位代征并付给手续费"]
    pair = [
        revise(item, task="TaxRecite", text=cue.format(number), answer=answer, choices=[], gold=[])
        for item, number, answer in zip(world.items, "三七", rules, strict=False)
    ]
    pair[0] = revise(pair[0], example_id=pair[1].item_id)
    rows = items.columns(pair, {}, find_task("TaxRecite"), "0.1.0", 0.6)
    assert rows[0]["example_problem"] == ""


def test_an_example_stands_in_the_same_release(world: World) -> None:
    world.items[0] = revise(world.items[0], example_id="TaxSCQ-elsewhere")
    assert "not in the release" in str(problems(item_rows(world))["example_problem"][world.items[0].item_id])


FIELDS = [Field(name="思路", kind="text"), Field(name="税额", kind="number", unit="万元")]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('{"思路": "分立", "税额": "12.5"}', ""),
        ('{"税额": "12.5", "思路": "分立"}', ""),
        ('{"思路": "分立"}', "instead of"),
        ('{"思路": "分立", "税额": "12.5", "注": "无"}', "instead of"),
        ('{"思路": "", "税额": "12.5"}', "'思路' is empty"),
        ('{"思路": "分立", "税额": "12.5万元"}', "not a plain number"),
        ('{"思路": "分立", "税额": "NaN"}', "not a plain number"),
        ("思路：分立", "not JSON"),
        ("[1]", "not a JSON object"),
    ],
)
def test_a_structured_answer_has_its_fields_each_of_its_kind(answer: str, said: str) -> None:
    found = fields_problem(answer, FIELDS)
    assert said in found
    assert bool(found) == bool(said)


def test_a_label_field_takes_its_labels_only() -> None:
    field = Field(name="罪名", kind="label", labels=["逃税罪"])
    assert fields_problem('{"罪名": "逃税罪"}', [field]) == ""
    assert "not one of its labels" in fields_problem('{"罪名": "偷税"}', [field])


def test_lengths_of_table_c3_are_warnings_and_never_failures() -> None:
    for spec in load_catalog().values():
        bounds = {rule.column: rule for rule in items.suite(spec).rules if rule.column.endswith("_length")}
        assert {name: rule.severity for name, rule in bounds.items()} == {
            "text_length": "warning", "answer_length": "warning",
        }  # fmt: skip
        assert bounds["text_length"].kwargs == {"min_value": spec.lengths.input[0], "max_value": spec.lengths.input[1]}


def test_every_task_of_the_catalogue_has_a_suite_whose_columns_are_computed(world: World) -> None:
    [row, *_] = item_rows(world)
    for spec in load_catalog().values():
        assert set(items.suite(spec).columns) <= set(row)


# Answers, readings, scores


PLAN = PlanParams(runs=1)


def test_a_full_plan_states_no_problem(world: World) -> None:
    rows = answers.plan_columns(world.answers, world.items, PLAN)
    assert [row["row"] for row in rows] == ["TaxSCQ one-shot", "TaxSCQ zero-shot"]
    assert problems(rows) == {}


def test_a_hole_in_the_plan_is_named_by_setting_run_and_item(world: World) -> None:
    lost = world.answers.pop()
    rows = answers.plan_columns(world.answers, world.items, PLAN)
    assert problems(rows) == {"missing": {"TaxSCQ one-shot": f"run 1 has 2 of 3: {lost.item_id}"}}


def test_an_item_that_no_cell_has_is_missed_by_number(world: World) -> None:
    given = [answer for answer in world.answers if answer.item_id != world.items[0].item_id]
    rows = answers.plan_columns(given, world.items, PLAN)
    assert problems(rows) == {
        "missing": {"TaxSCQ one-shot": "run 1 has 2 of 3", "TaxSCQ zero-shot": "run 1 has 2 of 3"}
    }
    assert problems(answers.plan_columns(given, world.items, PlanParams(runs=1, items_per_task=2))) == {}


def test_a_setting_or_a_run_that_was_never_asked_for_is_missed(world: World) -> None:
    given = [answer for answer in world.answers if answer.setting == "zero-shot"]
    rows = answers.plan_columns(given, world.items, PLAN)
    assert problems(rows) == {"missing": {"TaxSCQ one-shot": "0 runs instead of 1"}}
    rows = answers.plan_columns(world.answers, world.items, PlanParams(runs=2, settings=["zero-shot"]))
    assert problems(rows) == {
        "missing": {"TaxSCQ zero-shot": "1 runs instead of 2"}, "surplus": {"TaxSCQ one-shot": "this cell"},
    }  # fmt: skip


def test_a_models_plan_is_the_stages_then_its_groups_then_its_own() -> None:
    overrides = {"baseline": {"runs": 1}, "model-a": {"items_per_task": 3, "temperature": 0.0}}
    plan = PlanParams(overrides=overrides).of_model("model-a", "baseline")
    assert (plan.runs, plan.items_per_task, plan.settings) == (1, 3, ["zero-shot", "one-shot"])
    assert PlanParams(overrides=overrides).of_model("model-b", "tax").runs == 5


def test_the_plan_that_check_expects_is_the_plan_that_infer_keeps() -> None:
    section = {"runs": 3, "temperature": 0.0, "overrides": {"baseline": {"items_per_task": 2, "new_tokens": 48}}}
    theirs, ours = (kind.model_validate(section).of_model("random", "baseline") for kind in (InferParams, PlanParams))
    assert theirs.model_dump(include=set(PlanParams.model_fields)) == ours.model_dump()
    # A changed default of the stage must be the one that is checked: it stands once.
    assert not set(PlanParams.model_fields) - {"overrides"} & set(InferParams.__annotations__)


@pytest.mark.parametrize(
    ("changes", "column"),
    [
        ({"status": "ok", "text": " "}, "status_problem"),
        ({"status": "empty"}, "status_problem"),
        ({"status": "error", "text": ""}, "status_problem"),
        ({"request": ""}, "request_problem"),
        ({"item_id": "TaxSCQ-unknown"}, "item_problem"),
        ({"model": "model-b"}, "model_problem"),
    ],
)
def test_an_answer_that_contradicts_itself_is_named(world: World, changes: dict[str, object], column: str) -> None:
    world.answers[0] = revise(world.answers[0], **changes)
    assert column in problems(answer_rows(world))


def test_an_answer_without_a_reading_is_named(world: World) -> None:
    lost = world.readings.pop()
    found = problems(reading_rows(world))
    assert found == {"answer_problem": {f"{lost.item_id} {lost.setting} {lost.run}": "the answer has no reading"}}


@pytest.mark.parametrize(
    ("changes", "column"),
    [
        ({"request": "other"}, "answer_problem"),
        ({"value": None}, "status_problem"),
        ({"status": "unread", "value": None, "method": ""}, "status_problem"),
        ({"method": "model", "evidence": "选B"}, "evidence_problem"),
        ({"method": "model", "evidence": ""}, "evidence_problem"),
    ],
)
def test_a_reading_that_contradicts_its_answer_is_named(world: World, changes: dict[str, object], column: str) -> None:
    world.readings[0] = revise(world.readings[0], **changes)
    assert list(problems(reading_rows(world))) == [column]


@pytest.mark.parametrize(
    ("metric", "value", "sound"),
    [
        ("accuracy", 1.0, True),
        ("accuracy", 1.01, False),
        ("exact_match", -0.1, False),
        ("bertscore", -0.2, True),
        ("bartscore", -4.2, True),
        ("bartscore", 0.5, False),
        ("likelihood", -3.5, True),
        ("accuracy", float("nan"), False),
        ("a_new_metric", 250.0, True),
        ("a_new_metric", float("nan"), False),
        ("bartscore", float("-inf"), False),
    ],
)
def test_a_score_lies_in_its_metrics_range(world: World, metric: str, value: float, sound: bool) -> None:
    assert (scores.range_problem(revise(world.scores[0], metric=metric, value=value)) == "") is sound


@pytest.mark.parametrize(
    ("changes", "column"),
    [
        ({"metric": "bertscore"}, "metric_problem"),
        ({"run": 9}, "reading_problem"),
        ({"status": "refused"}, "status_problem"),
        ({"value": None, "gold": ""}, "label_problem"),
    ],
)
def test_a_score_that_contradicts_its_reading_is_named(world: World, changes: dict[str, object], column: str) -> None:
    world.scores[0] = revise(world.scores[0], **changes)
    assert column in problems(score_rows(world))


def test_what_was_read_but_not_in_the_asked_form_counts_as_unread_under_strict_only(world: World) -> None:
    strict = [revise(score, status="unread") if score.protocol == "strict" else score for score in world.scores]
    by_key = {reading.key: reading for reading in world.readings}
    assert problems(scores.columns(strict, by_key, load_catalog(), {})) == {}
    aligned = [revise(score, status="unread") if score.protocol == "aligned" else score for score in world.scores]
    assert list(problems(scores.columns(aligned, by_key, load_catalog(), {}))) == ["status_problem"]


def test_a_metric_may_stand_in_for_another_under_its_own_name(world: World) -> None:
    world.scores = [revise(s, metric="mcc") if s.metric == "macro_f1" else s for s in world.scores]
    assert "metric_problem" in problems(score_rows(world))
    by_key = {reading.key: reading for reading in world.readings}
    stands_in = {"macro_f1": "mcc"}
    assert problems(scores.columns(world.scores, by_key, load_catalog(), stands_in)) == {}
    assert problems(scores.coverage_columns(world.scores, world.readings, load_catalog(), stands_in)) == {}


def test_an_answer_cut_at_the_limit_may_be_empty_and_an_unasked_one_has_no_request(world: World) -> None:
    world.answers[0] = revise(world.answers[0], status="length", text="")
    world.answers[1] = revise(world.answers[1], status="error", text="", error="no example", request="")
    assert problems(answer_rows(world)) == {}


def test_the_model_parsers_evidence_is_found_whatever_its_width_and_white_space(world: World) -> None:
    world.readings[0] = revise(world.readings[0], method="model", evidence=" 选 Ａ")
    assert problems(reading_rows(world)) == {}


def test_a_reading_without_one_of_its_scores_is_named(world: World) -> None:
    lost = world.scores.pop()
    rows = scores.coverage_columns(world.scores, world.readings, load_catalog(), {})
    assert problems(rows) == {
        "missing": {f"{lost.item_id} {lost.setting} {lost.run}": f"{lost.protocol} {lost.metric}"}
    }


# Standings

MEMORISE = [spec.name for spec in load_catalog().values() if spec.level == "KM"]


def standing_problems(*rows: object, roster: tuple[str, ...] = ("a", "b")) -> dict[str, dict[str, object]]:
    return problems(standings.columns(list(rows), roster, load_catalog()))


def test_a_group_that_is_its_datasets_mean_states_no_problem() -> None:
    rows = [
        standing("a", "dataset", "TaxRecite", 0.5, 1), standing("a", "group", "KM", 0.5, 1),
        standing("b", "dataset", "TaxRecite", 0.4, 1), standing("b", "group", "KM", 0.4, 1),
    ]  # fmt: skip
    assert MEMORISE == ["TaxRecite"]
    assert standing_problems(*rows) == {}


def test_a_group_that_is_not_its_datasets_mean_is_named() -> None:
    rows = [standing("a", "dataset", "TaxRecite", 0.5, 1), standing("a", "group", "KM", 0.6, 1)]
    assert list(standing_problems(*rows)) == ["group_problem"]


def test_a_group_that_lacks_a_dataset_is_blank_and_says_which() -> None:
    blank = standing("a", "group", "KM", None, None, missing=["TaxRecite"], signature="")
    assert standing_problems(blank) == {}
    zero = standing("a", "group", "KM", 0.0, 1, missing=["TaxRecite"])
    assert list(standing_problems(zero)) == ["blank_problem"]
    assert list(standing_problems(standing("a", "group", "KM", 0.5, 1))) == ["group_problem"]


@pytest.mark.parametrize(
    ("changes", "column"),
    [
        ({"mean": 1.5, "high": 1.6}, "range_problem"),
        ({"low": None}, "interval_problem"),
        ({"low": 0.9}, "interval_problem"),
        ({"rank": None}, "rank_problem"),
        ({"rank": 2}, "rank_problem"),
        ({"model": "stranger"}, "model_problem"),
        ({"signature": ""}, "signature_problem"),
    ],
)
def test_a_standing_that_contradicts_itself_is_named(changes: dict[str, object], column: str) -> None:
    row = revise(standing("a", "dataset", "TaxRecite", 0.5, 1), **changes)
    assert column in standing_problems(row)


def test_shared_ranks_are_no_problem_but_a_better_mean_with_a_worse_rank_is() -> None:
    shared = [standing("a", "dataset", "TaxRecite", 0.5, 1), standing("b", "dataset", "TaxRecite", 0.5, 1)]
    assert standing_problems(*shared) == {}
    turned = [standing("a", "dataset", "TaxRecite", 0.5, 2), standing("b", "dataset", "TaxRecite", 0.4, 1)]
    assert list(standing_problems(*turned)) == ["order_problem"]


def test_a_share_outside_0_to_1_shows_in_the_checked_column() -> None:
    [row] = standings.columns([standing("a", "dataset", "TaxRecite", 0.5, 1, refused=1.2)], ["a"], load_catalog())
    assert row["shares"] == 1.2
