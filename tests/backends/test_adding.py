from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taxpraben.backends.adding import add_model, parse_options
from taxpraben.backends.roster import RosterError, load_roster
from tests.backends.test_roster import GOOD, ROOT

ENTRY: dict[str, Any] = {
    "title": "新模型",
    "backend": "openai",
    "access": "api",
    "group": "chinese",
    "base_url": "https://service.example/v1",
    "served": "",
    "price": {"input": 2.0, "output": 8.0, "currency": "CNY"},
    "options": {"timeout_s": 30, "extra": {"thinking": False}},
}

COMMENTED = GOOD.replace("weights:\n  tiny", "\n# The weights, each with its hash.\nweights:\n  tiny").replace(
    "roster: [chance, service]", "roster: [chance, service]  # in this order"
)


def written(folder: Path, text: str) -> Path:
    path = folder / "models.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_new_entry_stands_behind_the_last_model_and_nothing_else_changes(tmp_path: Path) -> None:
    path = written(tmp_path, COMMENTED)
    roster = add_model(path, "newcomer", ENTRY, evaluate=True)
    assert roster.chosen == ["chance", "service", "newcomer"]
    assert list(roster.models) == ["chance", "service", "small", "newcomer"]
    assert roster.find("newcomer").price is not None
    before, after = COMMENTED.splitlines(), path.read_text(encoding="utf-8").splitlines()
    assert [line for line in after if line not in before] == [
        "roster: [chance, service, newcomer]  # in this order",
        "  newcomer:",
        "    title: 新模型",
        "    base_url: https://service.example/v1",
        "    price: {input: 2.0, output: 8.0, currency: CNY}",
        "    options: {timeout_s: 30, extra: {thinking: false}}",
    ]
    assert [line for line in before if line not in after] == ["roster: [chance, service]  # in this order"]
    assert after.index("  newcomer:") < after.index("# The weights, each with its hash.")


def test_the_projects_own_file_takes_one_and_only_lines_are_added(tmp_path: Path) -> None:
    text = (ROOT / "models.yaml").read_text(encoding="utf-8")
    path = written(tmp_path, text)
    add_model(path, "newcomer", ENTRY)
    after = path.read_text(encoding="utf-8").splitlines()
    new = after.index("  newcomer:")
    end = next(number for number in range(new + 1, len(after)) if not after[number].startswith("    "))
    assert after[:new] + after[end:] == text.splitlines()
    add_model(path, "another", ENTRY)
    assert list(load_roster(path).models)[-2:] == ["newcomer", "another"]


@pytest.mark.parametrize(
    "roster", ["roster:\n  - chance\n  - service\n", "roster: [chance,\n  service]\n", "roster: []\n"]
)
def test_the_list_may_be_written_in_any_way(tmp_path: Path, roster: str) -> None:
    path = written(tmp_path, GOOD.replace("roster: [chance, service]\n", roster))
    assert add_model(path, "newcomer", ENTRY, evaluate=True).chosen[-1] == "newcomer"


def test_a_file_whose_models_come_last_and_without_a_newline_takes_one(tmp_path: Path) -> None:
    head, models = GOOD.split("models:\n")
    body, weights = models.split("weights:\n")
    text = f"weights:\n{weights.rstrip()}\n{head.strip()}\nmodels:\n{body.rstrip()}"
    path = written(tmp_path, text)
    assert add_model(path, "newcomer", ENTRY, evaluate=True).chosen == ["chance", "service", "newcomer"]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("service", {}, "'service' is there already"),
        ("New.1", {}, "write 'new-1'"),
        ("new", {"servd": "x"}, "models.new: unknown key 'servd'; did you mean 'served'?"),
        ("new", {"base_url": ""}, "models.new: an openai entry needs base_url"),
        ("new", {"group": "chinesse"}, "models.new.group"),
        ("new", {"price": {"imput": 1, "output": 2}}, "models.new.price: unknown key 'imput'; did you mean 'input'?"),
        ("new", {"options": {"timeout": 3}}, "unknown key 'timeout'; did you mean 'timeout_s'?"),
    ],
)
def test_a_wrong_entry_is_named_and_the_file_is_left_alone(
    tmp_path: Path, name: str, change: dict[str, Any], message: str
) -> None:
    path = written(tmp_path, GOOD)
    with pytest.raises(RosterError) as caught:
        add_model(path, name, ENTRY | change)
    assert message in str(caught.value)
    assert path.read_text(encoding="utf-8") == GOOD
    assert [file.name for file in tmp_path.iterdir()] == ["models.yaml"]


def test_a_file_that_is_wrong_already_is_not_touched(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD.replace("served:", "servd:"))
    with pytest.raises(RosterError, match="did you mean 'served'"):
        add_model(path, "newcomer", ENTRY)


def test_options_are_read_as_yaml_and_unknown_ones_get_the_nearest() -> None:
    assert parse_options("openai", ["timeout_s=30", "extra={thinking: false}", "send_seed=no"]) == {
        "timeout_s": 30,
        "extra": {"thinking": False},
        "send_seed": False,
    }
    with pytest.raises(RosterError, match="no such option; did you mean 'timeout_s'"):
        parse_options("openai", ["timout_s=3"])
    with pytest.raises(RosterError, match="write key=value"):
        parse_options("openai", ["timeout_s"])
