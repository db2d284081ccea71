"""Templates against their contexts and words."""

from __future__ import annotations

import ast
import dataclasses
import re
from pathlib import Path

import pytest
from jinja2 import nodes

from portal.contexts import PAGES, Page
from portal.render import HERE, environment
from portal.words import WORDS

ROOT = Path(__file__).parents[2]
TEMPLATES = sorted(path.name for path in (HERE / "templates").glob("*.html"))


def attributes_of(template: str, name: str) -> set[str]:
    tree = environment().parse((HERE / "templates" / template).read_text(encoding="utf-8"))
    found = tree.find_all(nodes.Getattr)
    return {node.attr for node in found if isinstance(node.node, nodes.Name) and node.node.name == name}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.TEMPLATE)
def test_a_template_asks_for_nothing_that_its_context_does_not_have(page: type[Page]) -> None:
    known = {field.name for field in dataclasses.fields(page)}
    assert attributes_of(page.TEMPLATE, "page") <= known


def test_every_template_belongs_to_one_context() -> None:
    assert sorted([page.TEMPLATE for page in PAGES] + ["base.html", "parts.html"]) == TEMPLATES


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_word_that_a_template_asks_for_is_there(template: str) -> None:
    text = (HERE / "templates" / template).read_text(encoding="utf-8")
    asked = set(re.findall(r"""\bt\(\s*["']([\w-]+)["']\s*[,)]""", text))
    prefixes = set(re.findall(r"""\bt\(\s*["']([\w-]+_)["']\s*~""", text))
    assert asked - set(WORDS) == set()
    assert {prefix for prefix in prefixes if not any(word.startswith(prefix) for word in WORDS)} == set()


def test_both_languages_take_the_same_values() -> None:
    for key, (chinese, english) in WORDS.items():
        assert set(re.findall(r"{(\w*)}", chinese)) == set(re.findall(r"{(\w*)}", english)), key


def test_every_act_on_a_draft_has_words_for_the_history() -> None:
    acts = set()
    for path in (ROOT / "taxpraben" / "queue").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            # log(session, at, actor, act, subject, …): only acts with a subject show in a draft's history
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("log", "record_decision"):
                acts |= {arg.value for arg in node.args[3:] if isinstance(arg, ast.Constant) and len(node.args) > 4}
    acts.discard("")
    assert len(acts) > 15
    assert {act for act in acts if f"act_{act}" not in WORDS} == set()


def test_templates_carry_no_inline_script_style_or_foreign_address() -> None:
    for template in TEMPLATES:
        text = (HERE / "templates" / template).read_text(encoding="utf-8")
        assert not re.search(r"<script(?![^>]*src=)|<style|\sstyle=|\son\w+=|https?://|\|\s*safe", text), template
