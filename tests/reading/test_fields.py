"""Structured answers: values by field name, whatever the syntax (expected values set by hand)."""

from __future__ import annotations

import pytest

from taxpraben.reading import read_answer
from taxpraben.records.field import Field

FIELDS = [
    Field(name="争议焦点", kind="text", aliases=["焦点", "争议的焦点"]),
    Field(name="处理意见", kind="text", aliases=["意见", "处理建议"]),
]
MIXED = [
    Field(name="思路", kind="text"),
    Field(name="税额", kind="number", unit="万元"),
    Field(name="罪名", kind="label", labels=["逃税罪", "虚开发票罪"]),
]
BOTH = {"争议焦点": "收入确认时点", "处理意见": "补缴税款"}

SAME = [
    '{"争议焦点": "收入确认时点", "处理意见": "补缴税款"}',
    '```json\n{"争议焦点": "收入确认时点", "处理意见": "补缴税款"}\n```',
    "{'争议焦点': '收入确认时点', '处理意见': '补缴税款'}",
    "{“争议焦点”：“收入确认时点”，“处理意见”：“补缴税款”}",
    "｛＂争议焦点＂：＂收入确认时点＂，＂处理意见＂：＂补缴税款＂｝",
    '{"争议焦点": "收入确认时点", "处理意见": "补缴税款",}',
    '{"焦点": "收入确认时点", "意见": "补缴税款"}',
    '好的，结果如下：{"争议焦点": "收入确认时点", "处理意见": "补缴税款"}希望有帮助。',
    '{"答案": {"争议焦点": "收入确认时点", "处理意见": "补缴税款"}}',
    '[{"争议焦点": "收入确认时点"}, {"处理意见": "补缴税款"}]',
    '{"编号": 7, "争议焦点": "收入确认时点", "备注": "无", "处理意见": "补缴税款"}',
    "争议焦点：收入确认时点\n处理意见：补缴税款",
    "**争议焦点**：收入确认时点\n**处理意见**：补缴税款",
    "1. 争议焦点：收入确认时点\n2. 处理意见：补缴税款",
    "从材料看，争议焦点：收入确认时点, 处理建议：补缴税款",
]


@pytest.mark.parametrize("text", SAME)
def test_fields_are_read_from_any_of_these_forms(text: str) -> None:
    result = read_answer("fields", text, fields=FIELDS)
    assert result.value == BOTH, result
    assert result.evidence in text


def test_quotes_inside_a_value_stay() -> None:
    text = '{"争议焦点":"是否属于"免税", 存疑","处理意见":"参照“目录”办理"}'
    value = read_answer("fields", text, fields=FIELDS).value
    assert value == {"争议焦点": '是否属于"免税", 存疑', "处理意见": "参照“目录”办理"}


def test_absent_field_stays_empty_and_extra_keys_are_dropped() -> None:
    result = read_answer("fields", '{"处理意见": "补税", "税率": "13%"}', fields=FIELDS)
    assert result.value == {"争议焦点": None, "处理意见": "补税"}


def test_cut_object_keeps_what_it_has_and_is_flagged() -> None:
    result = read_answer("fields", '{"争议焦点": "收入确认时点", "处理意见":', fields=FIELDS, status="length")
    assert result.value == {"争议焦点": "收入确认时点", "处理意见": None}
    assert {"truncated", "json_repaired", "length"} <= set(result.flags)


def test_object_cut_before_any_value_is_truncated_not_unread() -> None:
    assert read_answer("fields", '{"争议焦点":', fields=FIELDS).status == "truncated"


def test_sound_json_is_not_flagged_as_repaired() -> None:
    assert "json_repaired" not in read_answer("fields", SAME[0], fields=FIELDS).flags


def test_list_value_is_joined_and_flagged() -> None:
    result = read_answer("fields", '{"争议焦点": ["时点", "金额"], "处理意见": "补税"}', fields=FIELDS)
    assert result.value == {"争议焦点": "时点；金额", "处理意见": "补税"}
    assert "listed" in result.flags


def test_field_kinds_shape_their_values() -> None:
    text = '{"思路": "拆分收入", "税额": "365,000元", "罪名": "已构成虚开发票罪"}'
    result = read_answer("fields", text, fields=MIXED)
    assert result.value == {"思路": "拆分收入", "税额": "36.5", "罪名": "虚开发票罪"}
    assert result.strict_value == {"思路": "拆分收入", "税额": None, "罪名": None}


def test_null_values_are_absent() -> None:
    result = read_answer("fields", '{"思路": "拆分", "税额": null, "罪名": "无"}', fields=MIXED)
    assert result.value == {"思路": "拆分", "税额": None, "罪名": None}


def test_both_asked_forms_are_strict() -> None:
    assert read_answer("fields", SAME[0], fields=FIELDS).strict_value == BOTH
    assert read_answer("fields", "焦点：收入确认时点\n意见：补缴税款", fields=FIELDS).strict_value == BOTH
    assert read_answer("fields", SAME[2], fields=FIELDS).strict_value is None
    assert read_answer("fields", f"如下：{SAME[0]}", fields=FIELDS).strict_value is None


def test_prose_without_any_field_name_is_unread() -> None:
    result = read_answer("fields", "该企业应当加强内部管理。", fields=FIELDS)
    assert (result.status, result.value) == ("unread", None)
