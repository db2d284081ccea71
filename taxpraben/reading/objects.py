"""Objects that stand in an answer: JSON, JSON with small faults, Python literals, tables and tags."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

_FENCE = re.compile(r"```[a-zA-Z]*\s*(.*?)(?:```|$)", re.DOTALL)
_OPENING = re.compile(r"[{\[]")
_MOST_TRIES = 200
_COMMENT = re.compile(r"//[^\n\"]*$", re.MULTILINE)
_ROW = re.compile(r"^[^\S\n]*+\|?([^|\n]+(?:\|[^|\n]+)+)\|?[^\S\n]*+$", re.MULTILINE)
_RULE = re.compile(r"[\s|:-]+")


def find_objects(text: str) -> Iterator[tuple[Any, str]]:
    """Objects of an answer, the soundest first, each with the flag of what it took: empty, or ``json_repaired``."""
    yield from ((loaded, "") for loaded in _decoded(text))
    if "{" not in text:
        return
    if '\\"' in text:
        yield from ((loaded, "json_repaired") for loaded in _decoded(text.replace('\\"', '"')))
    if "//" in text:
        yield from ((loaded, "json_repaired") for loaded in _decoded(_COMMENT.sub("", text)))
    yield from ((loaded, "json_repaired") for loaded in _literals(text))


def find_labelled(text: str, names: Iterable[str]) -> Iterator[dict[str, str]]:
    """What Markdown tables and tags (``<name>…</name>``) say, as objects of cell, or tag, to text."""
    known = set(names)
    if "|" in text:
        rows = [[cell.strip(" *`") for cell in row[1].split("|")] for row in _ROW.finditer(text)]
        rows = [row for row in rows if not all(_RULE.fullmatch(cell) or not cell for cell in row)]
        if len(rows) == 2 and len(rows[0]) == len(rows[1]) and known.issuperset(rows[0]):
            yield dict(zip(*rows, strict=True))
        yield {row[0]: row[1] for row in rows if len(row) == 2}
    if "</" in text:
        found = {}
        for name in known:
            tag = re.search(rf"<\s*{re.escape(name)}\s*>(.*?)<\s*/\s*{re.escape(name)}\s*>", text, re.DOTALL)
            if tag:
                found[name] = tag[1].strip()
        yield found


def _decoded(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(parse_float=str, parse_int=str, strict=False)
    opening = _OPENING.search(text)
    tries = 0
    while opening and tries < _MOST_TRIES:
        tries += 1
        try:
            loaded, end = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            opening = _OPENING.search(text, opening.end())
            continue
        yield loaded
        opening = _OPENING.search(text, end)


def _literals(text: str) -> Iterator[Any]:
    blocks = _FENCE.findall(text) or [text]
    for block in blocks:
        start, end = block.find("{"), block.rfind("}")
        if not 0 <= start < end or end - start > 20_000:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the answer's own escapes, not ours
            try:
                loaded = ast.literal_eval(block[start : end + 1])
            except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
                continue
        if isinstance(loaded, dict):
            yield loaded
