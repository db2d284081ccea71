"""Render the made-up criminal verdicts of the sample corpus in the three record forms of China Judgments Online.

Reads `verdicts.yaml` beside this file and writes one file a verdict under `data/sample/sources/verdicts/`:

- `page`: an html page whose script holds a JavaScript string with the JSON record of form `anchors`;
- `anchors`: JSON {Title, PubDate, Html}, where `<a type='dir' name='...'>` opens each part of the text;
- `fields`: JSON with s1 to s54 and `qwContent`, the whole text as html.

The same YAML gives the same bytes. Usage: python data/sample/authoring/render_verdicts.py
"""

from __future__ import annotations

import json
import re
from hashlib import md5
from html import escape
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "sources" / "verdicts"
DIGITS = "〇一二三四五六七八九"
STYLE = "LINE-HEIGHT: 25pt; TEXT-INDENT: 30pt; MARGIN: 0.5pt 0cm; FONT-FAMILY: 仿宋; FONT-SIZE: 16pt;"
CENTRE = "TEXT-ALIGN: center; LINE-HEIGHT: 30pt; MARGIN: 0.5pt 0cm; FONT-FAMILY: 宋体; FONT-SIZE: 22pt;"
RIGHT = "TEXT-ALIGN: right; LINE-HEIGHT: 30pt; MARGIN: 0.5pt 0cm; FONT-FAMILY: 仿宋; FONT-SIZE: 16pt;"
PARTS = ("WBSB", "DSRXX", "SSJL", "AJJBQK", "CPYZ", "PJJG", "WBWB")
PAGE = """<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8"/>
<title>{title}</title>
</head>
<body>
<div id="divTool">打印　下载　收藏</div>
<div id="DivContent"></div>
<script type="text/javascript">
$(function () {{
    var jsonHtmlData = {record};
    var jsonData = eval("(" + jsonHtmlData + ")");
    $("#contentTitle").html(jsonData.Title);
    $("#DivContent").html(jsonData.Html);
}});
</script>
</body>
</html>
"""


def chinese_date(date: str) -> str:
    """Give an ISO date as a verdict writes it: 2025-03-20 becomes 二〇二五年三月二十日."""
    year, month, day = date.split("-")

    def small(number: int) -> str:
        tens, ones = divmod(number, 10)
        return ("" if tens < 2 else DIGITS[tens]) + ("十" if tens else "") + (DIGITS[ones] if ones else "")

    return f"{''.join(DIGITS[int(digit)] for digit in year)}年{small(int(month))}月{small(int(day))}日"


def verdict_parts(verdict: dict[str, Any], common: dict[str, Any]) -> dict[str, list[str]]:
    """Give the lines of a verdict by part, in the order in which a verdict has them.

    Args:
        verdict: one entry of `verdicts` in the YAML file.
        common: the file's own level: court, prosecutor, notice, appeal, judges, clerk.

    Returns:
        Part name (WBSB to WBWB) to its lines; no line is empty.
    """
    return {
        "WBSB": [common["court"], "刑 事 判 决 书", verdict["case_number"]],
        "DSRXX": [f"公诉机关{common['prosecutor']}。", *verdict["parties"].splitlines()],
        "SSJL": verdict["procedure"].splitlines(),
        "AJJBQK": [
            *verdict["accusation"].splitlines(),
            f"经审理查明，{verdict['facts']}",
            *verdict["evidence"].splitlines(),
        ],
        "CPYZ": verdict["reasons"].splitlines(),
        "PJJG": [*verdict["ruling"].splitlines(), common["appeal"]],
        "WBWB": [*common["judges"], chinese_date(verdict["decided"]), common["clerk"], common["notice"]],
    }


def part_html(name: str, lines: list[str]) -> str:
    """Give a part as html, one `div` a line; the head is centred, its last line and the signatures stand right."""
    styles = {"WBSB": [CENTRE] * (len(lines) - 1) + [RIGHT], "WBWB": [RIGHT] * len(lines)}
    pairs = zip(styles.get(name, [STYLE] * len(lines)), lines, strict=True)
    return "".join(f"<div style='{style}'>{escape(line)}</div>" for style, line in pairs)


def criminal_law_articles(verdict: dict[str, Any]) -> list[str]:
    """Give the articles of the Criminal Law on which the ruling rests, as cited: 第二百零五条第一款."""
    cited = verdict["reasons"].rpartition("《中华人民共和国刑法》")[2].partition("《")[0]
    return re.findall(r"第[零一二三四五六七八九十百]+条(?:第[一二三四五]款)?", cited)


def anchors_record(verdict: dict[str, Any], parts: dict[str, list[str]]) -> dict[str, str]:
    """Give the record {Title, PubDate, Html}."""
    html = "".join(f"<a type='dir' name='{name}'></a>{part_html(name, parts[name])}" for name in PARTS)
    return {"Title": verdict["title"], "PubDate": verdict["published"], "Html": html}


def fields_record(verdict: dict[str, Any], parts: dict[str, list[str]], court: str) -> dict[str, Any]:
    """Give the record with keys s1 to s54 and `qwContent`; keys without content are left out, as in the source."""
    text = {name: "\n".join(lines) for name, lines in parts.items()}
    body = "".join(part_html(name, parts[name]) for name in PARTS)
    return {
        "s1": verdict["title"],
        "s2": court,
        "s5": md5(verdict["id"].encode(), usedforsecurity=False).hexdigest(),
        "s6": "01",
        "s7": verdict["case_number"],
        "s8": "刑事案件",
        "s9": "刑事一审",
        "s31": verdict["decided"],
        "s41": verdict["published"],
        "s22": text["WBSB"],
        "s17": [name for name, mask in verdict["names"].items() if mask.startswith("被告人")],
        "s11": verdict["charge"],
        "s23": text["SSJL"],
        "s25": text["AJJBQK"],
        "s26": text["CPYZ"],
        "s27": text["PJJG"],
        "s28": text["WBWB"],
        "s45": [],
        "s47": [{"tkx": article, "fgmc": "《中华人民共和国刑法》"} for article in criminal_law_articles(verdict)],
        "s54": [],
        "qwContent": f"<p>\n <title></title>\n</p>\n{body}",
    }


def javascript_string(record: dict[str, Any]) -> str:
    """Give a record as a JavaScript string literal that holds its JSON; no `</` is left to end the script early."""
    inner = json.dumps(record, ensure_ascii=False).replace("</", "<\\/")
    return json.dumps(inner, ensure_ascii=False)


def render(verdict: dict[str, Any], common: dict[str, Any]) -> tuple[str, str]:
    """Give a verdict's file suffix and its text in the form that its entry asks for."""
    parts = verdict_parts(verdict, common)
    if verdict["form"] == "fields":
        record = fields_record(verdict, parts, common["court"])
        return "json", json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    record = anchors_record(verdict, parts)
    if verdict["form"] == "anchors":
        return "json", json.dumps(record, ensure_ascii=False, indent=1) + "\n"
    return "html", PAGE.format(title=escape(verdict["title"]), record=javascript_string(record))


def main() -> None:
    """Write every verdict under `data/sample/sources/verdicts/`."""
    TARGET.mkdir(parents=True, exist_ok=True)
    common = yaml.safe_load((HERE / "verdicts.yaml").read_text(encoding="utf-8"))
    for verdict in common["verdicts"]:
        suffix, text = render(verdict, common)
        (TARGET / f"{verdict['id']}.{suffix}").write_bytes(text.encode())


if __name__ == "__main__":
    main()
