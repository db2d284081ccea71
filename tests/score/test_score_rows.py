"""What a score row says beside its value: lost text is flagged in the row, and every flag is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from stages.score.scoring import score_all
from taxpraben.metrics import find_metric
from taxpraben.records.reading import Reading
from taxpraben.tasks.catalog import find_task
from tests.metrics.tiny import TEXTS, save_bert
from tests.rank.samples import gold_item

TASK = find_task("TaxQA")


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random BERT that takes 64 tokens."""
    return save_bert(tmp_path_factory.mktemp("encoder"))


@pytest.mark.parametrize(("long_texts", "flag"), [("cut", "truncated"), ("window", "windowed")])
def test_a_text_longer_than_the_encoder_takes_is_flagged_in_its_row_and_counted(
    bert: Path, long_texts: str, flag: str
) -> None:
    texts = {0: "".join(TEXTS) * 4, 1: TEXTS[0], 2: "", 3: None}
    readings = [
        Reading(
            item_id=gold_item(TASK, number).item_id, task="TaxQA", model="m", setting="zero-shot", run=0, request="r",
            status="unread" if text is None else "read", value=text, strict_value=text, method="strict",
        )
        for number, text in texts.items()
    ]  # fmt: skip
    items = {("TaxQA", gold_item(TASK, number).item_id): gold_item(TASK, number) for number in texts}
    metrics = {
        "bertscore": find_metric("bertscore", {"model": str(bert), "layer": 2, "long_texts": long_texts}),
        "chrf": find_metric("chrf"),
    }
    rows, tallies = score_all(readings, items, {"TaxQA": TASK}, metrics, {"bartscore": "chrf"}, say=lambda _: None)
    flags = {row.item_id: row.flags for row in rows if (row.metric, row.protocol) == ("bertscore", "aligned")}
    assert list(flags.values()) == [[flag], [], ["empty"], ["unread"]]
    line = next(str(tally) for tally in tallies if tally.metric == "bertscore")
    assert line.startswith("bertscore: 8 rows, 4 distinct, 2 empty")
    for part in (f"2 {flag}", "2 unread", "0 kept, 4 new"):
        assert part in line
