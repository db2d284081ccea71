"""A page context and a visitor into HTML. Everything is escaped; an unknown name is an error."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from portal.access import ACCESS, Visitor
from portal.contexts import Page
from portal.words import say

HERE = Path(__file__).parent

NAVIGATION = (
    ("my_queue", "/queue"),
    ("checks", "/checks"),
    ("progress", "/progress"),
    ("board", "/board"),
    ("quality", "/quality"),
    ("people", "/people"),
)
_NAVIGATION_WORDS = {
    "my_queue": "nav_queue",
    "checks": "nav_check",
    "progress": "nav_progress",
    "board": "nav_board",
    "quality": "nav_quality",
    "people": "nav_people",
}


@cache
def environment() -> Environment:
    """The template environment; escaping is on for every template, whatever its name."""
    templates = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["minutes"] = lambda stamp: stamp[:16].replace("T", " ")
    return templates


def render(request: Request, page: Page, status: int = 200) -> HTMLResponse:
    """The page as a response."""
    visitor: Visitor = request.state.visitor
    language = visitor.language

    def words(key: str, **values: object) -> str:
        return say(language, key, **values)

    navigation = [
        (name, address, words(_NAVIGATION_WORDS[name])) for name, address in NAVIGATION if visitor.role in ACCESS[name]
    ]
    html = (
        environment()
        .get_template(page.TEMPLATE)
        .render(page=page, visitor=visitor, t=words, navigation=navigation, path=request.url.path)
    )
    return HTMLResponse(html, status_code=status)
