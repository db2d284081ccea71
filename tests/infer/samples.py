"""Items made for the tests of the infer stage."""

from __future__ import annotations

from typing import Any

from taxpraben.records.item import Item


def make_item(number: int = 1, task: str = "TaxSCQ", **changes: Any) -> Item:
    body: dict[str, Any] = {
        "item_id": f"{task}-{number:03}",
        "task": task,
        "task_version": 1,
        "release": "0.1.0",
        "query": "请选出正确的选项。",
        "prompt": 0,
        "text": f"云栖公司第{number}季度适用的征收率是（ ）。 A.1% B.3% C.5% D.6%",
        "answer": "B",
        "choices": ["1%", "3%", "5%", "6%"],
        "gold": [1],
        "fields": [],
        "unit": "",
        "example_id": "",
        "draft_id": f"{task}-{number:03}",
        "document_id": "doc-1",
        "origin": "book",
        "effective": "",
        "repealed": "",
    }
    return Item.model_validate({**body, **changes})


def make_text_item(number: int, task: str, text: str, answer: str, **changes: Any) -> Item:
    return make_item(number, task, text=text, answer=answer, choices=[], gold=[], **changes)
