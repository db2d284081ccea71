from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from taxpraben.backends.opening import check_models, list_models, open_backend
from taxpraben.backends.roster import RosterError, load_roster, options_of

ROOT = Path(__file__).parents[2]

GOOD = """
roster: [chance, service]
models:
  chance: {title: Chance, backend: baseline, access: none, group: baseline, baseline: random}
  service:
    title: Service
    backend: openai
    access: api
    group: chinese
    served: model-1
    base_url: http://127.0.0.1:9/v1
    api_key_env: TEST_ROSTER_KEY
    options: {timeout_s: 5}
  small: {title: Small, backend: llama_cpp, access: weights, group: embedded, weights: tiny}
weights:
  tiny:
    file: tiny.gguf
    sha256: "0000000000000000000000000000000000000000000000000000000000000000"
    sources: [{folder: given}]
"""


def written(folder: Path, text: str = GOOD) -> Path:
    (folder / "models.yaml").write_text(text, encoding="utf-8")
    return folder


def test_the_papers_nineteen_models_are_there_with_their_groups() -> None:
    roster = load_roster(ROOT)
    groups: dict[str, int] = {}
    for entry in roster.models.values():
        groups[entry.group] = groups.get(entry.group, 0) + 1
    # appendix F.2 counts 7, 11 and 1; Table 4 prints 7, 11 and 1
    assert (groups["multilingual"], groups["chinese"], groups["tax"]) == (7, 11, 1)
    assert set(roster.chosen) >= {"random", "majority", "lead", "copy", "embedded-small"}


def test_titles_are_those_of_the_papers_result_table() -> None:
    titles = {entry.title for entry in load_roster(ROOT).models.values()}
    assert titles >= {"ChatGPT", "GPT-4o", "Mistral-V0.3", "DeepSeek-llm", "DeepSeek-R1", "ChnLLaMA3", "YaYi2", "Grok3"}


def test_every_model_of_the_project_opens_without_key_weights_or_network() -> None:
    roster = load_roster(ROOT)
    revisions = [open_backend(roster, name).revision for name in roster.models]
    assert all(revisions)


@pytest.mark.parametrize(
    ("wrong", "right", "message"),
    [
        ("served: model-1", "servd: model-1", "models.service: unknown key 'servd'; did you mean 'served'?"),
        ("backend: openai", "backend: openia", "models.service.backend"),
        ("timeout_s: 5", "timeout: 5", "models.service.options: unknown key 'timeout'; did you mean 'timeout_s'?"),
        ("baseline: random", "baseline: randon", "models.chance: no baseline 'randon'; did you mean 'random'?"),
        ("weights: tiny}", "weights: tinny}", "no weight 'tinny'; did you mean 'tiny'?"),
        ("roster: [chance, service]", "roster: [chance, servise]", "no model 'servise'; did you mean 'service'?"),
        ("roster: [chance, service]", "roster: [chance, chance]", "roster names 'chance' twice"),
        ("models:\n", "modles:\n", "unknown key 'modles'; did you mean 'models'?"),
        ('sha256: "0000', 'sha256: "000', "weights.tiny: Value error, sha256 must be 64 hex digits"),
        ("{folder: given}", "{packages: [part], member: x}", "'part' has no exact version"),
        ("base_url: http://127.0.0.1:9/v1", "notes: none", "an openai entry needs base_url"),
        ("  chance:", "  Big Chance:", "a name has small letters"),
        ("  small:", "  small1.5:", "models.small1.5: a model's name has no dots; write 'small1-5'"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_the_nearest_right_word(
    tmp_path: Path, wrong: str, right: str, message: str
) -> None:
    assert wrong in GOOD
    with pytest.raises(RosterError) as caught:
        load_roster(written(tmp_path, GOOD.replace(wrong, right)))
    assert message in str(caught.value)
    assert "models.yaml" in str(caught.value)


def test_options_of_a_service_hold_what_its_entry_says(tmp_path: Path) -> None:
    options = options_of(load_roster(written(tmp_path)), "service")
    assert options.model_dump()["served"] == "model-1"
    assert options.model_dump()["timeout_s"] == 5


def test_the_file_may_be_named_by_its_folder_or_itself(tmp_path: Path) -> None:
    written(tmp_path)
    assert load_roster(tmp_path).chosen == load_roster(tmp_path / "models.yaml").chosen
    with pytest.raises(RosterError, match="no such file"):
        load_roster(tmp_path / "elsewhere")


def test_check_names_a_missing_key_and_missing_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    roster = load_roster(written(tmp_path))
    monkeypatch.delenv("TEST_ROSTER_KEY", raising=False)
    missing = {(row.model, row.what) for row in check_models(roster, list(roster.models))}
    assert missing == {("service", "key TEST_ROSTER_KEY"), ("small", "weights tiny")}
    monkeypatch.setenv("TEST_ROSTER_KEY", "x")
    assert check_models(roster) == []


def test_the_list_has_every_model_in_the_files_order(tmp_path: Path) -> None:
    rows = list_models(load_roster(written(tmp_path)))
    assert [(row["name"], row["roster"]) for row in rows] == [("chance", "yes"), ("service", "yes"), ("small", "")]


def test_adding_a_model_is_one_entry(tmp_path: Path) -> None:
    raw = yaml.safe_load(GOOD)
    raw["models"]["newcomer"] = {
        "title": "Newcomer",
        "backend": "openai",
        "access": "api",
        "group": "multilingual",
        "base_url": "http://127.0.0.1:9/v1",
    }
    roster = load_roster(written(tmp_path, yaml.safe_dump(raw)))
    assert open_backend(roster, "newcomer").revision == "openai|newcomer"
