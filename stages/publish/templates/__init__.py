"""The pages' templates; each is rendered with everything escaped and nothing undefined."""

from __future__ import annotations

import base64
import hashlib
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape


def render(name: str, **values: object) -> str:
    """The template with these values; in pages (.html) all values are escaped."""
    return _pages().get_template(name).render(**values)


def asset(name: str) -> str:
    """The text of a script or style sheet that stands inside the page."""
    loader = _pages().loader
    assert loader is not None
    return loader.get_source(_pages(), name)[0].strip()


def fingerprint(text: str) -> str:
    """The Content-Security-Policy source that allows exactly this inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


@cache
def _pages() -> Environment:
    return Environment(
        loader=PackageLoader("stages.publish"),
        autoescape=select_autoescape(enabled_extensions=("html",), default=False),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
