from __future__ import annotations

import json
from pathlib import Path

import pytest

from stages.draft.drafting import Drafted, draft_all
from stages.draft.params import DraftParams
from stages.draft.slots import find_slots
from stages.draft.steps import parse_object
from taxpraben.backends.asking import Asker, Manners
from taxpraben.backends.journal import Journal
from taxpraben.backends.protocol import Reply
from taxpraben.records.document import Document, DocumentPart
from taxpraben.records.draft import Draft, Span
from taxpraben.tasks.catalog import find_task
from tests.draft.samples import Told, make_document, make_question

PARAMS = DraftParams(drafter="told")


async def drafted(told: Told, folder: Path, task: str, *documents: Document) -> Drafted:
    slots = find_slots(find_task(task), documents)
    with Journal(folder / "draft.jsonl") as journal:
        async with Asker(told, journal, Manners(attempts=1)) as asker:
            return await draft_all(slots, PARAMS, asker, lambda: None)


async def one(told: Told, folder: Path, task: str, *documents: Document) -> Draft:
    (draft,) = (await drafted(told, folder, task, *documents)).drafts[task]
    return draft


async def test_what_the_source_answers_is_parsed_without_a_drafter(tmp_path: Path) -> None:
    told = Told()
    article = "纳税人应当按月申报。"
    text = f"第一条 {article}"
    statute = make_document(
        "statute",
        [DocumentPart(kind="article", label="第一条", text=article, start=4)],
        title="示范条例",
        text=text,
        published="2025-03-01",
        effective="2025-04-01",
    )
    draft = await one(told, tmp_path, "TaxRecite", statute)
    assert draft.content is not None
    assert draft.content.text == "2025年3月1日公布的《示范条例》中第一条的内容是什么？"
    assert draft.content.answer == article
    assert (draft.method, draft.status, draft.prompt, draft.model, draft.requests) == ("parsed", "drafted", "", "", [])
    assert draft.evidence == [Span(start=4, end=14, text=article)]
    assert draft.effective == "2025-04-01"
    assert told.opened is False


async def test_a_model_draft_keeps_prompt_version_model_and_requests(tmp_path: Path) -> None:
    told = Told('好的：```json\n{"question": "有几项措施？", "answer": "三项便民措施"}\n```')
    draft = await one(told, tmp_path, "TaxRead", make_document("news"))
    assert draft.content is not None
    assert draft.content.text.endswith("窗口延长服务一小时。问题：有几项措施？")
    assert draft.content.answer == "三项便民措施"
    assert (draft.method, draft.prompt, draft.model, len(draft.requests)) == ("model", "TaxRead@1", "told", 1)
    assert [span.text for span in draft.evidence] == ["三项便民措施"]


async def test_a_malformed_reply_is_repaired_once_with_what_is_wrong(tmp_path: Path) -> None:
    told = Told("我不会输出JSON", '{"question": "有几项？", "answer": "三项便民措施"}')
    draft = await one(told, tmp_path, "TaxRead", make_document("news"))
    assert (draft.status, draft.error, len(draft.requests)) == ("drafted", "make: repaired once", 2)
    repair = told.questions[1]
    assert [turn.role for turn in repair] == ["user", "assistant", "user"]
    assert "没有JSON对象" in repair[2].content
    assert "question、answer" in repair[2].content


async def test_a_reply_that_stays_malformed_is_a_failed_draft_not_a_third_try(tmp_path: Path) -> None:
    told = Told("不", '{"question": "有几项？"}', "never asked for")
    draft = await one(told, tmp_path, "TaxRead", make_document("news"))
    assert (draft.status, draft.content, len(told.questions)) == ("failed", None, 2)
    assert draft.error == "make: 缺少：answer, also after one repair"


@pytest.mark.parametrize(
    ("replies", "asked", "error"),
    [(["否"], 1, "relevant: 否"), (["是", "不是"], 2, "substantial: 不是"), ([""], 1, "relevant: no answer")],
)
async def test_both_filters_can_drop_an_opinion(tmp_path: Path, replies: list[str], asked: int, error: str) -> None:
    told = Told(*replies)
    draft = await one(told, tmp_path, "TaxOpinion", make_document("opinion"))
    assert (draft.status, draft.content, draft.error, len(told.questions)) == ("filtered", None, error, asked)


async def test_an_opinion_that_passes_is_summarised(tmp_path: Path) -> None:
    told = Told("是。", "是", "市民反映窗口少。")
    draft = await one(told, tmp_path, "TaxOpinion", make_document("opinion"))
    assert draft.content is not None
    assert (draft.content.answer, len(draft.requests)) == ("市民反映窗口少。", 3)  # short enough for no compression


async def test_a_long_text_is_compressed_and_the_later_steps_see_the_short_one(tmp_path: Path) -> None:
    told = Told("压缩后的帖子", "是", "是", "摘要")
    told.replies = [Reply(status="ok", text=text) for text in ("是", "是", "压缩后的帖子", "摘要")]
    draft = await one(told, tmp_path, "TaxOpinion", make_document("opinion", text="帖" * 1700))
    assert draft.content is not None
    assert (draft.content.text, draft.content.answer) == ("压缩后的帖子", "摘要")
    assert "压缩后的帖子" in told.questions[3][0].content
    assert "帖帖帖" not in told.questions[3][0].content


async def test_a_short_verdict_needs_no_model_and_counts_as_parsed(tmp_path: Path) -> None:
    told = Told()
    facts = DocumentPart(
        kind="facts", label="事实", text="甲某虚开发票三份。", data={"articles": ["刑法第二百零五条之一"]}
    )
    draft = await one(told, tmp_path, "TaxCrime", make_document("verdict", [facts]))
    assert draft.content is not None
    assert (draft.method, draft.content.answer, told.opened) == ("parsed", "D", False)


async def test_a_plan_brings_its_own_fields(tmp_path: Path) -> None:
    told = Told('{"核心思路": "变更身份", "原应纳税额": 13.8, "节税额": "10.3"}')
    case = DocumentPart(kind="case", label="案例1", text="全文", data={"scenario": "某公司年收入120万元。"})
    draft = await one(told, tmp_path, "TaxPlan", make_document("casebook", [case]))
    assert draft.content is not None
    assert [field.name for field in draft.content.fields] == ["核心思路", "原应纳税额", "节税额"]
    assert json.loads(draft.content.answer) == {"核心思路": "变更身份", "原应纳税额": 13.8, "节税额": 10.3}


async def test_a_source_without_an_answer_gives_no_draft_and_is_counted(tmp_path: Path) -> None:
    news = [
        make_document("news", document_id="doc-1", summary="三项措施。"),
        make_document("news", document_id="doc-2"),
        make_document("news", document_id="doc-3"),
    ]
    found = await drafted(Told(), tmp_path, "TaxSum", *news)
    assert [draft.document_id for draft in found.drafts["TaxSum"]] == ["doc-1"]
    assert dict(found.empty) == {("TaxSum", "summary"): 2}


async def test_gold_outside_the_options_is_a_failed_draft(tmp_path: Path) -> None:
    book = make_document("exam_book", [make_question("single", "单选1", stem="问", options=["甲", "乙"], answer="D")])
    draft = await one(Told(), tmp_path, "TaxSCQ", book)
    assert (draft.status, draft.error) == ("failed", "the answer 'D' is none of the 2 options")


async def test_a_refused_call_is_a_failed_draft_with_its_cause(tmp_path: Path) -> None:
    told = Told(Reply(status="content_filter", error="HTTP 400: filtered"))
    draft = await one(told, tmp_path, "TaxRead", make_document("news"))
    assert (draft.status, draft.error) == ("failed", "make: content_filter: HTTP 400: filtered")


async def test_a_summary_cut_at_its_limit_is_kept_and_said(tmp_path: Path) -> None:
    told = Told("是", "是", Reply(status="length", text="市民反映"))
    draft = await one(told, tmp_path, "TaxOpinion", make_document("opinion"))
    assert (draft.status, draft.error) == ("drafted", "summarise: cut at 300 tokens")


async def test_what_a_journal_holds_is_drafted_again_without_asking(tmp_path: Path) -> None:
    first = await one(
        Told('{"question": "有几项？", "answer": "三项便民措施"}'), tmp_path, "TaxRead", make_document("news")
    )
    silent = Told()
    assert await one(silent, tmp_path, "TaxRead", make_document("news")) == first
    assert silent.opened is False


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("没有", "没有JSON对象"),
        ('{"a": 1', "没有JSON对象"),
        ('{"a": }', "JSON格式有误"),
        ('{"a": ""}', "缺少：a"),
        ('{"a": null}', "缺少：a"),
    ],
)
def test_what_is_wrong_with_a_reply_is_said_for_the_model(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_object(text, ["a"])


def test_an_object_is_found_inside_other_words_and_may_hold_line_breaks() -> None:
    assert parse_object('结果如下：\n{"a": "第一行\n第二行"}\n以上。', ["a"]) == {"a": "第一行\n第二行"}


@pytest.mark.parametrize(
    "value",
    [
        "NaN",
        "-Infinity",
        "Infinity",
        "1e999999999",
        "1e9999999999999999999999",
        "1e-400",
        "8" * 5000,
        '"\\ud83d"',
        "[" * 5000 + "]" * 5000,
        '{"b":' * 900 + "1" + "}" * 900,
        "null",
    ],
)
async def test_a_value_that_cannot_be_kept_is_repaired_once_then_fails_that_draft_alone(
    value: str, tmp_path: Path
) -> None:
    bad = f'{{"节税额": {value}}}'
    cases = [
        DocumentPart(kind="case", label=f"案例{n}", text=f"全文{n}", data={"scenario": f"某厂第{n}年。"})
        for n in (1, 2)
    ]
    told = Told(bad, bad, '{"核心思路": "分期确认", "节税额": 2}')
    found = await drafted(told, tmp_path, "TaxPlan", make_document("casebook", cases))
    first, second = found.drafts["TaxPlan"]
    assert (first.status, first.content, len(first.requests)) == ("failed", None, 2)
    assert first.error.startswith("extract: JSON")
    assert first.error.endswith(", also after one repair")
    assert second.status == "drafted"


async def test_the_repair_of_a_value_that_is_no_number_names_it(tmp_path: Path) -> None:
    told = Told('{"节税额": NaN}', '{"节税额": 7654321.98}')
    case = DocumentPart(kind="case", label="案例1", text="全文", data={"scenario": "某厂。"})
    draft = await one(told, tmp_path, "TaxPlan", make_document("casebook", [case]))
    assert "NaN不是数字" in told.questions[1][2].content
    assert draft.content is not None
    assert (draft.content.answer, draft.error) == ('{"节税额": 7654321.98}', "extract: repaired once")


async def test_figures_of_a_reply_reach_the_gold_and_its_evidence_unrounded(tmp_path: Path) -> None:
    told = Told('{"原税额": 9876543.21, "节税额": 98765432109876543.21, "比率": 1.2e-5, "销售额": 20000000.0}')
    text = "原税额9876543.21元，节税98765432109876543.21元。"
    case = DocumentPart(kind="case", label="案例1", text="案例", data={"scenario": "某厂。"})
    draft = await one(told, tmp_path, "TaxPlan", make_document("casebook", [case], text=text))
    assert draft.content is not None
    assert draft.content.answer == (
        '{"原税额": 9876543.21, "节税额": 98765432109876543.21, "比率": 0.000012, "销售额": 20000000}'
    )
    assert [span.text for span in draft.evidence] == ["9876543.21", "98765432109876543.21"]


@pytest.mark.parametrize("answer", ["9" * 5000, "[" * 5000, '{"a": NaN}'])
async def test_an_answer_that_looks_like_json_is_a_text(answer: str, tmp_path: Path) -> None:
    told = Told(json.dumps({"question": "是什么？", "answer": answer}))
    draft = await one(told, tmp_path, "TaxRead", make_document("news"))
    assert draft.content is not None
    assert draft.content.answer == answer


async def test_an_error_in_making_one_content_fails_that_draft_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OverflowError("too large\nand more")

    monkeypatch.setattr("stages.draft.drafting.make_content", refuse)
    draft = await one(Told(), tmp_path, "TaxSum", make_document("news", summary="三项。"))
    assert (draft.status, draft.error) == ("failed", "makes no valid content: OverflowError: too large")


def test_numbers_of_a_reply_stay_plain_json() -> None:
    found = parse_object('{"a": 7654321.98, "b": 3, "c": [2.50, true]}', ["a"])
    assert found == {"a": "7654321.98", "b": 3, "c": ["2.5", True]}
    assert json.loads(json.dumps(found)) == found


async def test_what_ingest_could_not_pair_is_a_failed_draft_with_its_reason_and_page(tmp_path: Path) -> None:
    data = {"kind": "single", "stem": "下列正确的是（　）。", "options": ["甲", "乙", "丙"], "answer": ""}
    part = DocumentPart(
        kind="question",
        label="单选1",
        text="题",
        page=12,
        data={**data, "fault": "no answer was found for the question"},
    )
    draft = await one(Told(), tmp_path, "TaxSCQ", make_document("exam_book", [part]))
    assert (draft.status, draft.method, draft.content) == ("failed", "parsed", None)
    assert draft.error == "no answer was found for the question (page 12)"
