"""A page context and a visitor into HTML. Everything is escaped; an unknown name is an error."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fastapi import Request
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from portal.access import ACCESS
from portal.contexts import Page
from portal.guard import Visitor
from portal.words import WORDS
from taxpraben.tasks.spec import TaskSpec

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Place:
    """A page of the navigation: its route, its address, its words, and the key after ``g``."""

    route: str
    address: str
    words: str
    key: str


NAVIGATION = (
    Place("my_queue", "/queue", "nav_queue", "q"),
    Place("my_ratings", "/ratings", "nav_ratings", "r"),
    Place("checks", "/checks", "nav_check", "c"),
    Place("progress", "/progress", "nav_progress", "p"),
    Place("agreement", "/agreement", "nav_agreement", "a"),
    Place("board", "/board", "nav_board", "b"),
    Place("quality", "/quality", "nav_quality", "d"),
    Place("people", "/people", "nav_people", "m"),
    Place("log", "/log", "nav_log", "l"),
    Place("settings", "/settings", "nav_settings", "s"),
)


@cache
def environment() -> Environment:
    """The template environment; escaping is on for every template, whatever its name."""
    templates = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    templates.filters["minutes"] = lambda stamp: stamp[:16].replace("T", " ")
    templates.globals["static"] = static
    return templates


@cache
def static(name: str) -> str:
    """The address of a static file, which changes with its content: browsers keep it for good."""
    digest = hashlib.sha256((HERE / "static" / name).read_bytes()).hexdigest()[:10]
    return f"/static/{name}?v={digest}"


def render(request: Request, page: Page, status: int = 200) -> HTMLResponse:
    """The page as a response."""
    visitor: Visitor = request.state.visitor
    html = (
        environment()
        .get_template(page.TEMPLATE)
        .render(
            page=page,
            visitor=visitor,
            t=visitor.say,
            navigation=[place for place in NAVIGATION if visitor.role in ACCESS[place.route].roles],
            path=request.url.path,
        )
    )
    return HTMLResponse(html, status_code=status)


def titles(request: Request, visitor: Visitor) -> dict[str, str]:
    """Each task's title in the visitor's language."""
    catalog: dict[str, TaskSpec] = request.app.state.catalog
    return {name: spec.title.zh if visitor.language == "zh" else spec.title.en for name, spec in catalog.items()}


def spec_of(request: Request, task: str) -> TaskSpec:
    """The task of a piece."""
    spec: TaskSpec = request.app.state.catalog[task]
    return spec


def done_message(visitor: Visitor, done: str) -> str:
    """The words of an outcome that an address names; empty for any other."""
    return visitor.say(f"done_{done}") if f"done_{done}" in WORDS else ""
