from pathlib import Path
from typing import Any

import pytest

from stages.ingest.adapters import UnknownAdapterError
from stages.ingest.outcome import Harvest
from stages.ingest.params import IngestParams
from stages.ingest.parsers import UnknownParserError
from stages.ingest.stage import ingest
from taxpraben.records.base import read_records, write_records
from taxpraben.records.document import Document, Quarantined

SAMPLE = Path(__file__).parents[2] / "data" / "sample" / "sources"
SITE = {
    "name": "site", "pipeline": "sites", "parser": "site", "path": "site", "adapters": ["shui5", "chinatax"],
    "sections": {"Risk": "risk", "Inspect": "inspect", "Board": "board", "Opinion": "opinion", "*": "news"},
}  # fmt: skip
OFFICIAL = {"name": "documents", "pipeline": "official", "parser": "official", "path": "official/*"}
VERDICTS = {"name": "verdicts", "pipeline": "official", "parser": "verdict", "path": "verdicts/*"}
BOOKS = [
    {"name": "guide", "pipeline": "books", "parser": "exam_book", "path": "books/*exam*.pdf"},
    {"name": "cases", "pipeline": "books", "parser": "casebook", "path": "books/*casebook*.pdf"},
]


def _run(root: Path, cache: Path, *sources: dict[str, Any]) -> Harvest:
    params = IngestParams.model_validate({"sources": list(sources), "crawl": {"delay_seconds": 0}})
    return ingest(params, root, cache)


def test_one_bad_file_never_stops_the_run(tmp_path: Path) -> None:
    folder = tmp_path / "sources" / "official"
    folder.mkdir(parents=True)
    (folder / "good.md").write_text("# 公告\n一、时间\n按季申报。", encoding="utf-8")
    (folder / "bad.docx").write_bytes(b"no word file")
    (folder / "bad.pdf").write_bytes(b"no pdf")
    (folder / "bad.wps").write_bytes(b"?")
    (folder / "empty.html").write_bytes(b"")
    harvest = _run(tmp_path / "sources", tmp_path / "cache", OFFICIAL)
    assert [document.origin for document in harvest.documents] == ["official/good.md"]
    assert sorted(row.origin for row in harvest.quarantined) == [
        f"official/{name}" for name in ("bad.docx", "bad.pdf", "bad.wps", "empty.html")
    ]
    assert all(row.cause and "taxpraben sources retry" in row.remedy for row in harvest.quarantined)


def test_a_source_without_files_is_said_and_not_passed_over(tmp_path: Path) -> None:
    harvest = _run(tmp_path, tmp_path / "cache", OFFICIAL, SITE)
    assert [(row.source, row.where) for row in harvest.quarantined] == [("documents", "source"), ("site", "source")]


def test_wrong_names_in_params_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(UnknownParserError, match="did you mean 'official'"):
        _run(tmp_path, tmp_path, {**OFFICIAL, "parser": "oficial"})
    with pytest.raises(UnknownAdapterError, match="chinatax"):
        _run(tmp_path, tmp_path, {**SITE, "adapters": ["chinatx"]})
    with pytest.raises(ValueError, match="two sources are named documents"):
        _run(tmp_path, tmp_path, OFFICIAL, OFFICIAL)
    with pytest.raises(ValueError, match="either path or url"):
        _run(tmp_path, tmp_path, {**OFFICIAL, "path": ""})


def test_personal_data_do_not_pass_through_quarantine(tmp_path: Path) -> None:
    (tmp_path / "b.csv").write_text("title,content\n请致电13900000000,暂无\n", encoding="utf-8")
    board = {"name": "board", "pipeline": "sites", "parser": "board_table", "path": "*.csv"}
    (row,) = _run(tmp_path, tmp_path / "cache", board).quarantined
    assert row.excerpt == "请致电[电话]"


def test_rows_can_be_written_and_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    written = []
    for name in ("a", "b"):
        harvest = _run(SAMPLE, tmp_path / name, OFFICIAL, VERDICTS)
        write_records(tmp_path / f"{name}.parquet", Document, harvest.documents)
        write_records(tmp_path / f"{name}.q.parquet", Quarantined, harvest.quarantined)
        written.append((tmp_path / f"{name}.parquet").read_bytes() + (tmp_path / f"{name}.q.parquet").read_bytes())
    assert written[0] == written[1]
    assert len(read_records(tmp_path / "a.parquet", Document)) == 19


def test_the_sample_documents_have_their_articles_and_sections(tmp_path: Path) -> None:
    harvest = _run(SAMPLE, tmp_path, OFFICIAL)
    (statute,) = [document for document in harvest.documents if document.kind == "statute"]
    labels = [part.label for part in statute.parts if part.kind == "article"]
    assert (len(labels), labels[0], labels[-1]) == (30, "第一条", "第三十条")
    assert (statute.published, statute.effective) == ("2024-12-05", "2025-01-01")
    official = [document for document in harvest.documents if document.kind == "official"]
    assert [len(document.parts) for document in official] == [4] * 6
    assert harvest.quarantined == []


def test_the_sample_verdicts_have_facts_articles_and_no_names(tmp_path: Path) -> None:
    import yaml

    authored = yaml.safe_load((SAMPLE.parent / "authoring" / "verdicts.yaml").read_text(encoding="utf-8"))["verdicts"]
    found = {Path(row.origin).stem: row for row in _run(SAMPLE, tmp_path, VERDICTS).documents}
    assert len(found) == len(authored) == 12
    for verdict in authored:
        document = found[verdict["id"]]
        assert document.parts[0].data["charge"] == "、".join(verdict["charge"])
        assert len(document.parts[0].data["articles"]) == len(verdict["articles"])  # type: ignore[arg-type]
        for name in verdict["names"]:
            assert "某" in name or name not in f"{document.title}{document.text}{document.parts[0].text}"


def test_the_sample_site_is_crawled_whole_and_politely(tmp_path: Path) -> None:
    harvest = _run(SAMPLE, tmp_path, SITE)
    kinds = [document.kind for document in harvest.documents]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {
        "news": 40, "risk": 10, "inspect": 10, "board": 15, "opinion": 12,
    }  # fmt: skip
    causes = {row.origin: row.cause for row in harvest.quarantined}
    assert "404" in causes["article/CaiShangZiXun/x03.html"]
    assert "firewall" in causes["article/FaGuiJieDu/x02.html"]
    assert "near-duplicate of article/ShuiShouYouHui/n26.html" in causes["article/ShuiShouYouHui/x01.html"]
    assert len(causes) == 3
    assert not any(
        b"\xe6\xa0\xa1\xe9\xaa\x8c\xe8\xaf\x8d" in file.read_bytes() for file in tmp_path.rglob("*.page")
    )  # 校验词
    assert harvest.notes["crawl: closed"] == 1
    assert len({document.category for document in harvest.documents}) == 14


@pytest.mark.slow
def test_the_sample_books_give_every_question_and_case_as_authored(tmp_path: Path) -> None:
    import yaml

    harvest = _run(SAMPLE, tmp_path, *BOOKS)
    guide, cases = sorted(harvest.documents, key=lambda document: document.kind, reverse=True)
    authored = yaml.safe_load((SAMPLE.parent / "authoring" / "exam_guide.yaml").read_text(encoding="utf-8"))
    names = {"single": "单选", "multiple": "多选", "calculation": "计算"}
    expected = {
        f"{names[question['kind']]}{question['number']}": (question["stem"].strip(), question["options"])
        for chapter in authored["chapters"]
        for question in chapter["questions"]
    }
    assert {part.label: (part.data["stem"], part.data["options"]) for part in guide.parts} == expected
    assert guide.flags == ["ocr"]
    assert [part.label for part in cases.parts] == [f"案例{number}" for number in range(1, 11)]
    assert harvest.quarantined == []
    assert harvest.notes["pages read by OCR"] == 4
