"""Record files are strict to read, whole when written, and equal for equal rows."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import ValidationError

from taxpraben.records.base import RecordFileError, read_jsonl, read_records, revise, write_jsonl, write_records
from taxpraben.records.content import Content
from taxpraben.records.draft import Draft, Span
from taxpraben.records.field import Field
from taxpraben.records.reading import Reading


def draft(number: int, answer: str = "应当自行申报") -> Draft:
    content = Content(text="个体户如何申报？", answer=answer, fields=[Field(name="税额", kind="number", unit="元")])
    return Draft(
        draft_id=f"TaxQA-{number:012d}",
        task="TaxQA",
        document_id="doc-1",
        origin="notice.md",
        slot="一",
        method="model",
        status="drafted",
        content=content,
        evidence=[Span(start=0, end=2, text="𠮷祥")],
    )


def reading(value: object) -> Reading:
    return Reading(
        item_id="i",
        task="TaxPlan",
        model="m",
        setting="one-shot",
        run=1,
        request="r",
        status="read",
        value=value,
        strict_value=None,
        method="rules",
    )


def test_rows_come_back_as_they_were_written(tmp_path: Path) -> None:
    rows = [draft(1), draft(2)]
    write_records(tmp_path / "d.parquet", Draft, rows)
    assert read_records(tmp_path / "d.parquet", Draft) == rows


@pytest.mark.parametrize("value", ["AC", {"税额": None, "思路": "分次"}, None])
def test_json_columns_keep_their_type(tmp_path: Path, value: object) -> None:
    write_records(tmp_path / "r.parquet", Reading, [reading(value)])
    assert read_records(tmp_path / "r.parquet", Reading)[0].value == value


def test_same_rows_in_another_order_give_the_same_bytes(tmp_path: Path) -> None:
    write_records(tmp_path / "a.parquet", Draft, [draft(1), draft(2)])
    write_records(tmp_path / "b.parquet", Draft, [draft(2), draft(1)])
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_two_rows_with_one_key_are_refused_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(RecordFileError, match="share the key"):
        write_records(tmp_path / "d.parquet", Draft, [draft(1), draft(1, "别的答案")])
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_says_what_makes_it(tmp_path: Path) -> None:
    with pytest.raises(RecordFileError, match="run the stage that writes it"):
        read_records(tmp_path / "none.parquet", Draft)


def test_a_file_of_another_record_or_version_is_refused_by_name(tmp_path: Path) -> None:
    write_records(tmp_path / "d.parquet", Draft, [draft(1)])
    with pytest.raises(RecordFileError, match="holds record 'draft' version '1', expected 'reading'"):
        read_records(tmp_path / "d.parquet", Reading)
    table = pq.read_table(tmp_path / "d.parquet")
    old = table.replace_schema_metadata({"record": "draft", "version": "0"})
    pq.write_table(old, tmp_path / "old.parquet")
    with pytest.raises(RecordFileError, match="version '0', expected 'draft' version 1"):
        read_records(tmp_path / "old.parquet", Draft)


def test_a_file_with_changed_columns_is_refused(tmp_path: Path) -> None:
    write_records(tmp_path / "d.parquet", Draft, [draft(1)])
    table = pq.read_table(tmp_path / "d.parquet").append_column("extra", pa.array(["x"]))
    pq.write_table(table, tmp_path / "d.parquet")
    with pytest.raises(RecordFileError, match="columns differ"):
        read_records(tmp_path / "d.parquet", Draft)


def test_a_bad_row_is_named_with_its_column(tmp_path: Path) -> None:
    write_records(tmp_path / "d.parquet", Draft, [draft(1)])
    table = pq.read_table(tmp_path / "d.parquet")
    position = table.schema.get_field_index("status")
    table = table.set_column(position, table.schema.field(position), pa.array(["done"]))
    pq.write_table(table, tmp_path / "d.parquet")
    with pytest.raises(RecordFileError, match=r"row 0: column 'status'"):
        read_records(tmp_path / "d.parquet", Draft)


def test_json_lines_with_a_byte_order_mark_load(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "d.jsonl", [draft(1)])
    plain = (tmp_path / "d.jsonl").read_bytes()
    (tmp_path / "d.jsonl").write_bytes(b"\xef\xbb\xbf" + plain + b"\n")
    assert read_jsonl(tmp_path / "d.jsonl", Draft) == [draft(1)]


def test_a_bad_line_is_named_by_number(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "d.jsonl", [draft(1)])
    with (tmp_path / "d.jsonl").open("a", encoding="utf-8") as stream:
        stream.write("{broken\n")
    with pytest.raises(RecordFileError, match="line 2: not JSON"):
        read_jsonl(tmp_path / "d.jsonl", Draft)


def test_an_unknown_column_is_an_error() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        Draft.model_validate({**draft(1).model_dump(), "colour": "red"})


def test_a_revised_row_is_validated_again() -> None:
    assert revise(draft(1), status="filtered").status == "filtered"
    with pytest.raises(ValidationError):
        revise(draft(1), status="lost")


def test_a_digest_changes_with_any_part_of_the_content() -> None:
    content = Content(text="甲", answer="乙")
    changed = [
        revised
        for revised in (
            Content(text="甲", answer="丙"),
            Content(text="丁", answer="乙"),
            Content(text="甲", answer="乙", choices=["一"]),
            Content(text="甲", answer="乙", gold=[0]),
            Content(text="甲", answer="乙", unit="元"),
            Content(text="甲", answer="乙", fields=[Field(name="思路", kind="text")]),
        )
        if revised.digest == content.digest
    ]
    assert changed == []
