"""Renders the sample site: YAML under `site/` beside this file -> static pages under `data/sample/sources/site/`.

Run `python data/sample/authoring/render_site.py`. The same YAML gives the same bytes: no clock and no chance
enter the pages. The output folder is replaced as a whole, so every file in it is a render of the YAML.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined

HERE = Path(__file__).resolve().parent
AUTHORED = HERE / "site"
RENDERED = HERE.parent / "sources" / "site"
BOOKS = ("news", "risk", "inspect", "board", "opinion")

Item = dict[str, Any]


@dataclass(frozen=True)
class Row:
    """One line of a section's list: where it leads, its title and its date (YYYY-MM-DD)."""

    path: str
    title: str
    date: str


def load(folder: Path = AUTHORED) -> tuple[dict[str, Any], list[Item]]:
    """Reads the site's plan and all its entries, in the order of the files.

    Raises:
        ValueError: an entry repeats an id, names an unknown section, or its judgement contradicts its text.
    """
    plan = yaml.safe_load((folder / "site.yaml").read_text(encoding="utf-8"))
    items: list[Item] = []
    for book in BOOKS:
        items += yaml.safe_load((folder / f"{book}.yaml").read_text(encoding="utf-8"))["items"]
    folders = {section["folder"] for section in plan["sections"]}
    seen: set[str] = set()
    for item in items:
        if item["id"] in seen:
            raise ValueError(f"Entry {item['id']} stands twice.")
        if item["section"] not in folders:
            raise ValueError(f"Entry {item['id']} names the unknown section {item['section']!r}.")
        seen.add(item["id"])
        _refuse_contradiction(item)
    return plan, items


def _refuse_contradiction(item: Item) -> None:
    """Holds a news entry's judgement against its own text."""
    judgement = item["judgement"]
    if "summary" in judgement and judgement["summary"] != item["summary"]:
        raise ValueError(f"Entry {item['id']}: the judged summary differs from the page's own.")
    if "read" in judgement and judgement["read"]["answer"] not in item["body"]:
        raise ValueError(f"Entry {item['id']}: the reading answer is not a piece of the body.")


def paragraphs(item: Item) -> list[str]:
    """The paragraphs of an entry, one a line in the YAML; a board entry is its question and the official answer."""
    if "question" in item:
        return [f"{item['asker']}：{item['question']}", item["answer"]]
    return str(item["body"]).splitlines()


def render(folder: Path = AUTHORED) -> dict[str, bytes]:
    """Renders the whole site.

    Returns:
        The bytes of each file by its path under the site's root, in a fixed order.
    """
    plan, items = load(folder)
    return SiteRenderer(folder / "templates", plan).render(items)


class SiteRenderer:
    """Knows the site's plan and turns entries into pages."""

    def __init__(self, templates: Path, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.special = plan["special"]
        self.sections = {section["folder"]: section for section in plan["sections"]}
        self.environment = Environment(loader=FileSystemLoader(templates), autoescape=True, undefined=StrictUndefined)
        self.files: dict[str, bytes] = {}

    def render(self, items: list[Item]) -> dict[str, bytes]:
        """Renders articles, special pages, lists and the front page."""
        every = items + self._near_duplicates(items)
        rows: dict[str, list[Row]] = {folder: [] for folder in self.sections}
        for item in every:
            self._article(item)
            rows[item["section"]].append(Row(self._part(item, 1), item["title"], item["date"]))
        for page in self.special["antibot"] + self.special["broken_links"]:
            rows[page["section"]].append(Row(self._part(page, 1), page["title"], page["date"]))
        for page in self.special["antibot"]:
            self._page("antibot.html.j2", self._part(page, 1), arg1=page["arg1"])
        for section in self.plan["sections"]:
            self._lists(section, rows[section["folder"]])
        private = self.special["private"]
        self._magazine(private["file"], private, paragraphs(private), part=1, parts=1)
        search = self.special["repeated_query"]
        self._page("search.html.j2", search["file"], title=search["title"])
        self._page("index.html.j2", "index.html", title="首页")
        self.files["robots.txt"] = self._robots().encode()
        return dict(sorted(self.files.items()))

    def _near_duplicates(self, items: list[Item]) -> list[Item]:
        """The reprints that the plan asks for: another id, date and origin, an editor's line before the same body."""
        by_id = {item["id"]: item for item in items}
        reprints = []
        for copy in self.special["near_duplicates"]:
            first = by_id[copy["of"]]
            changed = {field: copy[field] for field in ("id", "title", "date", "origin")}
            reprints.append({**first, **changed, "body": copy["lead"] + "\n" + first["body"]})
        return reprints

    def _article(self, item: Item) -> None:
        """One entry as one page, or as two where it is split."""
        lines = paragraphs(item)
        if self.sections[item["section"]]["layout"] == "authority":
            self._page("authority.html.j2", self._part(item, 1), title=item["title"], item=item, paragraphs=lines)
            if item["id"] in self.special["gb18030_declared_as_utf8"]:
                self.files[self._part(item, 1)] = self.files[self._part(item, 1)].decode("utf-8").encode("gb18030")
            return
        cut = item.get("split_after", len(lines))
        pieces = [piece for piece in (lines[:cut], lines[cut:]) if piece]
        for number, piece in enumerate(pieces, start=1):
            self._magazine(self._part(item, number), item, piece, part=number, parts=len(pieces))

    def _magazine(self, path: str, item: Item, lines: list[str], *, part: int, parts: int) -> None:
        """One page in the magazine's layout; the heading's element alternates, as it does on old and new pages."""
        heading = "articleTitle" if item["id"][-1] in "02468" else "h1"
        shown = {"author": None, "summary": None, **item}
        values = {"part": part, "parts": parts, "part_path": lambda number: self._part(item, number)}
        self._page(
            "magazine.html.j2", path, title=item["title"], item=shown, paragraphs=lines, heading=heading, **values
        )

    def _lists(self, section: dict[str, Any], rows: list[Row]) -> None:
        """The list pages of a section, newest first."""
        rows = sorted(rows, key=lambda row: (row.date, row.path), reverse=True)
        size = section.get("page_size", self.plan["page_size"])
        pages = -(-len(rows) // size)
        for page in range(1, pages + 1):
            shown = rows[(page - 1) * size : page * size]
            values = {"page": page, "pages": pages, "list_path": lambda number: self._list(section, number)}
            self._page("list.html.j2", self._list(section, page), title=section["name"], rows=shown, **values)

    def _page(self, template: str, path: str, **values: Any) -> None:
        """Renders one page; links are relative to it, or to the root where the page has <base href>."""
        above = "../" * (len(PurePosixPath(path).parts) - 1)
        based = path in self.special["base_href"]
        text = self.environment.get_template(template).render(
            site=self.plan,
            base=above if based else None,
            rel=lambda target: target if based else above + target,
            first_list=lambda section: self._list(section, 1),
            **values,
        )
        self.files[path] = (text + "\n").encode()

    def _part(self, item: Item, number: int) -> str:
        """The address of an article's page: `name.html`, then `name$2.html`."""
        suffix = "" if number == 1 else f"${number}"
        return f"article/{item['section']}/{item['id']}{suffix}.html"

    def _list(self, section: dict[str, Any], page: int) -> str:
        """The address of one page of a section's list."""
        return f"article/{section['folder']}/{section['list_id']}_{page}.html"

    def _robots(self) -> str:
        closed = PurePosixPath(self.special["private"]["file"]).parts[0]
        return f"User-agent: *\nDisallow: /{closed}/\nAllow: /\nCrawl-delay: {self.plan['crawl_delay']}\n"


def main() -> None:
    """Replaces the rendered site by a fresh render."""
    files = render()
    shutil.rmtree(RENDERED, ignore_errors=True)
    for path, content in files.items():
        target = RENDERED / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    print(f"{len(files)} files, {sum(map(len, files.values()))} bytes under data/sample/sources/site")


if __name__ == "__main__":
    main()
