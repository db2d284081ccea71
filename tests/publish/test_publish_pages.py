"""The board and the quality page: what stands in them, what they escape, that equal input gives equal bytes."""

import csv
import hashlib
import io
import json
import re
import sys
from html.parser import HTMLParser

import pytest
from published_world import EVIL, MODELS, SHOWN, standings

from stages.console import run_stage
from stages.publish import __main__ as stage
from stages.publish.downloads import standings_csv, standings_json
from stages.publish.pages import About, board_page, foreign_metrics, quality_page
from taxpraben.board import make_board
from taxpraben.records.base import revise
from taxpraben.records.check import read_report
from taxpraben.records.standing import Standing
from taxpraben.tasks.catalog import load_catalog
from taxpraben.workspace import Workspace

TASKS = list(load_catalog().values())
PAPER = {"bertscore": "hfl/chinese-xlnet-base", "bartscore": "facebook/bart-large-cnn"}


def about(**changes: object) -> About:
    counts = {spec.name: spec.size for spec in TASKS}
    given = {
        "title_zh": "榜",
        "title_en": "Board",
        "release": "0.1.0",
        "profile": "p",
        "tasks": TASKS,
        "counts": counts,
    }
    return About(**{**given, **changes})


def page(rows: list[Standing], **changes: object) -> str:
    return board_page(make_board(rows, TASKS), about(**changes))


def test_a_cell_marks_what_differs_from_the_best_and_tells_its_p_value() -> None:
    rows = [revise(row, p_best=0.0004 if row.model == list(MODELS)[1] else 0.2) for row in standings()]
    found = Cells()
    found.feed(page(rows))
    overall = {row[0]: row[1] for row in found.rows if len(row) > 1}
    marked = [model for model, cell in overall.items() if "*" in cell]
    assert marked == [list(MODELS)[1]]
    assert "· p &lt;0.001" in page(rows)
    assert "· p 0.200" in page(rows)


class Cells(HTMLParser):
    """Rows of the page's tables: for each body row its model and the text of its cells."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._open = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._open = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._open = False

    def handle_data(self, data: str) -> None:
        if self._open:
            self.rows[-1][-1] += data.strip()


def table_rows(html: str, section: str) -> dict[str, list[str]]:
    part = html.split(f'id="{section}"')[1].split("</table>")[0]
    cells = Cells()
    cells.feed(part.split("<tbody>")[1])
    return {row[0]: row[1:] for row in cells.rows}


def test_a_mean_on_fewer_items_says_so_beside_it_and_above_the_table() -> None:
    fewer = [revise(row, items=2) if row.model == "small-chat" else row for row in standings()]
    html = page(fewer)
    cells = table_rows(html, "zero-shot-aligned")
    assert all("2/20" in cells["small-chat"][column] for column in (0, 1))
    assert "2/20" not in "".join(cells["lead"])
    assert "over the items that both answered" in html
    assert "over the items that both answered" not in page(standings())


def test_the_board_shows_a_table_for_each_setting_and_protocol_with_groups_and_all_datasets() -> None:
    html = page(standings())
    assert re.findall(r'<section class="board"[^>]* id="([^"]+)"', html) == [
        "zero-shot-strict", "zero-shot-aligned", "one-shot-strict", "one-shot-aligned",
    ]  # fmt: skip
    head = html.split('id="zero-shot-aligned"')[1].split("</thead>")[0]
    assert head.count('class="group"') == 7
    assert head.count('class="dataset"') == 14


def test_a_figure_stands_with_its_rank_and_interval() -> None:
    # small-chat, zero-shot, aligned, TaxRecite (first dataset): 0.30 + 0.05, interval from 0.06 below to 0.05 above
    cells = table_rows(page(standings()), "zero-shot-aligned")["small-chat"]
    assert cells[12] == "10.3500.290–0.400"


def test_models_with_one_rank_share_it_visibly() -> None:
    rows = table_rows(page(standings()), "zero-shot-aligned")
    assert [rows[model][0][:2] for model in MODELS] == ["10", "=2", "=2", "40"]


def test_a_missing_dataset_leaves_its_groups_blank_and_names_it_and_never_shows_a_zero() -> None:
    html = page(standings(without="TaxPlan"))
    cells = table_rows(html, "zero-shot-aligned")["random"]
    overall, memorise, reason = cells[0], cells[1], cells[6]
    assert overall == reason == "缺missingTaxPlan"
    assert memorise.startswith("4")
    assert "0.000" not in "".join(cells[:7])
    assert 'title="缺 missing: TaxPlan"' in html


def test_shares_of_unread_refused_truncated_failed_stand_beside_the_mean() -> None:
    assert table_rows(page(standings()), "zero-shot-aligned")["small-chat"][7:12] == ["<1%", "3%", "2%", "0%", "+0.050"]


def test_what_comes_from_data_is_escaped() -> None:
    html = page(standings({EVIL: 0.3}))
    assert EVIL not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    quoted = page(standings({'" onmouseover="alert(1)': 0.3}))
    assert '" onmouseover="' not in quoted


def test_the_page_allows_its_own_script_and_style_and_nothing_else() -> None:
    html = page(standings())
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]+)"', html)
    policy = policy.replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        [text] = re.findall(f"<{tag}>(.*?)</{tag}>", html, flags=re.DOTALL)
        assert f"'sha256-{_digest(text)}'" in policy
    assert " style=" not in html
    assert "http://" not in html
    assert "https://" not in html


def _digest(text: str) -> str:
    import base64

    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_metrics_with_other_models_than_the_papers_are_named_with_their_signatures() -> None:
    rows = standings(without="TaxPlan")
    found = foreign_metrics(rows, TASKS, PAPER)
    assert found == [("bartscore", SHOWN["bartscore"]), ("bertscore", SHOWN["bertscore"])]
    html = page(rows, foreign=found)
    assert "部分指标所用的模型或方法与论文不同" in html
    assert SHOWN["bertscore"] in html


def test_a_metric_that_stands_in_for_another_is_foreign_whatever_its_model() -> None:
    rows = [row for row in standings() if row.metric == "bartscore"]
    found = foreign_metrics([revise(row, metric="likelihood") for row in rows], TASKS, PAPER)
    assert found == [("likelihood", SHOWN["bartscore"])]
    fields = [revise(row, metric="bertscore:甲+乙", name="TaxRisk") for row in rows[:1]]
    assert foreign_metrics(fields, TASKS, PAPER) == [("bertscore", SHOWN["bartscore"])]


def test_the_papers_own_models_give_no_note() -> None:
    rows = [
        revise(row, signature=f"{row.metric}|{PAPER[row.metric]}@rev") if row.metric in PAPER else row
        for row in standings()
    ]
    assert foreign_metrics(rows, TASKS, PAPER) == []
    assert 'class="note"' not in page(rows)


def test_a_smaller_release_than_the_papers_says_so() -> None:
    assert "题数少于论文" in page(standings(), counts={"TaxSCQ": 3})


def test_a_board_without_standings_says_so() -> None:
    assert "还没有名次" in page([])


def test_equal_standings_give_equal_bytes_in_any_order() -> None:
    rows = standings(without="TaxPlan")
    assert page(rows) == page(rows[::-1])


def test_csv_has_a_line_a_standing_blanks_for_what_is_missing_and_no_formula() -> None:
    rows = [*standings(without="TaxPlan")[:2], revise(standings()[0], model="=HYPERLINK(1)", mean=None)]
    lines = list(csv.DictReader(io.StringIO(standings_csv(rows))))
    assert [line["model"] for line in lines] == ["small-chat", "small-chat", "'=HYPERLINK(1)"]
    assert (lines[2]["mean"], lines[0]["mean"]) == ("", str(rows[0].mean))
    bart = next(row for row in standings() if row.metric == "bartscore")
    assert next(csv.DictReader(io.StringIO(standings_csv([bart]))))["mean"] == "-4.2"


def test_json_has_null_where_there_is_no_figure() -> None:
    rows = [row for row in standings(without="TaxPlan") if row.mean is None]
    found = json.loads(standings_json(rows, "0.1.0"))
    assert found["release"] == "0.1.0"
    assert {row["mean"] for row in found["standings"]} == {None}


def publish(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    monkeypatch.chdir(workspace.root)
    monkeypatch.setattr(sys, "argv", ["stages.publish"])
    with pytest.raises(SystemExit) as ended:
        run_stage(stage.main)
    assert ended.value.code == 0
    files = sorted(path for path in workspace.site.rglob("*") if path.is_file())
    return {path.relative_to(workspace.site).as_posix(): path.read_bytes() for path in files}


def test_the_stage_writes_the_site_anew_with_equal_bytes(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    first = publish(workspace, monkeypatch)
    (workspace.site / "old.html").write_text("stale")
    assert publish(workspace, monkeypatch) == first
    assert {"index.html", "quality.html", "standings.csv", "standings.json", "exports/0.1.0/README.md"} <= set(first)
    source = (workspace.benchmark / "0.1.0" / "TaxSCQ.parquet").read_bytes()
    assert first["exports/0.1.0/parquet/TaxSCQ.parquet"] == source
    assert not any(str(workspace.root).encode() in content for content in first.values())


def test_every_link_of_the_site_leads_to_a_file_of_the_site(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = publish(workspace, monkeypatch)
    for name in ("index.html", "quality.html"):
        for link in re.findall(r'<a [^>]*href="([^"#]+)', files[name].decode()):
            assert link in files


def test_the_quality_page_names_warnings_with_their_rows_escaped(workspace: Workspace) -> None:
    html = quality_page([read_report(workspace.checks / "build.json")], about())
    assert "1 of 3 (33.3 %) not as expected" in html
    assert EVIL not in html
    assert "&lt;script&gt;" in html


def test_no_release_is_told_by_file_and_remedy(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (workspace.benchmark / "0.1.0" / "TaxSCQ.parquet").unlink()
    monkeypatch.chdir(workspace.root)
    with pytest.raises(SystemExit) as ended:
        run_stage(stage.main)
    assert ended.value.code == 1
    assert "TaxSCQ.parquet: no such file; run the stage that writes it" in capsys.readouterr().err
