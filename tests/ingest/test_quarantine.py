"""What was set aside: grouped by cause, shown and tried again by command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

import flows.pipeline
from cli.main import app
from stages.ingest.__main__ import main as ingest_main
from stages.ingest.outcome import quarantined
from stages.ingest.quarantine import by_cause, chosen, kind_of_cause
from tests.ingest.loopback_site import Host, Writer, serve


def _body(seed: int) -> str:
    return "".join(f"<p>{line}</p>" for line in Writer(seed).paragraphs())


def _site() -> Host:
    host = Host("plain", {"adapters": ["shui5"]})
    names = ("good", "gone", "lost", "wall", "changed")
    host.put("index.html", "".join(f'<a href="article/A/{name}.html">x</a>' for name in names))
    host.put("article/A/good.html", f'<h1>好</h1><div class="arcContent">{_body(1)}</div>')
    host.put("article/A/wall.html", "<script>var arg1='3F';</script><textarea id='renderData'></textarea>")
    host.put("article/A/changed.html", f"<h1>新</h1><div>{_body(2)}</div>")
    return host


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sources").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _write_params(folder: Path, url: str) -> None:
    source = {"name": "house", "pipeline": "sites", "parser": "site", "url": url, "adapters": ["shui5"]}
    section = {"sources": [source], "crawl": {"delay_seconds": 0}}
    params = {"profile": "mine", "sources": "sources", "defaults": {}, "profiles": {"mine": {"ingest": section}}}
    (folder / "params.yaml").write_text(yaml.safe_dump(params, allow_unicode=True), encoding="utf-8")


def _run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["sources", *arguments], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result.output


def test_causes_are_grouped_whatever_page_or_number_they_name() -> None:
    causes = ["the page answered 404; linked from a.html", "the page answered 404; linked from b/c.html"]
    causes += ["the page holds more than the cap of 500 bytes", "the page answered 403; linked from a.html"]
    rows = [quarantined("s", f"{number}.html", "page", cause) for number, cause in enumerate(causes)]
    assert [(group.cause, len(group.rows)) for group in by_cause(rows)] == [
        ("the page answered 404", 2),
        ("the page answered 403", 1),
        ("the page holds more than the cap of N bytes", 1),
    ]
    assert kind_of_cause("redirects in a circle: a -> b -> a") == "redirects in a circle: …"
    assert len(chosen(rows, cause="ANSWERED 404")) == 2
    assert chosen(rows, source="other") == []


def test_what_was_set_aside_is_listed_by_cause_and_tried_again_alone(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = _site()
    forced = []

    def repro(root: Path, targets: list[str], alone: bool, force: bool) -> None:
        forced.append((targets, alone, force))
        ingest_main()

    monkeypatch.setattr(flows.pipeline, "repro", repro)
    with serve([host]) as loopback:
        _write_params(workspace, f"http://127.0.0.1:{host.port}/")
        ingest_main()
        shown = _run("quarantine")
        assert "the page answered 404" in shown
        assert "4 rows set aside" in shown
        assert "taxpraben sources retry" in shown
        assert "lost.html" in _run("quarantine", "--rows", "--cause", "404")
        assert "shui5" in _run("list")

        host.put("article/A/lost.html", f'<h1>回来了</h1><div class="arcContent">{_body(3)}回来</div>')
        loopback.log.clear()
        said = _run("retry", "--cause", "answered 404")
        assert "2 rows are tried again; 2 kept answers of sites were forgotten" in said
        assert "1 of 2 rows are mended, 1 are set aside as before" in said
        assert forced == [(["ingest"], True, True)]
        assert sorted(line.target for line in loopback.log) == [
            "/article/A/gone.html", "/article/A/lost.html", "/robots.txt",
        ]  # fmt: skip

        host.put("article/A/wall.html", f'<h1>墙后</h1><div class="arcContent">{_body(4)}墙后</div>')
        host.put("article/A/changed.html", f'<h1>改回</h1><div class="arcContent">{_body(5)}改回</div>')
        assert "forgotten" in _run("retry", "--clear-only")
        loopback.log.clear()
        ingest_main()
        assert len(loopback.log) == 4  # robots.txt, and the three that were left
        assert "1 rows set aside" in _run("quarantine")
        assert "nothing to try again" in _run("retry", "--source", "other")


def test_adapters_say_what_they_extract() -> None:
    shown = _run("adapters")
    assert all(name in shown for name in ("bureaus", "chinatax", "generic", "opinion", "shui5", "wenshu"))
    assert "bureaus:gansu  国家税务总局甘肃省税务局: #zoom; dataproxy" in _run("adapters", "bureaus")


def test_one_saved_page_is_shown_as_its_adapter_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "a.html"
    file.write_text(
        '<h1>水费</h1><div class="articleDes">摘要。</div><div class="arcContent"><p>正文。</p></div>', "utf-8"
    )
    assert "title: 水费\nsummary: 摘要。\ntext: 1 paragraphs, 3 characters\n  正文。" in _run(
        "page", "shui5", str(file)
    )
    posts = tmp_path / "posts.json"
    posts.write_text(json.dumps([{"id": 1, "content": "帖子"}]), encoding="utf-8")
    assert "kind: opinion" in _run("page", "opinion", str(posts))
    file.write_text("<p>x</p>", encoding="utf-8")
    assert "no article; no list" in _run("page", "shui5", str(file))
