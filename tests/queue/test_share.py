"""Offline work: a person's share out and back, as JSON lines, Excel and Label Studio's JSON."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable

import pytest
from openpyxl import load_workbook
from queue_samples import DOCUMENT, Clock, content, draft, fill

from taxpraben.queue.claims import claim, release
from taxpraben.queue.excel import read_table, write_table
from taxpraben.queue.flat import flatten, rebuild
from taxpraben.queue.intake import bring_in, export_decisions, set_policy
from taxpraben.queue.label_studio import export_label_studio, import_label_studio, label_config
from taxpraben.queue.policy import Policy
from taxpraben.queue.rulings import submit
from taxpraben.queue.share import export_share, import_share
from taxpraben.queue.states import QueueError, UnkeptTextError
from taxpraben.queue.store import Queue, open_queue
from taxpraben.queue.texts import save, texts
from taxpraben.records.content import Content
from taxpraben.records.field import Field

NASTY = '=HYPERLINK("http://x","点我")'
AWKWARD = [
    "=1+1",
    "+86",
    "-72.75",
    "@SUM(A1)",
    "\t制表",
    "行\n行",
    "a\rb",
    "_x000D_",
    "𠮷野",
    "<b>&amp;</b>",
    "007",
    "1e5",
]


def fill_in(kind: str, data: bytes, by_draft: dict[str, dict[str, str]]) -> bytes:
    """What a person does with the file: fills in some columns of some rows, in a spreadsheet or an editor."""
    if kind == "xlsx":
        book = load_workbook(io.BytesIO(data))
        sheet = book.active
        columns = {cell.value: cell.column for cell in sheet[1]}
        for row in range(2, sheet.max_row + 1):
            for name, text in by_draft.get(sheet.cell(row, columns["draft_id"]).value, {}).items():
                cell = sheet.cell(row, columns[name])
                cell.value = text
                cell.data_type = "s"
        out = io.BytesIO()
        book.save(out)
        return out.getvalue()
    rows = [json.loads(line) for line in data.decode().splitlines()]
    for row in rows:
        given = dict(by_draft.get(row["draft_id"], {}))
        parts = {name.removeprefix("fixed_"): given.pop(name) for name in list(given) if name.startswith("fixed_")}
        if parts:
            row["fixed"] = {**row["draft"], **parts}
        row.update(given)
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


@pytest.mark.parametrize("kind", ["jsonl", "xlsx"])
def test_a_share_filled_in_offline_is_handed_in_and_a_second_time_changes_nothing(queue: Queue, kind: str) -> None:
    drafts = fill(queue, 4)
    claim(queue, "a01", count=4)
    data = fill_in(
        kind,
        export_share(queue, "a01", kind),
        {
            drafts[0].draft_id: {"verdict": "accepted"},
            drafts[1].draft_id: {"verdict": "fixed", "fixed_answer": "应当补缴税款并缴纳滞纳金。"},
            drafts[2].draft_id: {"verdict": "rejected", "reason": NASTY},
        },
    )
    report = import_share(queue, data, kind, "a01")
    assert (len(report.taken), len(report.empty), report.problems) == (3, 1, [])
    rulings = export_decisions(queue)
    assert [(row.verdict, row.annotator) for row in rulings] == [
        ("accepted", "a01"),
        ("fixed", "a01"),
        ("rejected", "a01"),
    ]
    assert rulings[1].content == content("应当补缴税款并缴纳滞纳金。")
    assert rulings[2].reason == NASTY
    again = import_share(queue, data, kind, "a01")
    assert (len(again.taken), len(again.unchanged), len(again.empty)) == (0, 3, 1)
    assert export_decisions(queue) == rulings


@pytest.mark.parametrize("kind", ["jsonl", "xlsx"])
def test_exporting_importing_and_exporting_a_share_gives_the_same_bytes(queue: Queue, kind: str) -> None:
    fill(queue, 5)
    claim(queue, "a01", count=5)
    first = export_share(queue, "a01", kind)
    report = import_share(queue, first, kind, "a01")
    assert len(report.empty) == 5
    assert export_share(queue, "a01", kind) == first


@pytest.mark.parametrize("kind", ["jsonl", "xlsx"])
@pytest.mark.parametrize("meanwhile", ["saved", "changed", "released"])
def test_what_happened_meanwhile_is_told_by_row_and_no_text_is_lost(
    queue: Queue, clock: Clock, kind: str, meanwhile: str
) -> None:
    drafts = fill(queue, 2)
    works = claim(queue, "a01", count=2)
    mine = {drafts[1].draft_id: {"verdict": "fixed", "fixed_answer": "离线写的。"}}
    data = fill_in(kind, export_share(queue, "a01", kind), mine)
    happens: dict[str, Callable[[], object]] = {
        "saved": lambda: save(queue, works[1], "a01", 0, {"answer": "在线写的。"}),
        "changed": lambda: bring_in(queue, [drafts[0], draft(1, "新的草稿。")], [DOCUMENT]),
        "released": lambda: release(queue, works[1], "a01"),
    }
    happens[meanwhile]()
    report = import_share(queue, data, kind, "a01")
    told = report.late if meanwhile == "released" else report.conflicts
    assert [(note.row, note.draft_id) for note in told] == [(3 if kind == "xlsx" else 2, drafts[1].draft_id)]
    assert report.taken == []
    assert export_decisions(queue) == []
    kept = [text.form for text in texts(queue, works[1])]
    assert kept[-1]["content"]["answer"] == "离线写的。"
    if meanwhile == "saved":
        assert kept[0] == {"answer": "在线写的。"}


def test_a_row_that_breaks_a_rule_is_named_and_nothing_of_the_file_is_taken(queue: Queue) -> None:
    set_policy(queue, Policy(spot_checks=0))
    bring_in(queue, [draft(0), draft(1, status="failed"), draft(2), draft(3)], [DOCUMENT])
    claim(queue, "a01", count=4)
    data = fill_in(
        "xlsx",
        export_share(queue, "a01", "xlsx"),
        {
            draft(0).draft_id: {"verdict": "accepted"},
            draft(1).draft_id: {"verdict": "accepted"},
            draft(2).draft_id: {"verdict": "rejected"},
            draft(3).draft_id: {"verdict": "perhaps"},
        },
    )
    report = import_share(queue, data, "xlsx", "a01")
    assert [note.row for note in report.problems] == [5, 3, 4]
    assert report.taken == []
    assert export_decisions(queue) == []


def test_texts_that_look_like_formulas_stay_text_and_come_back_as_they_were() -> None:
    rows = [{"甲": text, "乙": f"第{number}行"} for number, text in enumerate(AWKWARD)]
    packed = write_table(["甲", "乙"], rows, {}, (), (), {}, "t")
    assert [row["甲"] for row in read_table(packed)] == AWKWARD
    for row in load_workbook(io.BytesIO(packed)).active.iter_rows(min_row=2):
        assert {cell.data_type for cell in row} == {"s"}
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert b"<f>" not in archive.read("xl/worksheets/sheet1.xml")


def test_a_formula_typed_into_the_file_is_refused_by_its_place(queue: Queue) -> None:
    fill(queue, 1)
    claim(queue, "a01")
    book = load_workbook(io.BytesIO(export_share(queue, "a01", "xlsx")))
    sheet = book.active
    column = next(cell.column for cell in sheet[1] if cell.value == "reason")
    sheet.cell(2, column).value = "=1+1"
    out = io.BytesIO()
    book.save(out)
    with pytest.raises(QueueError, match="Row 2, reason: a formula"):
        import_share(queue, out.getvalue(), "xlsx", "a01")


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 broken", b"plain", zipfile.ZIP_STORED.to_bytes(4, "big")])
def test_what_is_no_excel_file_is_refused_in_one_line(queue: Queue, data: bytes) -> None:
    with pytest.raises(QueueError, match="no Excel file"):
        import_share(queue, data, "xlsx", "a01")


def test_a_share_names_only_what_the_person_holds(queue: Queue) -> None:
    fill(queue, 3)
    claim(queue, "a02")
    works = claim(queue, "a01", count=2)
    rows = [json.loads(line) for line in export_share(queue, "a01", "jsonl").decode().splitlines()]
    assert [row["work_id"] for row in rows] == works
    assert all("gold" not in row for row in rows)


@pytest.mark.parametrize(
    "whole",
    [
        content(),
        Content(text="题", answer="AC", choices=["甲", "乙", "丙"], gold=[0, 2]),
        Content(text="题", answer="A", choices=["两\n行", " 空格 ", "[方括号]"], gold=[0]),
        Content(text="题", answer="-72.75", unit="万元"),
        Content(text="题", answer="{}", fields=[Field(name="罪名", kind="label", labels=["逃税罪"], aliases=["罪"])]),
    ],
)
def test_a_content_as_plain_texts_comes_back_whole(whole: Content) -> None:
    assert rebuild(flatten(whole), None) == whole


def decided(queue: Queue, clock: Clock) -> None:
    fill(queue, 5)
    works = claim(queue, "a02", count=4)
    submit(queue, works[0], "a02", "accepted")
    clock.move(1)
    submit(queue, works[1], "a02", "fixed", content(NASTY))
    clock.move(1)
    submit(queue, works[2], "a02", "rejected", reason="与原文不符")


def test_label_studio_takes_the_decisions_out_and_in_and_out_with_the_same_bytes(
    queue: Queue, clock: Clock, tmp_path
) -> None:
    decided(queue, clock)
    first = export_label_studio(queue)
    other = open_queue(f"sqlite:///{tmp_path / 'other.sqlite'}", clock)
    fill(other, 5)
    report = import_label_studio(other, first, "admin")
    assert (len(report.imported), report.left_out["in conflict with the queue's"]) == (3, [])
    assert export_decisions(other) == export_decisions(queue)
    assert export_label_studio(other) == first
    assert len(import_label_studio(other, first, "admin").unchanged) == 3
    other.close()


def test_label_studios_own_annotations_become_decisions_of_whoever_completed_them(queue: Queue, clock: Clock) -> None:
    decided(queue, clock)
    tasks = json.loads(export_label_studio(queue))
    # As Label Studio (task format of its guide) hands a task back that its user 10 judged; user 11 gave another up.
    judged = tasks[4]
    judged.update(id=1204, project=83, created_at="2026-03-02T10:00:00.000000Z", inner_id=5, total_annotations=1)
    value = {"text": ["应当补缴税款，并自滞纳之日起加收滞纳金。"]}
    region = {"id": "Dx_aB91ISN", "to_name": "source", "origin": "manual"}
    judged["annotations"] = [
        {"id": 1002, "was_cancelled": True, "result": [], "completed_by": 11, "updated_at": "2026-03-02T11:00:00Z"},
        {
            "id": 1001,
            "completed_by": {"id": 10, "email": "somebody@example.org"},
            "was_cancelled": False,
            "updated_at": "2026-03-02T11:16:08.728353Z",
            "lead_time": 4.288,
            "result": [
                {**region, "from_name": "verdict", "type": "choices", "value": {"choices": ["fixed"]}},
                {**region, "from_name": "answer", "type": "textarea", "value": value},
            ],
        },
    ]
    report = import_label_studio(queue, json.dumps(tasks).encode(), "admin")
    assert (len(report.imported), len(report.unchanged)) == (1, 3)
    last = export_decisions(queue)[-1]
    assert last.content == content("应当补缴税款，并自滞纳之日起加收滞纳金。")
    assert (last.annotator, last.decided_at) == ("label-studio-10", "2026-03-02T11:16:08.728Z")


def test_annotations_that_contradict_each_other_are_named_and_nothing_is_taken(queue: Queue, clock: Clock) -> None:
    decided(queue, clock)
    before = export_decisions(queue)
    tasks = json.loads(export_label_studio(queue))
    rejected = {"from_name": "verdict", "value": {"choices": ["rejected"]}}
    accepted = {"from_name": "verdict", "value": {"choices": ["accepted"]}}
    reason = {"from_name": "reason", "value": {"text": ["不对"]}}
    tasks[4]["annotations"] = [{"result": [accepted]}, {"result": [rejected, reason]}]
    with pytest.raises(QueueError, match=r"Task 5 .*contradict"):
        import_label_studio(queue, json.dumps(tasks).encode(), "admin")
    assert export_decisions(queue) == before


def test_every_region_of_an_exported_task_has_a_control_in_the_labelling_interface(queue: Queue, clock: Clock) -> None:
    import re

    decided(queue, clock)
    names = set(re.findall(r'<(?:Choices|TextArea) name="(\w+)"', label_config()))
    for task in json.loads(export_label_studio(queue)):
        for each in task["annotations"] + task["predictions"]:
            assert {region["from_name"] for region in each["result"]} <= names
            assert {region["to_name"] for region in each["result"]} == {"source"}


def test_a_draft_id_that_the_queue_does_not_have_is_told(queue: Queue, clock: Clock) -> None:
    decided(queue, clock)
    tasks = json.loads(export_label_studio(queue))
    tasks[0]["data"]["draft_id"] = "TaxQA-ffffffffffff"
    tasks[0]["data"]["decision"]["draft_id"] = "TaxQA-ffffffffffff"
    assert import_label_studio(queue, json.dumps(tasks).encode(), "admin").unknown == ["TaxQA-ffffffffffff"]


def test_a_conflict_that_is_imported_again_is_kept_once(queue: Queue) -> None:
    fill(queue, 1, spot_checks=5)
    (work,) = claim(queue, "a01")
    back = fill_in("jsonl", export_share(queue, "a01", "jsonl"), {draft(0).draft_id: {"verdict": "accepted"}})
    save(queue, work, "a01", 0, {"answer": "门户里写的"})
    for _ in range(2):
        assert len(import_share(queue, back, "jsonl", "a01").conflicts) == 1
        assert [text.kind for text in texts(queue, work)] == ["save", "conflict"]


@pytest.mark.parametrize("with_areas", [True, False])
def test_an_acceptance_in_label_studio_of_a_draft_that_changed_meanwhile_decides_nothing(
    queue: Queue, with_areas: bool
) -> None:
    fill(queue, 2)
    tasks = json.loads(export_label_studio(queue))
    bring_in(queue, [draft(0, "新的答案。"), draft(1)], [DOCUMENT])
    for number, task in enumerate(tasks, start=1):
        verdict = {"from_name": "verdict", "to_name": "source", "type": "choices", "value": {"choices": ["accepted"]}}
        areas = task["predictions"][0]["result"] if with_areas else []
        task["annotations"] = [{"id": number, "completed_by": 1, "result": [verdict, *areas]}]
    report = import_label_studio(queue, json.dumps(tasks).encode(), "terminal")
    assert (report.stale, report.imported) == ([draft(0).draft_id], [draft(1).draft_id])
    assert [decision.draft_id for decision in export_decisions(queue)] == [draft(1).draft_id]


@pytest.mark.parametrize("text", ["行\n" * 15_000, "a\x00b", "a\x1fb", "\x0b"], ids=["long", "zero", "unit", "tab"])
def test_no_character_of_a_cell_is_lost(text: str) -> None:
    (row,) = read_table(write_table(["a"], [{"a": text}], {}, [], [], {}, "t"))
    assert row["a"] == text


@pytest.mark.parametrize("reason", ["资料\0不全", "资料\ud800不全"])
def test_a_reason_that_no_database_keeps_is_refused_and_its_row_named(queue: Queue, reason: str) -> None:
    drafts = fill(queue, 2)
    works = claim(queue, "a01", count=2)
    with pytest.raises(UnkeptTextError, match="NUL"):
        submit(queue, works[0], "a01", "rejected", None, reason)
    with pytest.raises(UnkeptTextError, match="NUL"):
        submit(queue, works[0], "a01", "fixed", content(f"应当{reason}"))
    given = [{"verdict": "rejected", "reason": reason}, {"verdict": "accepted"}]
    filled = {one.draft_id: row for one, row in zip(drafts, given, strict=True)}
    rows = [json.loads(line) for line in export_share(queue, "a01", "jsonl").splitlines()]
    data = "".join(json.dumps(row | filled[row["draft_id"]]) + "\n" for row in rows).encode()
    report = import_share(queue, data, "jsonl", "a01")
    assert [note.draft_id for note in report.problems] == [drafts[0].draft_id]
    assert export_decisions(queue) == []


def test_a_text_that_excel_would_cut_once_it_is_escaped_is_refused() -> None:
    with pytest.raises(QueueError, match="more than Excel keeps"):
        write_table(["a"], [{"a": "a\r" * 15_000}], {}, [], [], {}, "t")


def test_a_damaged_sheet_is_refused_in_words() -> None:
    packed, out = write_table(["a"], [{"a": "x"}], {}, [], [], {}, "t"), io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(packed)) as whole, zipfile.ZipFile(out, "w") as damaged:
        for info in whole.infolist():
            part = whole.read(info)
            damaged.writestr(info.filename, part[: len(part) // 2] if "sheet1" in info.filename else part)
    with pytest.raises(QueueError, match="no Excel file"):
        read_table(out.getvalue())
